#include <weir/flow/ignore_elements.h>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::outcome;
using testing::script;

TEST(ignore_elements, conforms) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | ignore_elements(); },
                                           [](const std::vector<int>&, step end) {
                                             return outcome{{}, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(ignore_elements, an_endless_flow_lets_others_have_their_turn) {
  int made = 0;
  testing::test_consumer nothing(iterate(0, [&](int i) { return ++made, i; }) | ignore_elements());
  EXPECT_EQ(nothing.request(0), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(nothing.request(unbounded), step::pending);
  EXPECT_EQ(nothing.wakes, 1u);
  EXPECT_EQ(made, 4095) << "the seed is an item too";
}

TEST(ignore_elements, says_how_the_flow_ended) {
  EXPECT_TRUE(to_vector(range(0, 100'000) | ignore_elements())->empty());
  EXPECT_EQ(to_vector(ignore_elements(fail<int>(weir::fail(errc::io, "x")))).error().code, errc::io);
}

}  // namespace
}  // namespace weir::flow
