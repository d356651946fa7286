#include <weir/flow/defer.h>

#include <stdexcept>
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

TEST(defer, conforms) {
  const auto complaint = testing::conforms(
      [](script from) { return defer([from = std::move(from)]() mutable { return std::move(from); }); },
      [](const std::vector<int>& numbers, step end) {
        return outcome{numbers, end};
      });
  EXPECT_EQ(complaint, "");
}

TEST(defer, makes_its_flow_once_and_when_an_item_is_asked_for) {
  int made = 0;
  testing::test_consumer all(defer([&] { return ++made, range(0, 3); }));
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(all.request(1), step::more);
  EXPECT_EQ(all.request(unbounded), step::done);
  EXPECT_EQ(all.items, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(made, 1);
}

TEST(defer, what_makes_it_may_throw) {
  const auto ended = to_vector(defer([]() -> decltype(just(0)) { throw std::runtime_error("no flow"); }));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "no flow");
}

}  // namespace
}  // namespace weir::flow
