#include <weir/flow/distinct.h>

#include <algorithm>
#include <memory>
#include <string>
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

/// The k-th of the keys that are given to the numbers 1, 2, 3.
int key_of_number(const std::vector<int>& keys, int number) { return keys[static_cast<std::size_t>(number) - 1]; }

const std::vector<std::vector<int>> keyings{{1, 2, 3}, {1, 1, 1}, {1, 1, 2}, {1, 2, 1}, {1, 2, 2}};

TEST(distinct, conforms) {
  for (const auto& keys : keyings) {
    for (const std::size_t items_max : {0u, 1u, 2u, 3u}) {
      const auto complaint = testing::conforms(
          [=](script from) {
            return std::move(from) | distinct([=](const counted& i) { return key_of_number(keys, i.number()); },
                                              {.items_max = items_max});
          },
          [=](const std::vector<int>& numbers, step end) {
            std::vector<int> seen;
            outcome expected{{}, end};
            for (const int number : numbers) {
              const int key = key_of_number(keys, number);
              if (std::count(seen.begin(), seen.end(), key) != 0) continue;
              if (seen.size() == items_max) return outcome{expected.numbers, step::failed};
              seen.push_back(key);
              expected.numbers.push_back(number);
            }
            return expected;
          });
      EXPECT_EQ(complaint, "") << items_max;
    }
  }
}

TEST(distinct_until_changed, conforms) {
  for (const auto& keys : keyings) {
    const auto complaint = testing::conforms(
        [=](script from) {
          return std::move(from) |
                 distinct_until_changed([=](const counted& i) { return key_of_number(keys, i.number()); });
        },
        [=](const std::vector<int>& numbers, step end) {
          outcome expected{{}, end};
          int last = 0;
          for (const int number : numbers) {
            if (key_of_number(keys, number) != last) expected.numbers.push_back(number);
            last = key_of_number(keys, number);
          }
          return expected;
        });
    EXPECT_EQ(complaint, "");
  }
}

TEST(distinct, gives_the_first_of_each) {
  EXPECT_EQ(*to_vector(from_range({3, 1, 3, 3, 2, 1}) | distinct()), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(*to_vector(distinct(from_range({3, 1, 3}))), (std::vector<int>{3, 1}));
  using words = std::vector<std::string>;
  const auto length = [](const std::string& word) { return word.size(); };
  EXPECT_EQ(*to_vector(from_range(words{"ab", "c", "de", "f"}) | distinct(length)), (words{"ab", "c"}));
  EXPECT_EQ(*to_vector(distinct(from_range(words{"ab", "c", "de", "f"}), length)), (words{"ab", "c"}));
}

TEST(distinct, fails_rather_than_remember_more_than_its_bound) {
  std::vector<int> seen;
  const auto ended = iterate(0, [](int i) { return i + 1; }) | distinct({.items_max = 1000}) |
                     for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, errc::too_large);
  EXPECT_NE(ended.error().message.find("1000"), std::string::npos) << ended.error().message;
  EXPECT_EQ(seen, *to_vector(range(0, 1000)));
}

TEST(distinct, goes_on_for_as_long_as_what_comes_is_known) {
  const auto items = to_vector(range(0, 100'000) | map([](int i) { return i % 10; }) | distinct({.items_max = 10}));
  EXPECT_EQ(*items, *to_vector(range(0, 10)));
}

TEST(distinct, lets_others_have_their_turn_during_a_long_run_of_known_items) {
  testing::test_consumer items(iterate(0, [](int i) { return i; }) | distinct());
  EXPECT_EQ(items.request(2), step::pending);
  EXPECT_EQ(items.wakes, 1u);
  EXPECT_EQ(items.items, std::vector<int>{0});
}

TEST(distinct_until_changed, compares_with_the_item_before) {
  EXPECT_EQ(*to_vector(from_range({1, 1, 2, 2, 1, 1, 3}) | distinct_until_changed()), (std::vector<int>{1, 2, 1, 3}));
  EXPECT_EQ(*to_vector(distinct_until_changed(from_range({1, 1, 2}))), (std::vector<int>{1, 2}));
  const auto moved = to_vector(range(0, 10) | map([](int i) { return std::make_unique<int>(i / 4); }) |
                               distinct_until_changed([](const std::unique_ptr<int>& p) { return *p; }) |
                               map([](std::unique_ptr<int> p) { return *p; }));
  EXPECT_EQ(*moved, (std::vector<int>{0, 1, 2}));
}

TEST(distinct_until_changed, lets_others_have_their_turn_during_a_long_run_of_equal_items) {
  testing::test_consumer items(iterate(7, [](int i) { return i; }) | distinct_until_changed());
  EXPECT_EQ(items.request(2), step::pending);
  EXPECT_EQ(items.wakes, 1u);
  EXPECT_EQ(items.items, std::vector<int>{7});
}

}  // namespace
}  // namespace weir::flow
