// The model checker is checked with small programs of which it is known from the literature what they may do: it has to find
// exactly that. What is at stake is trust in every test that uses it: an outcome that it misses is a bug that it misses.

#include <weir/queue/testing/model.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir::queue::testing {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;

using word = modelled::atomic<int>;
using outcome = std::vector<int>;
using outcomes = std::set<outcome>;

model::options with(model::reduction how) {
  model::options out;
  out.reduce = how;
  return out;
}

constexpr std::array every_reduction = {model::reduction::none, model::reduction::sleep_sets,
                                        model::reduction::dynamic};

/// What a scenario that gives an outcome can give. However it is reduced, it must be the same.
template <class Scenario>
outcomes outcomes_of(Scenario&& scenario) {
  std::vector<outcomes> found;
  for (const model::reduction how : every_reduction) {
    outcomes& all = found.emplace_back();
    const model::report report = model::explore([&](model::execution& run) { all.insert(scenario(run)); }, with(how));
    EXPECT_TRUE(report.holds()) << report.text();
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  return found[2];
}

/// What is found to be wrong with a scenario; the same, however it is reduced.
template <class Scenario>
model::failure failure_of(Scenario&& scenario) {
  std::set<model::failure> found;
  for (const model::reduction how : every_reduction) {
    const model::report report = model::explore(scenario, with(how));
    EXPECT_TRUE(report.failed() || report.complete) << report.text();
    found.insert(report.what);
  }
  EXPECT_EQ(found.size(), 1U);
  return *found.begin();
}

// --- litmus tests ------------------------------------------------------------------------------------------------

outcomes message_passing(std::memory_order store, std::memory_order load) {
  return outcomes_of([=](model::execution& run) -> outcome {
    word data(0);
    word flag(0);
    int seen = -1;
    run.threads(
        [&] {
          data.store(42, relaxed);
          flag.store(1, store);
        },
        [&] {
          if (flag.load(load) == 1) seen = data.load(relaxed);
        });
    return {seen};
  });
}

TEST(model_litmus, a_message_passed_by_release_and_acquire_arrives_whole) {
  EXPECT_EQ(message_passing(release, acquire), (outcomes{{-1}, {42}}));
}

TEST(model_litmus, without_either_order_the_message_can_be_stale) {
  EXPECT_EQ(message_passing(relaxed, acquire), (outcomes{{-1}, {0}, {42}}));
  EXPECT_EQ(message_passing(release, relaxed), (outcomes{{-1}, {0}, {42}}));
  EXPECT_EQ(message_passing(relaxed, relaxed), (outcomes{{-1}, {0}, {42}}));
}

TEST(model_litmus, store_buffering_lets_both_threads_miss_the_other) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              word y(0);
              int a = -1;
              int b = -1;
              run.threads(
                  [&] {
                    x.store(1, release);
                    a = y.load(acquire);
                  },
                  [&] {
                    y.store(1, release);
                    b = x.load(acquire);
                  });
              return {a, b};
            }),
            (outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(model_litmus, read_modify_writes_of_one_word_between_store_and_load_let_one_thread_see_the_other) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              word y(0);
              word between(0);
              int a = -1;
              int b = -1;
              run.threads(
                  [&] {
                    x.store(1, relaxed);
                    between.fetch_add(0, acq_rel);
                    a = y.load(relaxed);
                  },
                  [&] {
                    y.store(1, relaxed);
                    between.fetch_add(0, acq_rel);
                    b = x.load(relaxed);
                  });
              return {a, b};
            }),
            (outcomes{{0, 1}, {1, 0}, {1, 1}}));
}

TEST(model_litmus, load_buffering_is_a_known_blind_spot) {
  // C++ allows {1, 1} here. A load only reads what was executed before, so it is not found.
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              word y(0);
              int a = -1;
              int b = -1;
              run.threads(
                  [&] {
                    a = x.load(relaxed);
                    y.store(1, relaxed);
                  },
                  [&] {
                    b = y.load(relaxed);
                    x.store(1, relaxed);
                  });
              return {a, b};
            }),
            (outcomes{{0, 0}, {0, 1}, {1, 0}}));
}

TEST(model_litmus, two_plus_two_writes_is_a_known_blind_spot) {
  // C++ allows {1, 1}: in both modification orders the first store of a thread behind the last of the other.
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              word y(0);
              run.threads(
                  [&] {
                    x.store(1, relaxed);
                    y.store(2, relaxed);
                  },
                  [&] {
                    y.store(1, relaxed);
                    x.store(2, relaxed);
                  });
              return {x.load(relaxed), y.load(relaxed)};
            }),
            (outcomes{{1, 2}, {2, 1}, {2, 2}}));
}

TEST(model_litmus, independent_reads_of_independent_writes_may_disagree_about_the_order) {
  const outcomes found = outcomes_of([](model::execution& run) -> outcome {
    word x(0);
    word y(0);
    int a = -1;
    int b = -1;
    int c = -1;
    int d = -1;
    run.threads([&] { x.store(1, release); }, [&] { y.store(1, release); },
                [&] {
                  a = x.load(acquire);
                  b = y.load(acquire);
                },
                [&] {
                  c = y.load(acquire);
                  d = x.load(acquire);
                });
    return {a, b, c, d};
  });
  // Acquire and release forbid nothing here: each reader sees each store or not.
  EXPECT_EQ(found.size(), 16U);
  EXPECT_TRUE(found.contains({1, 0, 1, 0}));
}

TEST(model_litmus, what_is_passed_on_is_passed_on_through_a_third_thread) {
  const outcomes found = outcomes_of([](model::execution& run) -> outcome {
    word x(0);
    word y(0);
    int a = -1;
    int b = -1;
    int c = -1;
    run.threads([&] { x.store(1, relaxed); },
                [&] {
                  a = x.load(relaxed);
                  y.store(1, release);
                },
                [&] {
                  b = y.load(acquire);
                  c = x.load(relaxed);
                });
    return {a, b, c};
  });
  EXPECT_FALSE(found.contains({1, 1, 0}));
  EXPECT_EQ(found.size(), 7U);
}

TEST(model_litmus, two_reads_of_one_word_never_go_back) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              int a = -1;
              int b = -1;
              run.threads(
                  [&] {
                    x.store(1, relaxed);
                    x.store(2, relaxed);
                  },
                  [&] {
                    a = x.load(relaxed);
                    b = x.load(relaxed);
                  });
              return {a, b};
            }),
            (outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(model_litmus, two_writes_of_one_thread_stay_in_order) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              run.threads(
                  [&] {
                    x.store(1, relaxed);
                    x.store(2, relaxed);
                  },
                  [&] { x.store(3, relaxed); });
              return {x.load(relaxed)};
            }),
            (outcomes{{2}, {3}}));
}

TEST(model_litmus, a_thread_that_wrote_does_not_read_what_is_older) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              int a = -1;
              run.threads(
                  [&] {
                    x.store(1, relaxed);
                    a = x.load(relaxed);
                  },
                  [&] { x.store(2, relaxed); });
              return {a, x.load(relaxed)};
            }),
            (outcomes{{1, 1}, {1, 2}, {2, 2}}));
}

/// What the last thread finds in the data when it reads `last` by acquire, after `between` ran beside the releasing thread.
template <class Between>
outcomes release_sequence(int last, Between&& between) {
  return outcomes_of([&](model::execution& run) -> outcome {
    word data(0);
    word flag(0);
    int seen = -1;
    run.threads(
        [&] {
          data.store(1, relaxed);
          flag.store(1, release);
        },
        [&] { between(flag); },
        [&] {
          if (flag.load(acquire) == last) seen = data.load(relaxed);
        });
    return {seen};
  });
}

TEST(model_litmus, a_release_sequence_goes_on_through_a_relaxed_read_modify_write) {
  EXPECT_EQ(release_sequence(2,
                             [](word& flag) {
                               int one = 1;
                               flag.compare_exchange_strong(one, 2, relaxed, relaxed);
                             }),
            (outcomes{{-1}, {1}}));
}

TEST(model_litmus, a_release_sequence_ends_at_a_plain_store) {
  EXPECT_EQ(release_sequence(2,
                             [](word& flag) {
                               if (flag.load(relaxed) == 1) flag.store(2, relaxed);
                             }),
            (outcomes{{-1}, {0}, {1}}));
}

TEST(model_litmus, a_release_sequence_ends_at_a_plain_store_of_its_own_thread_too) {
  // So it is since C++20.
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word data(0);
              word flag(0);
              int seen = -1;
              run.threads(
                  [&] {
                    data.store(1, relaxed);
                    flag.store(1, release);
                    flag.store(2, relaxed);
                  },
                  [&] {
                    if (flag.load(acquire) == 2) seen = data.load(relaxed);
                  });
              return {seen};
            }),
            (outcomes{{-1}, {0}, {1}}));
}

// --- plain data and lifetimes ------------------------------------------------------------------------------------

void pass_plain_data(model::execution& run, std::memory_order store, std::memory_order load) {
  model_cell<int> data(0);
  word flag(0);
  run.threads(
      [&] {
        data.set(42);
        flag.store(1, store);
      },
      [&] {
        if (flag.load(load) == 1) model::expect(data.get() == 42, "the message is whole");
      });
}

TEST(model_data, passed_by_release_and_acquire_is_no_race) {
  EXPECT_EQ(failure_of([](model::execution& run) { pass_plain_data(run, release, acquire); }), model::failure::none);
}

TEST(model_data, passed_with_a_weaker_order_is_a_race) {
  EXPECT_EQ(failure_of([](model::execution& run) { pass_plain_data(run, relaxed, acquire); }), model::failure::race);
  EXPECT_EQ(failure_of([](model::execution& run) { pass_plain_data(run, release, relaxed); }), model::failure::race);
}

TEST(model_data, that_is_only_read_is_no_race) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              const model_cell<int> data(7);
              run.threads([&] { model::expect(data.get() == 7, "as it was made"); },
                          [&] { model::expect(data.get() == 7, "as it was made"); });
            }),
            model::failure::none);
}

TEST(model_data, an_item_destroyed_twice_is_found) {
  EXPECT_EQ(failure_of([](model::execution&) {
              std::allocator<model_item> memory;
              model_item* const item = memory.allocate(1);
              std::construct_at(item, 1);
              std::destroy_at(item);
              std::destroy_at(item);
            }),
            model::failure::lifetime);
}

TEST(model_data, an_item_left_over_is_found) {
  // A place that is not given back holds an item; the place itself is freed.
  alignas(model_item) static std::array<std::byte, sizeof(model_item)> place;
  EXPECT_EQ(failure_of([](model::execution&) { new (place.data()) model_item(1); }), model::failure::leak);
}

TEST(model_data, an_item_made_over_a_live_one_is_found) {
  alignas(model_item) static std::array<std::byte, sizeof(model_item)> place;
  EXPECT_EQ(failure_of([](model::execution&) {
              new (place.data()) model_item(1);
              new (place.data()) model_item(2);
            }),
            model::failure::lifetime);
}

// --- waiting -----------------------------------------------------------------------------------------------------

TEST(model_waiting, a_sleeper_that_checks_and_then_sleeps_loses_the_wake) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              modelled::atomic<std::uint32_t> ready(0);
              modelled::atomic<std::uint32_t> bell(0);
              run.threads(
                  [&] {
                    if (ready.load(acquire) == 0) modelled::wait(bell, 0);
                  },
                  [&] {
                    ready.store(1, release);
                    modelled::wake_one(bell);
                  });
            }),
            model::failure::stuck);
}

TEST(model_waiting, a_sleeper_on_the_word_that_changes_is_always_woken) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              modelled::atomic<std::uint32_t> ready(0);
              run.threads(
                  [&] {
                    while (ready.load(acquire) == 0) modelled::wait(ready, 0);
                  },
                  [&] {
                    ready.store(1, release);
                    modelled::wake_one(ready);
                  });
            }),
            model::failure::none);
}

TEST(model_waiting, a_ticket_is_handed_over_by_spinning) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              word turn(0);
              model_cell<int> data(0);
              const auto take_turn = [&](int mine) {
                modelled::spin wait;
                while (turn.load(acquire) != mine) wait.pause();
                data.set(data.get() + 1);
                turn.store(mine + 1, release);
              };
              run.threads([&] { take_turn(0); }, [&] { take_turn(1); }, [&] { take_turn(2); });
              model::expect(data.get() == 3, "everybody had a turn");
            }),
            model::failure::none);
}

}  // namespace
}  // namespace weir::queue::testing
