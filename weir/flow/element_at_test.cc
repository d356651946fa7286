#include <weir/flow/element_at.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/default_if_empty.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::outcome;
using testing::script;

TEST(element_at, conforms) {
  for (const std::size_t index : {0u, 1u, 2u, 5u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | element_at(index); },
                                             [=](const std::vector<int>& numbers, step end) {
                                               if (numbers.size() <= index) return outcome{{}, end};
                                               return outcome{{numbers[index]}, step::done};
                                             });
    EXPECT_EQ(complaint, "") << index;
  }
}

TEST(first_element, conforms) {
  const auto complaint = testing::conforms([](script from) { return first_element(std::move(from)); },
                                           [](std::vector<int> numbers, step end) {
                                             if (numbers.empty()) return outcome{{}, end};
                                             return outcome{{numbers.front()}, step::done};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(last_element, conforms) {
  const auto complaint = testing::conforms([](script from) { return last_element(std::move(from)); },
                                           [](std::vector<int> numbers, step end) {
                                             if (numbers.empty() || end != step::done) return outcome{{}, end};
                                             return outcome{{numbers.back()}, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(single_element, conforms) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | single_element(); },
                                           [](const std::vector<int>& numbers, step end) {
                                             if (numbers.size() > 1) return outcome{{}, step::failed};
                                             return outcome{end == step::done ? numbers : std::vector<int>{}, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(element_at, asks_for_nothing_behind_it) {
  int made = 0;
  const auto items = to_vector(iterate(0, [&](int i) { return ++made, i + 1; }) | element_at(5));
  EXPECT_EQ(*items, std::vector<int>{5});
  EXPECT_EQ(made, 5) << "five after the seed";
}

TEST(element_at, of_a_short_flow_is_nothing_or_what_the_caller_says) {
  EXPECT_TRUE(to_vector(range(0, 3) | element_at(3))->empty());
  EXPECT_EQ(*to_vector(range(0, 3) | element_at(3) | default_if_empty(77)), std::vector<int>{77});
  EXPECT_EQ(to_vector(range(0, 3) | element_at(3) | fail_if_empty()).error().code, errc::not_found);
}

TEST(single_element, asks_for_two_items_to_know_that_there_is_not_only_one) {
  int made = 0;
  testing::test_consumer only(range(0, 100) | map([&](int i) { return ++made, i; }) | single_element());
  EXPECT_EQ(only.request(0), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(only.request(unbounded), step::failed);
  EXPECT_EQ(only.failure.code, errc::too_large);
  EXPECT_TRUE(only.items.empty());
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace weir::flow
