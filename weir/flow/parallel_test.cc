#include <weir/flow/parallel.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/concat.h>
#include <weir/flow/filter.h>
#include <weir/flow/for_each.h>
#include <weir/flow/inbox.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/on_error.h>
#include <weir/flow/reduce.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/thread_pool.h>
#include <weir/flow/worker.h>
#include <weir/queue/spin.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;
using testing::event;
using testing::item;
using testing::manual_executor;
using testing::outcome;
using testing::pending;
using testing::script;

constexpr auto as_they_are = [](auto items) { return items; };

std::vector<int> numbers_to(int count) {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(i);
  return all;
}

TEST(parallel, on_one_rail_conforms) {
  for (const parallel_options options : {parallel_options{1, 1, 1}, parallel_options{2, 4, 8}, parallel_options{}}) {
    manual_executor there;
    const auto complaint =
        testing::conforms([&](script from) { return std::move(from) | parallel(there, 1, as_they_are, options); },
                          [](const std::vector<int>& numbers, step end) {
                            return outcome{numbers, end};
                          },
                          {.settle = [&](testing::stage& on) {
                            do {
                              there.run_all();
                              on.fire();
                            } while (!there.idle());
                          }});
    EXPECT_EQ(complaint, "") << options.items_max;
  }
}

// As the suite does it, but the order between rails is nobody's.
TEST(parallel, on_several_rails_gives_every_item_once_and_the_end_after_them) {
  for (const auto end : {event::kind::done, event::kind::failed, event::kind::cancelled, event::kind::throws}) {
    for (unsigned pendings = 0; pendings < 64; ++pendings) {
      std::vector<event> events;
      for (int i = 0; i < 6; ++i) {
        if (pendings >> i & 1) events.push_back(pending());
        events.push_back(i < 5 ? item(i) : event{end, 0});
      }
      for (const std::size_t rails : {2u, 3u}) {
        for (const std::size_t room : {1u, 4u}) {
          for (const std::size_t portion : {1u, 2u, 7u}) {
            for (const std::size_t pulls_max : {0u, 1u, 2u, 3u, 5u, 1000u}) {
              const life_balance lives;
              testing::stage on;
              manual_executor there;
              const testing::schedule how{std::vector<std::size_t>(900, portion), pulls_max, portion == 2};
              outcome seen = testing::observe(script(events, on) | parallel(there, rails, as_they_are, {room, room, 1}),
                                              how, on, [&] {
                                                do {
                                                  there.run_all();
                                                  on.fire();
                                                } while (!there.idle());
                                              });
              EXPECT_EQ(on.complaint(), "");
              EXPECT_EQ(lives.surplus(), 0);
              if (pulls_max != 1000) continue;
              std::sort(seen.numbers.begin(), seen.numbers.end());
              ASSERT_EQ(seen.numbers, numbers_to(5));
              ASSERT_EQ(seen.end, end == event::kind::done        ? step::done
                                  : end == event::kind::cancelled ? step::cancelled
                                                                  : step::failed);
            }
          }
        }
      }
    }
  }
}

TEST(parallel, loses_and_doubles_nothing_between_threads) {
  const life_balance lives;
  constexpr int count = 20'000;
  thread_pool pool(4);
  for (const parallel_options options : {parallel_options{}, parallel_options{2, 1, 1}, parallel_options{16, 4, 3}}) {
    std::vector<int> times(count, 0);
    ASSERT_TRUE(
        range(0, count) | map([](int i) { return counted(i); }) |
        parallel(
            pool, 3,
            [](auto items) { return std::move(items) | map([](counted&& of) { return counted(of.number()); }); },
            options) |
        for_each([&](counted&& of) { ++times[static_cast<std::size_t>(of.number())]; }));
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), count);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// A promise on time would be a race: nobody gets on before all are there.
TEST(parallel, has_all_rails_at_work_at_the_same_time) {
  constexpr int rails = 4;
  thread_pool pool(rails);
  std::atomic<int> arrived{0};
  const auto meet = [&](int i) {
    ++arrived;
    queue::spin wait;
    while (arrived.load() < rails) wait.pause();
    return i;
  };
  for (const std::size_t claim : {1u, 8u}) {
    arrived = 0;
    auto items = to_vector(range(0, rails) | parallel(pool, rails, [&](auto in) { return std::move(in) | map(meet); },
                                                      {.claim_max = claim}));
    ASSERT_TRUE(items);
    std::sort(items->begin(), items->end());
    EXPECT_EQ(*items, numbers_to(rails));
  }
}

// The first item waits until the consumer has had all the others, except those that may have been taken together with
// it.
TEST(parallel, lets_others_do_the_work_of_a_slow_rail) {
  constexpr int count = 5'000;
  thread_pool pool(2);
  for (const int claim : {1, 8}) {
    std::atomic<int> given{0};
    int last = -1;
    const auto slow = [&](int i) {
      queue::spin wait;
      while (i == 0 && given.load() < count - claim) wait.pause();
      return i;
    };
    ASSERT_TRUE(range(0, count) |
                parallel(pool, 2, [&](auto in) { return std::move(in) | map(slow); },
                         {.items_max = 16, .results_max = 16, .claim_max = static_cast<std::size_t>(claim)}) |
                for_each([&](int i) {
                  last = i;
                  ++given;
                }));
    EXPECT_EQ(given, count);
    if (claim == 1) {
      EXPECT_EQ(last, 0);
    }
  }
}

// A result that is made is to be had, though the rail goes on: the second item waits for the consumer to have the
// first.
TEST(parallel, gives_each_result_as_soon_as_it_is_made) {
  worker there;
  std::atomic<int> given{0};
  ASSERT_TRUE(range(0, 100) |
              parallel(there, 1,
                       [&](auto in) {
                         return std::move(in) | map([&](int i) {
                                  queue::spin wait;
                                  while (given.load() < i) wait.pause();
                                  return i;
                                });
                       }) |
              for_each([&](int) { ++given; }));
  EXPECT_EQ(given, 100);
}

TEST(parallel, gives_an_item_to_the_rails_as_soon_as_upstream_does) {
  worker there;
  std::atomic<int> worked{0};
  ASSERT_TRUE(range(0, 100) | map([&](int i) {
                queue::spin wait;
                while (worked.load() < i) wait.pause();
                return i;
              }) |
              parallel(there, 1, [&](auto in) { return std::move(in) | map([&](int i) { return ++worked, i; }); }) |
              for_each([](int) {}));
  EXPECT_EQ(worked, 100);
}

TEST(parallel, runs_each_rail_on_the_executor_that_is_named_for_it) {
  worker first("first");
  worker second("second");
  std::vector<int> places;
  std::array<bool, 2> right{true, true};
  int rail = 0;
  ASSERT_TRUE(range(0, 10'000) |
              parallel({&first, &second},
                       [&](auto in) {
                         const int mine = rail++;
                         return std::move(in) | map([&, mine](int i) {
                                  auto& ok = right[static_cast<std::size_t>(mine)];
                                  ok = ok && (mine == 0 ? first : second).is_this_thread();
                                  return i;
                                });
                       }) |
              for_each([&](int i) { places.push_back(i); }));
  EXPECT_EQ(rail, 2);
  EXPECT_EQ(right, (std::array{true, true}));
  std::sort(places.begin(), places.end());
  EXPECT_EQ(places, numbers_to(10'000));
}

TEST(parallel, keeps_the_order_within_a_rail) {
  thread_pool pool(3);
  std::atomic<int> next_rail{0};
  std::array<int, 3> last{-1, -1, -1};
  bool in_order = true;
  ASSERT_TRUE(range(0, 30'000) |
              parallel(pool, 3,
                       [&](auto in) {
                         const int mine = next_rail++;
                         return std::move(in) | map([mine](int i) { return std::pair(mine, i); });
                       }) |
              for_each([&](std::pair<int, int> of) {
                int& before = last[static_cast<std::size_t>(of.first)];
                in_order = in_order && before < of.second;
                before = of.second;
              }));
  EXPECT_TRUE(in_order);
}

TEST(parallel, pulls_upstream_where_it_is_pulled_itself_and_has_destroyed_it_when_it_is_gone) {
  thread_pool pool(2);
  const auto here = std::this_thread::get_id();
  bool was_here = true;
  const auto held = std::make_shared<int>(0);
  ASSERT_TRUE(range(0, 1'000'000) | map([&, held](int i) {
                was_here = was_here && std::this_thread::get_id() == here;
                return i;
              }) |
              parallel(pool, 2, as_they_are) | take(5'000) | for_each([](int) {}));
  EXPECT_TRUE(was_here);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(parallel, begins_nothing_before_its_first_pull) {
  manual_executor there;
  int made = 0;
  {
    auto flow = range(0, 3) | parallel(there, 2, [&](auto in) { return ++made, std::move(in); });
    auto moved = std::move(flow);
    testing::test_consumer seen(std::move(moved));
    EXPECT_EQ(seen.request(0), step::more);
  }
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(there.idle());
}

TEST(parallel, is_ahead_of_its_consumer_by_its_rooms_at_most) {
  manual_executor there;
  int made = 0;
  int worked = 0;
  testing::test_consumer seen(range(0, 1'000'000) | map([&](int i) { return ++made, i; }) |
                              parallel(there, 2,
                                       [&](auto in) { return std::move(in) | map([&](int i) { return ++worked, i; }); },
                                       {.items_max = 16, .results_max = 8, .claim_max = 2}));
  for (int pulls = 0; pulls < 10; ++pulls) {
    (void)seen.request(1);
    there.run_all();
    const auto given = static_cast<int>(seen.items.size());
    EXPECT_LE(worked, given + 2 * 8);
    EXPECT_LE(made, worked + 16);
  }
  EXPECT_EQ(seen.items.size(), 9u);
  EXPECT_EQ(seen.complaint(), "");
}

// The rails swallow each item while the next is made, so there is always room: as if they were infinitely fast.
TEST(parallel, does_bounded_work_in_a_pull_though_rails_give_nothing) {
  manual_executor there;
  int made = 0;
  testing::test_consumer seen(
      range(0, 100'000) | map([&](int i) { return there.run_all(), ++made, i; }) |
      parallel(there, 1, [](auto in) { return std::move(in) | filter([](int) { return false; }); }));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_GE(seen.wakes, 1u);
  EXPECT_LE(made, 4096 + 256);
  EXPECT_GE(made, 4096);
}

TEST(parallel, takes_of_its_rails_in_turn) {
  manual_executor there;
  int rails = 0;
  testing::test_consumer seen(range(0, 100) | parallel(there, 2,
                                                       [&](auto in) {
                                                         const int mine = rails++;
                                                         return std::move(in) | map([mine](int) { return mine; });
                                                       },
                                                       {.items_max = 16, .results_max = 2, .claim_max = 1}));
  EXPECT_EQ(seen.request(1), step::pending);
  there.run_all();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(seen.request(1), step::more);
  EXPECT_TRUE(seen.items == (std::vector<int>{0, 1, 0, 1}) || seen.items == (std::vector<int>{1, 0, 1, 0}));
}

// The hop of the first rail is gone, and freed, when the second item comes: so must be what it had asked for (R7).
TEST(parallel, wakes_nobody_who_has_left_while_it_slept) {
  testing::stage on;
  manual_executor there;
  manual_executor other;
  int rails = 0;
  testing::test_consumer seen(
      script({item(1), pending(), item(2), pending(), item(3)}, on) |
      parallel(there, 2, [&](auto in) { return std::move(in) | observe_on(other) | take(rails++ == 0 ? 1 : 10); }));
  for (int i = 0; i < 10 && !seen.end(); ++i) {
    (void)seen.request_all();
    while (there.run_all() + other.run_all() != 0) {
    }
    (void)seen.request_all();
    on.fire();
  }
  EXPECT_EQ(seen.end(), step::done);
  EXPECT_EQ(seen.items.size(), 3u);
  EXPECT_EQ(seen.complaint(), "");
  EXPECT_EQ(on.complaint(), "");
}

// Rails that give nothing have only their claims to tell the consumer that there is room.
TEST(parallel, goes_on_though_rails_give_nothing) {
  manual_executor there;
  testing::test_consumer seen(
      range(0, 10'000) | parallel(there, 2, [](auto in) { return std::move(in) | filter([](int) { return false; }); }));
  for (int pulls = 0; pulls < 10'000 && !seen.end(); ++pulls) {
    const std::size_t before = seen.wakes;
    if (seen.request(1) != step::pending) continue;
    there.run_all();
    ASSERT_GT(seen.wakes, before) << "after " << pulls << " pulls";
  }
  EXPECT_EQ(seen.end(), step::done);
}

TEST(parallel, tells_a_failure_of_upstream_after_all_results_of_the_items_before_it) {
  thread_pool pool(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<int> seen;
    const auto outcome = range(0, 300) | map([](int i) {
                           if (i == 250) throw std::runtime_error("broken");
                           return i;
                         }) |
                         parallel(pool, 3, as_they_are) | for_each([&](int i) { seen.push_back(i); });
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, errc::threw);
    EXPECT_EQ(outcome.error().message, "broken");
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen, numbers_to(250));
  }
}

TEST(parallel, lets_each_rail_mend_a_failure_of_upstream) {
  manual_executor there;
  testing::test_consumer seen(
      concat(just(7), fail<int>(weir::fail(errc::io, "broken"))) |
      parallel(there, 2, [](auto in) { return std::move(in) | on_error_return([](const error&) { return -1; }); }));
  for (int i = 0; i < 10 && !seen.end(); ++i) {
    (void)seen.request_all();
    there.run_all();
  }
  EXPECT_EQ(seen.end(), step::done);
  std::sort(seen.items.begin(), seen.items.end());
  EXPECT_EQ(seen.items, (std::vector<int>{-1, -1, 7}));
}

TEST(parallel, ends_with_the_failure_of_a_rail_though_upstream_never_ends) {
  thread_pool pool(2);
  for (int round = 0; round < 50; ++round) {
    const auto outcome = generate([i = 0]() mutable { return std::optional(i++); }) |
                         parallel(pool, 2,
                                  [round](auto in) {
                                    return std::move(in) | map([round](int i) {
                                             if (i == round * 20) throw std::runtime_error("rail");
                                             return i;
                                           });
                                  }) |
                         for_each([](int) {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, errc::threw);
    EXPECT_EQ(outcome.error().message, "rail");
  }
}

TEST(parallel, is_done_when_all_rails_are) {
  thread_pool pool(2);
  std::vector<int> seen;
  ASSERT_TRUE(generate([i = 0]() mutable { return std::optional(i++); }) |
              parallel(pool, 2, [](auto in) { return std::move(in) | take(5); }) |
              for_each([&](int i) { seen.push_back(i); }));
  EXPECT_EQ(seen.size(), 10u);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

TEST(parallel, leaves_the_items_of_a_rail_that_is_done_to_the_others) {
  thread_pool pool(2);
  int rails = 0;
  std::vector<int> seen;
  ASSERT_TRUE(range(0, 1'000) |
              parallel(pool, 2,
                       [&](auto in) {
                         const std::size_t most = rails++ == 0 ? 3 : unbounded;
                         return std::move(in) | take(most);
                       }) |
              for_each([&](int i) { seen.push_back(i); }));
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, numbers_to(1'000));
}

TEST(parallel, gives_what_rails_have_to_say_at_the_end) {
  thread_pool pool(3);
  long sum = 0;
  int results = 0;
  ASSERT_TRUE(
      range(0, 10'000) |
      parallel(pool, 3,
               [](auto in) { return std::move(in) | reduce(0L, [](long so_far, int i) { return so_far + i; }); }) |
      for_each([&](long part) {
        sum += part;
        ++results;
      }));
  EXPECT_EQ(sum, 10'000L * 9'999 / 2);
  EXPECT_EQ(results, 3);
}

TEST(parallel, fails_when_a_rail_cannot_be_made) {
  manual_executor there;
  int made = 0;
  testing::test_consumer seen(range(0, 3) | parallel(there, 2, [&](auto in) {
                                if (++made == 2) throw std::runtime_error("no second rail");
                                return in;
                              }));
  EXPECT_EQ(seen.request(1), step::failed);
  EXPECT_EQ(seen.failure.message, "no second rail");
  seen.leave();
  EXPECT_TRUE(there.idle());
}

TEST(parallel, may_be_destroyed_at_any_moment_and_frees_every_item) {
  const life_balance lives;
  {
    thread_pool pool(2);
    for (std::size_t round = 1; round <= 200; ++round) {
      std::size_t seen = 0;
      ASSERT_TRUE(range(0, 10'000'000) | map([](int i) { return counted(i); }) |
                  parallel(pool, 2, as_they_are, {8, 8, 4}) | take(round) | for_each([&](counted&&) { ++seen; }));
      ASSERT_EQ(seen, round);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// R7 under fire: the target of the consumer's waker is freed right after the flow, while rails may be calling it.
TEST(parallel, when_it_is_destroyed_its_consumers_waker_is_called_no_more) {
  thread_pool pool(2);
  struct consumer {
    std::atomic<int> wakes{0};
    static void wake(void* target) noexcept { ++static_cast<consumer*>(target)->wakes; }
  };
  for (int round = 0; round < 2'000; ++round) {
    auto me = std::make_unique<consumer>();
    error failure;
    {
      auto flow = range(0, 1'000) | parallel(pool, 2, as_they_are, {4, 4, 2});
      context cx(waker(&consumer::wake, me.get()), failure);
      std::size_t demand = 4;
      (void)flow.pull(
          demand, [](int&&) {}, cx);
      for (int i = 0; i < round % 50; ++i) queue::relax();
    }
    me.reset();
  }
}

TEST(parallel, takes_an_upstream_that_other_threads_wake) {
  constexpr int count = 20'000;
  thread_pool pool(2);
  inbox<int> box({64, overflow::block});
  auto items = box.items();
  std::thread producer([&] {
    for (int i = 0; i < count; ++i) (void)box.push(i);
    box.close();
  });
  std::vector<int> times(count, 0);
  ASSERT_TRUE(std::move(items) | parallel(pool, 3, as_they_are, {16, 16, 2}) |
              for_each([&](int i) { ++times[static_cast<std::size_t>(i)]; }));
  producer.join();
  EXPECT_EQ(std::count(times.begin(), times.end(), 1), count);
}

TEST(parallel, lets_a_rail_go_on_to_other_threads) {
  worker there;
  thread_pool pool(2);
  std::vector<int> seen;
  ASSERT_TRUE(range(0, 10'000) | parallel(pool, 2, [&](auto in) { return std::move(in) | observe_on(there, {16}); }) |
              for_each([&](int i) { seen.push_back(i); }));
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, numbers_to(10'000));
  for (std::size_t round = 1; round <= 100; ++round) {
    ASSERT_TRUE(range(0, 1'000'000) |
                parallel(pool, 2, [&](auto in) { return std::move(in) | observe_on(there, {4}); }, {4, 4, 2}) |
                take(round) | for_each([](int) {}));
  }
}

}  // namespace
}  // namespace weir::flow
