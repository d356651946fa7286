#include <weir/flow/window.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/concat.h>
#include <weir/flow/flat_map.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::outcome;
using testing::script;
using testing::test_consumer;

constexpr auto itself = [](auto&& of) { return std::move(of); };

TEST(window, conforms_when_its_windows_are_put_together_again) {
  for (const std::size_t count : {1u, 2u, 3u, 100u}) {
    for (const std::size_t windows_max : {1u, 2u, 16u}) {
      const auto complaint = testing::conforms(
          [=](script from) {
            return std::move(from) | window(count, window_options{windows_max}) | concat_map(itself);
          },
          [](const std::vector<int>& numbers, step end) {
            return outcome{numbers, end};
          });
      EXPECT_EQ(complaint, "") << count << ' ' << windows_max;
    }
  }
}

/// What the windows of 0, 1, … 6 hold.
std::vector<std::vector<int>> windows_of_seven(std::size_t count, std::size_t skip) {
  std::vector<std::vector<int>> all;
  const auto ended = range(0, 7) | window(count, skip) | flat_map([](auto of) {
                       const std::size_t number = of.key();
                       return std::move(of) | map([number](int i) { return std::pair(number, i); });
                     }) |
                     for_each([&](std::pair<std::size_t, int>&& of) {
                       if (of.first >= all.size()) all.resize(of.first + 1);
                       all[of.first].push_back(of.second);
                     });
  EXPECT_TRUE(ended);
  return all;
}

TEST(window, may_overlap_and_leave_gaps) {
  using windows = std::vector<std::vector<int>>;
  EXPECT_EQ(windows_of_seven(3, 3), (windows{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(windows_of_seven(3, 2), (windows{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6}}));
  EXPECT_EQ(windows_of_seven(3, 1), (windows{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}, {5, 6}, {6}}));
  EXPECT_EQ(windows_of_seven(2, 3), (windows{{0, 1}, {3, 4}, {6}}));
  EXPECT_EQ(windows_of_seven(7, 7), (windows{{0, 1, 2, 3, 4, 5, 6}})) << "no empty window behind the last item";
}

TEST(window, overlaps_more_windows_than_are_held_by_default) {
  std::size_t items = 0;
  ASSERT_TRUE(range(0, 100) | window(50, 1) | flat_map(itself) | for_each([&](int) { ++items; }));
  EXPECT_EQ(items, 50u * 51 + 50u * 49 / 2);  // 51 full ones, and 49 that the end cuts
}

TEST(window, of_no_items_gives_no_window) {
  EXPECT_TRUE(to_vector(empty<int>() | window(3) | concat_map(itself))->empty());
  test_consumer seen(empty<int>() | window(3));
  EXPECT_EQ(seen.request(1), step::done);
}

TEST(window, upstream_waits_while_too_many_windows_are_held) {
  int asked = 0;
  test_consumer seen(range(0, 1000) | map([&](int i) { return ++asked, i; }) | window(5, window_options{2}));
  EXPECT_EQ(seen.request(10), step::pending);
  EXPECT_EQ(seen.items.size(), 2u);
  EXPECT_EQ(asked, 10);
  const std::size_t wakes = seen.wakes;
  seen.items.pop_back();
  EXPECT_EQ(seen.wakes, wakes + 1) << "there is room for one more";
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.items.back().key(), 2u);
  EXPECT_EQ(seen.complaint(), "");
}

TEST(window, that_is_left_early_does_not_move_the_next) {
  EXPECT_EQ(*to_vector(range(0, 12) | window(4) | flat_map([](auto of) { return take(std::move(of), 1); })),
            (std::vector<int>{0, 4, 8}));
}

TEST(window, that_is_left_empty_or_full_leaves_nothing_to_the_next) {
  test_consumer seen(range(0, 8) | window(2, window_options{1}));
  EXPECT_EQ(seen.request(1), step::more);
  seen.items.pop_back();  // with one of two items come
  for (const int first : {2, 4, 6}) {
    EXPECT_EQ(seen.request(1), step::more);
    test_consumer of_one(std::move(seen.items.back()));
    seen.items.pop_back();
    EXPECT_EQ(of_one.request(1), step::more);
    EXPECT_EQ(of_one.request(1), step::done);
    EXPECT_EQ(of_one.came({first, first + 1}, step::done), "");
  }
}

TEST(window, needs_no_place_for_others_when_the_outer_flow_has_left) {
  test_consumer seen(range(0, 100) | window(3, 1, window_options{1}));
  EXPECT_EQ(seen.request(3), step::more);
  ASSERT_EQ(seen.items.size(), 3u);
  test_consumer of_last(std::move(seen.items.back()));
  seen.items.pop_back();
  EXPECT_EQ(of_last.request(3), step::pending) << "each item begins a window, and three are held";
  seen.leave();
  EXPECT_EQ(of_last.wakes, 1u);
  EXPECT_EQ(of_last.request(3), step::done);
  EXPECT_EQ(of_last.came({2, 3, 4}, step::done), "");
}

TEST(window, goes_on_when_the_outer_flow_has_left) {
  const life_balance lives;
  {
    std::vector<counted> items;
    for (int i = 0; i < 10; ++i) items.emplace_back(i);
    auto outer = std::make_unique<test_consumer<decltype(window(from_range(std::move(items)), 4))>>(
        window(from_range(std::move(items)), 4));
    EXPECT_EQ(outer->request(1), step::more);
    test_consumer of_first(std::move(outer->items.front()));
    outer.reset();
    EXPECT_EQ(of_first.request_all(), step::done);
    EXPECT_EQ(of_first.items.size(), 4u);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::flow
