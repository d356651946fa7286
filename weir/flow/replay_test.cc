#include <weir/flow/replay.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::outcome;
using testing::script;

using copyable = std::shared_ptr<counted>;
copyable wrap(counted&& of) { return std::make_shared<counted>(std::move(of)); }
counted unwrap(const copyable& of) { return counted(of->number()); }

/// What a flow gives when it is asked for so many items.
template <class Flow>
std::vector<int> some(Flow& from, std::size_t demand) {
  std::vector<int> items;
  error failure;
  context cx({}, failure);
  (void)from.pull(
      demand, [&](int&& item) { items.push_back(item); }, cx);
  return items;
}

TEST(replay, conforms_for_one_subscriber) {
  for (const std::size_t kept : {0u, 1u, 10u}) {
    const auto complaint = testing::conforms(
        [=](script from) {
          return (std::move(from) | map(wrap) | replay(kept, {.lag_items_max = 2})).subscribe() | map(unwrap);
        },
        [](const std::vector<int>& all, step end) {
          return outcome{all, end};
        });
    EXPECT_EQ(complaint, "") << kept;
  }
}

TEST(replay, gives_a_late_subscriber_the_last_items_first) {
  const auto hub = range(0, 10) | replay(3);
  auto early = hub.subscribe();
  EXPECT_EQ(some(early, 5), (std::vector<int>{0, 1, 2, 3, 4}));
  auto late = hub.subscribe();
  EXPECT_EQ(some(late, 4), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_EQ(*to_vector(std::move(early)), (std::vector<int>{5, 6, 7, 8, 9}));
  EXPECT_EQ(*to_vector(std::move(late)), (std::vector<int>{6, 7, 8, 9}));
}

TEST(replay, gives_the_last_items_and_the_end_to_who_comes_after_it) {
  const auto hub = range(0, 10) | replay(3);
  ASSERT_TRUE(to_vector(hub.subscribe()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*to_vector(hub.subscribe()), (std::vector<int>{7, 8, 9}));
}

TEST(replay, one_who_gets_much_replayed_does_not_break_the_bound_of_the_others) {
  for (const auto policy : {slow_subscriber::holds_up, slow_subscriber::fails}) {
    const auto hub = range(0, 100) | replay(10, {.lag_items_max = 2, .when_behind = policy});
    auto early = hub.subscribe();
    EXPECT_EQ(some(early, 20).size(), 20u);
    auto late = hub.subscribe();
    EXPECT_EQ(some(early, 2), (std::vector<int>{20, 21}));
    EXPECT_EQ(some(late, 12), (std::vector<int>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
  }
}

// The room that upstream is asked to fill is found before the pull; who comes during it has its replayed items still to
// read.
TEST(replay, one_who_comes_while_upstream_is_pulled_loses_nothing) {
  std::optional<shared<int>> hub;
  std::optional<detail::subscriber<int>> late;
  hub.emplace(range(0, 100) | map([&](int i) {
                if (i == 8) late.emplace(hub->subscribe());
                return i;
              }) |
              replay(4, {.lag_items_max = 4}));
  auto early = hub->subscribe();
  EXPECT_EQ(some(early, 8).size(), 8u);
  EXPECT_EQ(some(early, 8), (std::vector<int>{8, 9, 10, 11}));
  ASSERT_TRUE(late);
  EXPECT_EQ(some(*late, 8), (std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11}));
}

// Others leaked what had been evicted, by a chain of nodes or a subscriber that was caught up.
TEST(replay, keeps_no_more_than_it_says) {
  const life_balance lives;
  const auto hub = generate([i = 0]() mutable -> std::optional<copyable> { return wrap(counted(i++)); }) | replay(10);
  auto caught_up = hub.subscribe();
  for (int round = 0; round < 100; ++round) {
    error failure;
    context cx({}, failure);
    std::size_t demand = 100;
    ASSERT_EQ(caught_up.pull(
                  demand, [](copyable&&) {}, cx),
              step::more);
    { const auto gone = hub.subscribe(); }
    ASSERT_EQ(lives.surplus(), 10);
  }
}

TEST(cache, conforms_for_one_subscriber) {
  const auto complaint =
      testing::conforms([](script from) { return (std::move(from) | map(wrap) | cache(3)).subscribe() | map(unwrap); },
                        [](const std::vector<int>& all, step end) {
                          return outcome{all, end};
                        });
  EXPECT_EQ(complaint, "");
}

TEST(cache, gives_everything_to_everybody_and_pulls_upstream_once) {
  int made = 0;
  const auto hub = range(0, 100) | map([&](int i) { return ++made, i; }) | cache(1'000);
  EXPECT_EQ(made, 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(to_vector(hub.subscribe())->size(), 100u);
  EXPECT_EQ(made, 100);
}

TEST(cache, that_would_hold_too_much_fails_after_what_it_holds) {
  const auto hub = range(0, 100) | cache(7);
  for (int i = 0; i < 2; ++i) {
    std::vector<int> items;
    const auto end = hub.subscribe() | for_each([&](int item) { items.push_back(item); });
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, errc::too_large);
    EXPECT_EQ(items, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  }
  const auto exact = range(0, 7) | cache(7);
  EXPECT_EQ(to_vector(exact.subscribe())->size(), 7u);
}

TEST(cache, gives_everything_to_threads_that_come_at_any_moment) {
  constexpr int items = 5'000;
  for (int round = 0; round < 20; ++round) {
    const auto hub = range(0, items) | cache(items);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        int expected = 0;
        EXPECT_TRUE(hub.subscribe() | for_each([&](int item) { EXPECT_EQ(item, expected++); }));
        EXPECT_EQ(expected, items);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace weir::flow
