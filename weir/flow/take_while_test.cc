#include <weir/flow/take_while.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(take_while, conforms) {
  for (const std::size_t ask_max : {1u, 2u, 256u}) {
    for (const int last : {0, 1, 2, 3}) {
      const auto complaint = testing::conforms(
          [=](script from) {
            return std::move(from) | take_while([=](const counted& item) { return item.number() <= last; }, ask_max);
          },
          [=](std::vector<int> numbers, step end) {
            const bool over = numbers.size() > static_cast<std::size_t>(last);
            numbers.resize(std::min(numbers.size(), static_cast<std::size_t>(last)));
            return outcome{numbers, over ? step::done : end};
          });
      EXPECT_EQ(complaint, "") << last << ' ' << ask_max;
    }
  }
}

TEST(take_while, ends_an_endless_source_that_is_asked_for_everything) {
  int made = 0;
  const auto items =
      to_vector(generate([&]() -> std::optional<int> { return made++; }) | take_while([](int i) { return i < 3; }));
  EXPECT_EQ(*items, (std::vector<int>{0, 1, 2}));
  EXPECT_LE(made, 256);
}

TEST(take_while, asked_for_one_at_a_time_has_nothing_made_behind_the_last) {
  int made = 0;
  const auto items =
      to_vector(generate([&]() -> std::optional<int> { return made++; }) | take_while([](int i) { return i < 3; }, 1));
  EXPECT_EQ(*items, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(made, 4);
}

TEST(take_while, does_not_call_its_predicate_again) {
  int calls = 0;
  const auto items = to_vector(from_range({1, 9, 1, 2}) | take_while([&](int i) { return ++calls, i < 5; }));
  EXPECT_EQ(*items, std::vector<int>{1});
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace weir::flow
