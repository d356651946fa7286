#include <weir/flow/start_with.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(start_with, conforms) {
  const auto complaint =
      testing::conforms([](script from) { return std::move(from) | start_with(counted(70), counted(80)); },
                        [](std::vector<int> numbers, step end) {
                          numbers.insert(numbers.begin(), {70, 80});
                          return outcome{numbers, end};
                        });
  EXPECT_EQ(complaint, "");
}

TEST(start_with, does_not_touch_the_flow_before_its_items_are_given) {
  int made = 0;
  testing::test_consumer all(range(0, 9) | map([&](int i) { return ++made, i; }) | start_with(7, 8));
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_EQ(all.request(1), step::more);
  EXPECT_EQ(all.request(1), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(all.request(1), step::more);
  EXPECT_EQ(all.items, (std::vector<int>{7, 8, 0}));
  EXPECT_EQ(made, 1);
}

TEST(start_with, takes_what_can_be_converted_and_what_can_only_be_moved) {
  EXPECT_EQ(*to_vector(just(std::string("c")) | start_with("a", std::string("b"))),
            (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(*to_vector(start_with(just(std::string("b")), "a")), (std::vector<std::string>{"a", "b"}));
  const auto items = to_vector(just(std::make_unique<int>(2)) | start_with(std::make_unique<int>(1)));
  ASSERT_EQ(items->size(), 2u);
  EXPECT_EQ(*items->front(), 1);
}

TEST(start_with, puts_a_flow_before_others_in_a_flow_of_flows) {
  EXPECT_EQ(*to_vector(just(range(3, 5)) | start_with(range(0, 3)) | merge()), (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace weir::flow
