#include <weir/flow/skip.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(skip, conforms) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 9u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | skip(count); },
                                             [=](std::vector<int> numbers, step end) {
                                               const auto gone =
                                                   static_cast<std::ptrdiff_t>(std::min(count, numbers.size()));
                                               numbers.erase(numbers.begin(), numbers.begin() + gone);
                                               return outcome{numbers, end};
                                             });
    EXPECT_EQ(complaint, "") << count;
  }
}

TEST(skip_while, conforms) {
  for (const unsigned unwanted : {0u, 1u, 2u, 3u, 5u, 7u}) {  // each bit: whether the predicate is true for the number
    const auto holds = [unwanted](int number) { return (unwanted >> (number - 1) & 1) != 0; };
    const auto complaint = testing::conforms(
        [=](script from) {
          return std::move(from) | skip_while([=](const counted& item) { return holds(item.number()); });
        },
        [=](std::vector<int> numbers, step end) {
          numbers.erase(numbers.begin(), std::find_if_not(numbers.begin(), numbers.end(), holds));
          return outcome{numbers, end};
        });
    EXPECT_EQ(complaint, "") << unwanted;
  }
}

TEST(skip_last, conforms) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 9u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | skip_last(count); },
                                             [=](std::vector<int> numbers, step end) {
                                               numbers.resize(numbers.size() - std::min(count, numbers.size()));
                                               return outcome{numbers, end};
                                             });
    EXPECT_EQ(complaint, "") << count;
  }
}

TEST(skip, asks_for_no_item_it_does_not_give_or_skip) {
  int made = 0;
  testing::test_consumer rest(range(0, 100) | map([&](int i) { return ++made, i; }) | skip(10));
  EXPECT_EQ(rest.request(0), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(rest.request(2), step::more);
  EXPECT_EQ(rest.items, (std::vector<int>{10, 11}));
  EXPECT_EQ(made, 12);
}

TEST(skip, lets_others_have_their_turn_and_is_woken_at_once) {
  testing::test_consumer rest(range(0, 1'000'000) | skip(10'000));
  EXPECT_EQ(rest.request(1), step::pending);
  EXPECT_EQ(rest.request(1), step::pending);
  EXPECT_EQ(rest.wakes, 2u);
  EXPECT_EQ(rest.request(1), step::more);
  EXPECT_EQ(rest.items, (std::vector<int>{10'000}));
}

TEST(skip_while, does_not_call_its_predicate_again) {
  int calls = 0;
  const auto items = to_vector(from_range({1, 2, 9, 1, 2}) | skip_while([&](int i) { return ++calls, i < 5; }));
  EXPECT_EQ(*items, (std::vector<int>{9, 1, 2}));
  EXPECT_EQ(calls, 3);
}

TEST(skip_while, lets_others_have_their_turn_and_is_woken_at_once) {
  testing::test_consumer rest(range(0, 1'000'000) | skip_while([](int i) { return i < 5'000; }));
  EXPECT_EQ(rest.request(1), step::pending);
  EXPECT_EQ(rest.wakes, 1u);
  EXPECT_EQ(rest.request(1), step::more);
  EXPECT_EQ(rest.items, (std::vector<int>{5'000}));
}

TEST(skip_last, gives_an_item_as_soon_as_enough_others_have_come) {
  int made = 0;
  testing::test_consumer rest(range(0, 100) | map([&](int i) { return ++made, i; }) | skip_last(10));
  EXPECT_EQ(rest.request(0), step::more);
  EXPECT_EQ(rest.request(1), step::more);
  EXPECT_EQ(made, 11);
  EXPECT_EQ(rest.request(1), step::more);
  EXPECT_EQ(made, 12);
  EXPECT_EQ(rest.items, (std::vector<int>{0, 1}));
}

TEST(skip_last, holds_things_that_can_only_be_moved_in_order) {
  const auto items = to_vector(range(0, 100) | map([](int i) { return std::make_unique<int>(i); }) | skip_last(7) |
                               map([](std::unique_ptr<int> p) { return *p; }));
  EXPECT_EQ(*items, *to_vector(range(0, 93)));
}

}  // namespace
}  // namespace weir::flow
