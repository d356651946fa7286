#include <weir/flow/share.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/inbox.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;

/// The scripted items can only be moved; shared ones are copied.
using copyable = std::shared_ptr<counted>;
copyable wrap(counted&& of) { return std::make_shared<counted>(std::move(of)); }
counted unwrap(const copyable& of) { return counted(of->number()); }

/// A subscriber pulled by hand.
template <class T = int>
struct hand {
  detail::subscriber<T> flow;
  std::vector<T> got;
  step why = step::more;
  error failure;
  int wakes = 0;

  explicit hand(const shared<T>& hub) : flow(hub.subscribe()) {}
  hand(const hand&) = delete;
  step pull(std::size_t demand = unbounded) {
    context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
    why = flow.pull(
        demand, [this](T&& item) { got.push_back(std::move(item)); }, cx);
    return why;
  }
};

std::vector<int> numbers(int from, int to) {
  std::vector<int> all;
  for (int i = from; i < to; ++i) all.push_back(i);
  return all;
}

TEST(share, conforms_for_one_subscriber) {
  for (const auto policy : {slow_subscriber::holds_up, slow_subscriber::fails}) {
    for (const std::size_t lag : {1u, 2u, 256u}) {
      const auto complaint = testing::conforms(
          [=](script from) {
            return (std::move(from) | map(wrap) | share({.lag_items_max = lag, .when_behind = policy})).subscribe() |
                   map(unwrap);
          },
          [](const std::vector<int>& all, step end) {
            return outcome{all, end};
          });
      EXPECT_EQ(complaint, "") << lag;
    }
  }
}

// Two subscribers of one script, merged: everything comes twice.
TEST(share, conforms_when_its_subscribers_are_merged) {
  const auto both = [](script from) {
    auto hub = std::move(from) | map(wrap) | share();
    return merge(hub.subscribe() | map([](const copyable& of) { return std::vector<int>{of->number()}; }),
                 hub.subscribe() | map([](const copyable& of) { return std::vector<int>{-of->number()}; }));
  };
  testing::stage on;
  auto flow = both(script({pending(), item(1), item(2), pending(), item(3), pending()}, on));
  error failure;
  context cx({}, failure);
  std::vector<int> plain;
  std::vector<int> negative;
  step why = step::pending;
  for (int pulls = 0; pulls < 100 && why != step::done; ++pulls) {
    std::size_t demand = 1;
    why = flow.pull(
        demand, [&](std::vector<int>&& of) { (of[0] > 0 ? plain : negative).push_back(of[0]); }, cx);
    on.fire();
  }
  EXPECT_EQ(why, step::done);
  EXPECT_EQ(plain, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(negative, (std::vector<int>{-1, -2, -3}));
  EXPECT_EQ(on.complaint(), "");
}

TEST(share, pulls_upstream_once_for_all_and_only_when_somebody_asks) {
  int made = 0;
  const auto hub = range(0, 5) | map([&](int i) { return ++made, i; }) | share();
  hand first(hub);
  hand second(hub);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(first.pull(2), step::more);
  EXPECT_EQ(made, 2) << "no more than was asked for";
  EXPECT_EQ(first.pull(), step::done);
  EXPECT_EQ(second.pull(), step::done);
  EXPECT_EQ(made, 5);
  EXPECT_EQ(first.got, numbers(0, 5));
  EXPECT_EQ(second.got, numbers(0, 5));
}

TEST(share, who_subscribes_late_gets_the_items_from_there_on) {
  const auto hub = share(range(0, 6));
  hand early(hub);
  EXPECT_EQ(early.pull(3), step::more);
  hand late(hub);
  EXPECT_EQ(late.pull(), step::done);
  EXPECT_EQ(late.got, numbers(3, 6));
}

TEST(share, who_subscribes_after_the_end_gets_the_end) {
  const auto failing = share(fail<int>(weir::fail(errc::io, "unplugged")));
  for (int i = 0; i < 2; ++i) {
    hand now(failing);
    EXPECT_EQ(now.pull(), step::failed);
    EXPECT_EQ(now.failure.message, "unplugged");
  }
  const auto throwing = just(1) | map([](int) -> int { throw std::runtime_error("no"); }) | share();
  for (int i = 0; i < 2; ++i) {
    hand now(throwing);
    EXPECT_EQ(now.pull(), step::failed);
    EXPECT_EQ(now.failure.code, errc::threw);
  }
}

TEST(share, a_slow_subscriber_holds_the_others_up_at_its_lag_and_loses_nothing) {
  int made = 0;
  const auto hub = range(0, 100) | map([&](int i) { return ++made, i; }) | share({.lag_items_max = 8});
  hand fast(hub);
  hand slow(hub);
  EXPECT_EQ(fast.pull(), step::pending);
  EXPECT_EQ(made, 8);
  // From half of the lag on, it is worth waking those who wait.
  EXPECT_EQ(slow.pull(3), step::more);
  EXPECT_EQ(fast.wakes, 0);
  EXPECT_EQ(slow.pull(1), step::more);
  EXPECT_EQ(fast.wakes, 1);
  EXPECT_EQ(fast.pull(), step::pending);
  EXPECT_EQ(made, 12);
  while (fast.why != step::done || slow.why != step::done) {
    if (fast.why != step::done) fast.pull();
    if (slow.why != step::done) slow.pull(5);
  }
  EXPECT_EQ(fast.got, numbers(0, 100));
  EXPECT_EQ(slow.got, numbers(0, 100));
}

TEST(share, a_slow_subscriber_that_leaves_lets_the_others_go_on) {
  const auto hub = share(range(0, 100), {.lag_items_max = 8});
  hand fast(hub);
  {
    const hand slow(hub);
    EXPECT_EQ(fast.pull(), step::pending);
    EXPECT_EQ(fast.wakes, 0);
  }
  EXPECT_EQ(fast.wakes, 1);
  EXPECT_EQ(fast.pull(), step::done);
  EXPECT_EQ(fast.got, numbers(0, 100));
}

TEST(share, a_slow_subscriber_fails_alone_where_that_is_the_policy) {
  const auto hub = share(range(0, 100), {.lag_items_max = 8, .when_behind = slow_subscriber::fails});
  hand fast(hub);
  hand slow(hub);
  hand in_time(hub);
  EXPECT_EQ(fast.pull(8), step::more);
  EXPECT_EQ(in_time.pull(2), step::more);
  EXPECT_EQ(fast.pull(2), step::more);
  EXPECT_EQ(slow.pull(), step::failed);
  EXPECT_EQ(slow.failure.code, errc::too_large);
  EXPECT_EQ(slow.got, (std::vector<int>{}));
  EXPECT_EQ(in_time.pull(8), step::more);
  EXPECT_EQ(in_time.got, numbers(0, 10));
  EXPECT_EQ(fast.pull(), step::done);
  EXPECT_EQ(fast.got, numbers(0, 100));
  EXPECT_EQ(in_time.pull(), step::failed);
}

TEST(share, wakes_all_who_wait_when_upstream_has_something) {
  testing::stage on;
  const auto hub = script({pending(), item(1), pending()}, on) | map(wrap) | share();
  hand<copyable> first(hub);
  hand<copyable> second(hub);
  EXPECT_EQ(first.pull(), step::pending);
  EXPECT_EQ(second.pull(), step::pending);
  on.fire();
  EXPECT_GE(first.wakes, 1);
  EXPECT_GE(second.wakes, 1);
  EXPECT_EQ(second.pull(), step::pending);
  EXPECT_EQ(first.pull(), step::pending);
  EXPECT_EQ(first.got.size(), 1u);
  EXPECT_EQ(second.got.size(), 1u);
  on.fire();
  EXPECT_EQ(first.pull(), step::done);
  EXPECT_EQ(second.pull(), step::done);
  EXPECT_EQ(on.complaint(), "") << "upstream was pulled after its end, or by two at a time";
}

// Upstream keeps the waker of whoever pulled it last. That one may be gone when it is called; the others must hear of
// it.
TEST(share, who_stays_is_woken_though_who_pulled_upstream_has_left) {
  testing::stage on;
  const auto hub = script({pending(), item(1)}, on) | map(wrap) | share();
  hand<copyable> stays(hub);
  int wakes_of_leaver = 0;
  {
    hand<copyable> leaves(hub);
    EXPECT_EQ(leaves.pull(), step::pending);
    EXPECT_EQ(stays.pull(), step::pending);
    wakes_of_leaver = leaves.wakes;
  }
  on.fire();
  EXPECT_EQ(wakes_of_leaver, 0);
  EXPECT_GE(stays.wakes, 1);
  EXPECT_EQ(stays.pull(), step::done);
  EXPECT_EQ(stays.got.size(), 1u);
}

TEST(share, upstream_lives_as_long_as_the_hub_or_a_subscriber) {
  const life_balance lives;
  testing::stage on;
  auto hub = std::make_optional(script({item(1), item(2), pending()}, on) | map(wrap) | share());
  {
    hand<copyable> one(*hub);
    EXPECT_EQ(one.pull(1), step::more);
  }
  {
    // Nobody subscribed in between, and upstream goes on where it was.
    hand<copyable> two(*hub);
    hub.reset();
    EXPECT_EQ(two.pull(), step::pending);
    ASSERT_EQ(two.got.size(), 1u);
    EXPECT_EQ(two.got[0]->number(), 2);
    EXPECT_TRUE(on.someone_sleeps());
  }
  EXPECT_FALSE(on.someone_sleeps()) << "upstream is gone with its last subscriber";
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(share, keeps_no_item_that_all_have_read) {
  const life_balance lives;
  const auto hub = generate([i = 0]() mutable -> std::optional<copyable> { return wrap(counted(i++)); }) | share();
  hand<copyable> first(hub);
  hand<copyable> second(hub);
  EXPECT_EQ(first.pull(200), step::more);
  first.got.clear();
  EXPECT_EQ(lives.surplus(), 200) << "for the second";
  EXPECT_EQ(second.pull(150), step::more);
  second.got.clear();
  EXPECT_EQ(lives.surplus(), 50);
  EXPECT_EQ(second.pull(50), step::more);
  second.got.clear();
  EXPECT_EQ(lives.surplus(), 0);
}

// A deadlock of others: adding and removing subscribers while items and the end are given.
TEST(share, subscribers_may_come_and_go_from_inside_an_item) {
  const auto hub = share(range(0, 10));
  std::vector<std::unique_ptr<hand<int>>> late;
  int seen = 0;
  ASSERT_TRUE(hub.subscribe() | for_each([&](int) {
                ++seen;
                late.push_back(std::make_unique<hand<int>>(hub));
                late.back()->pull(1);
                if (late.size() > 2) late.erase(late.begin());
              }));
  EXPECT_EQ(seen, 10);
}

/// A copyable item whose destructor does something.
struct meddler {
  const std::function<void()>* at_the_end;
  explicit meddler(const std::function<void()>& what) : at_the_end(&what) {}
  meddler(const meddler&) = default;
  meddler(meddler&& other) noexcept : at_the_end(std::exchange(other.at_the_end, nullptr)) {}
  meddler& operator=(const meddler&) = default;
  ~meddler() {
    if (at_the_end) (*at_the_end)();
  }
};

TEST(share, destroys_no_item_under_its_mutex) {
  for (const auto policy : {slow_subscriber::holds_up, slow_subscriber::fails}) {
    std::function<void()> meddle = [] {};
    const auto hub = generate([&meddle, left = 40]() mutable -> std::optional<meddler> {
                       if (left-- == 0) return std::nullopt;
                       return meddler(meddle);
                     }) |
                     share({.lag_items_max = 4, .when_behind = policy});
    int met = 0;
    meddle = [&] {
      ++met;
      (void)hub.subscribe();
    };
    auto slow = std::make_unique<detail::subscriber<meddler>>(hub.subscribe());
    int seen = 0;
    ASSERT_TRUE(hub.subscribe() | for_each([&](const meddler&) {
                  if (++seen == 4) slow.reset();
                }));
    EXPECT_EQ(seen, 40);
    EXPECT_GE(met, 40);
    meddle = [] {};
  }
}

TEST(share, gives_every_item_to_each_of_many_threads) {
  constexpr int items = 50'000;
  constexpr int threads = 3;
  for (const bool behind_a_hop : {false, true}) {
    worker there;
    const auto hub = behind_a_hop ? share(erase(range(0, items) | observe_on(there, {64})), {.lag_items_max = 32})
                                  : share(range(0, items), {.lag_items_max = 32});
    // All subscribe first, so that all get everything.
    std::vector<detail::subscriber<int>> flows;
    for (int i = 0; i < threads; ++i) flows.push_back(hub.subscribe());
    std::vector<int> next(threads, 0);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&flow = flows[static_cast<std::size_t>(i)], &expected = next[static_cast<std::size_t>(i)]] {
        EXPECT_TRUE(for_each(std::move(flow), [&](int item) {
          EXPECT_EQ(item, expected);
          ++expected;
        }));
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(next, std::vector<int>(threads, items));
  }
}

// Subscribers come and go on several threads while an inbox is filled from another; each sees a run without gaps.
TEST(share, subscribers_may_come_and_go_on_any_thread_at_any_moment) {
  constexpr int items = 100'000;
  inbox<int> box({64, overflow::block});
  const auto hub = share(box.items(), {.lag_items_max = 16});
  auto steady = hub.subscribe();
  std::thread producer([&] {
    for (int i = 0; i < items; ++i) EXPECT_EQ(box.push(i), inbox_push::pushed);
    box.close();
  });
  std::atomic<bool> over{false};
  std::vector<std::thread> passers_by;
  for (int name = 0; name < 2; ++name) {
    passers_by.emplace_back([&] {
      for (std::size_t stay = 1; !over; stay = stay % 50 + 1) {
        int before = -1;
        EXPECT_TRUE(hub.subscribe() | take(stay) | for_each([&](int item) {
                      EXPECT_TRUE(before < 0 || item == before + 1);
                      before = item;
                    }));
      }
    });
  }
  int expected = 0;
  EXPECT_TRUE(std::move(steady) | for_each([&](int item) { EXPECT_EQ(item, expected++); }));
  EXPECT_EQ(expected, items);
  over = true;
  producer.join();
  for (std::thread& thread : passers_by) thread.join();
}

// What made a well-known refCount hang: two subscribe to a source that is over at once.
TEST(share, two_threads_that_subscribe_while_it_ends_both_see_the_end) {
  for (int round = 0; round < 200; ++round) {
    const auto hub = share(just(1));
    std::atomic<int> ready{0};
    const auto subscribe = [&] {
      ++ready;
      while (ready != 2) queue::relax();
      int seen = 0;
      EXPECT_TRUE(hub.subscribe() | for_each([&](int) { ++seen; }));
      EXPECT_LE(seen, 1);
    };
    std::thread other(subscribe);
    subscribe();
    other.join();
  }
}

}  // namespace
}  // namespace weir::flow
