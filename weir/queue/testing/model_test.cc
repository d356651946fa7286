// The model checker is checked with small programs of which it is known from the literature what they may do: it has to
// find exactly that. What is at stake is trust in every test that uses it: an outcome that it misses is a bug that it
// misses.

#include <weir/queue/testing/model.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weir::queue::testing {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto acq_rel = std::memory_order_acq_rel;

using word = modelled::atomic<int>;
using tag = modelled::atomic<std::uint32_t>;
using outcome = std::vector<int>;
using outcomes = std::set<outcome>;

model::options with(model::reduction how) {
  model::options out;
  out.reduce = how;
  return out;
}

constexpr std::array every_reduction = {model::reduction::none, model::reduction::sleep_sets,
                                        model::reduction::dynamic};

/// Memory for one object, which is given back whatever was done in it.
template <class T>
class room {
 public:
  [[nodiscard]] T* at() noexcept { return reinterpret_cast<T*>(bytes_.data()); }

 private:
  alignas(T) std::array<std::byte, sizeof(T)> bytes_{};
};

/// What has an operator delete that lets memory be held back.
struct kept_item {
  static inline int made = 0;
  static inline int freed = 0;

  static void* operator new(std::size_t size) {
    ++made;
    return std::malloc(size);
  }
  static void operator delete(void* memory) {
    const auto release_it = [](void* each) {
      ++freed;
      std::free(each);
    };
    if (!model::hold_back(memory, release_it)) release_it(memory);
  }

  model_item item{1};
};

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

/// What the last thread finds in the data when it reads `last` by acquire, after `between` ran beside the releasing
/// thread.
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

TEST(model_data, written_behind_the_release_is_not_part_of_it) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              model_cell<int> data(0);
              word flag(0);
              run.threads(
                  [&] {
                    flag.store(1, release);
                    data.set(42);
                  },
                  [&] {
                    if (flag.load(acquire) == 1) model::expect(data.get() != 1, "never 1");
                  });
            }),
            model::failure::race);
}

TEST(model_data, written_while_another_thread_may_still_read_it_is_a_race) {
  const auto read_and_tell = [](std::memory_order told) {
    return [=](model::execution& run) {
      model_cell<int> data(0);
      word done(0);
      run.threads(
          [&] {
            model::expect(data.get() == 0, "not written yet");
            done.store(1, told);
          },
          [&] {
            if (done.load(acquire) == 1) data.set(1);
          });
    };
  };
  EXPECT_EQ(failure_of(read_and_tell(release)), model::failure::none);
  EXPECT_EQ(failure_of(read_and_tell(relaxed)), model::failure::race);
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
              room<model_item> place;
              std::construct_at(place.at(), 1);
              std::destroy_at(place.at());
              std::destroy_at(place.at());
            }),
            model::failure::lifetime);
}

TEST(model_data, an_item_left_over_is_found) {
  EXPECT_EQ(failure_of([](model::execution&) {
              room<model_item> place;
              std::construct_at(place.at(), 1);
            }),
            model::failure::leak);
}

TEST(model_data, an_item_made_over_a_live_one_is_found) {
  EXPECT_EQ(failure_of([](model::execution&) {
              room<model_item> place;
              std::construct_at(place.at(), 1);
              std::construct_at(place.at(), 2);
            }),
            model::failure::lifetime);
}

TEST(model_data, an_item_used_before_or_after_its_life_is_found) {
  EXPECT_EQ(failure_of([](model::execution&) {
              room<model_item> place;
              model::expect(place.at()->value() != 1, "there is no item");
            }),
            model::failure::lifetime);
  EXPECT_EQ(failure_of([](model::execution&) {
              room<model_item> place;
              std::construct_at(place.at(), 1);
              std::destroy_at(place.at());
              model_item other(std::move(*place.at()));
            }),
            model::failure::lifetime);
}

TEST(model_data, a_moved_item_leaves_its_number_behind) {
  EXPECT_EQ(failure_of([](model::execution&) {
              model_item first(1);
              model_item second(std::move(first));
              model::expect(second.value() == 1, "the number has moved");
              model::expect(first.value() == model_item::taken, "the first has none");  // NOLINT: that is the question
              first = std::move(second);
              model::expect(first.value() == 1 && second.value() == model_item::taken, "and back");  // NOLINT
            }),
            model::failure::none);
}

TEST(model_data, a_place_that_is_used_again_without_order_is_a_race) {
  // As a ring would whose consumer gives its places back by a relaxed store.
  const auto reuse = [](std::memory_order freed) {
    return [=](model::execution& run) {
      room<model_item> place;
      std::construct_at(place.at(), 1);
      word is_free(0);
      run.threads(
          [&] {
            std::destroy_at(place.at());
            is_free.store(1, freed);
          },
          [&] {
            modelled::spin wait;
            while (is_free.load(acquire) == 0) wait.pause();
            std::construct_at(place.at(), 2);
          });
      std::destroy_at(place.at());
    };
  };
  EXPECT_EQ(failure_of(reuse(release)), model::failure::none);
  EXPECT_EQ(failure_of(reuse(relaxed)), model::failure::race);
}

TEST(model_data, an_atomic_that_is_destroyed_too_early_is_found) {
  // Whoever comes last may free it only if the other is known to be done.
  const auto last_one_frees = [](std::memory_order order) {
    return [=](model::execution& run) {
      auto* const count = new word(2);
      const auto leave = [=] {
        if (count->fetch_sub(1, order) == 1) delete count;
      };
      run.threads(leave, leave);
    };
  };
  EXPECT_EQ(failure_of(last_one_frees(acq_rel)), model::failure::none);
  EXPECT_EQ(failure_of(last_one_frees(release)), model::failure::race);
  EXPECT_EQ(failure_of(last_one_frees(acquire)), model::failure::race);
}

TEST(model_data, an_atomic_that_is_used_after_its_end_is_found) {
  EXPECT_EQ(failure_of([](model::execution&) {
              room<word> place;
              std::construct_at(place.at(), 1);
              std::destroy_at(place.at());
              place.at()->store(1, relaxed);
            }),
            model::failure::lifetime);
  EXPECT_EQ(failure_of([](model::execution&) {
              room<word> place;
              place.at()->store(1, relaxed);
            }),
            model::failure::lifetime);
}

TEST(model_data, an_atomic_that_another_thread_made_must_have_been_passed_on) {
  const auto pass = [](std::memory_order store, std::memory_order load) {
    return [=](model::execution& run) {
      modelled::atomic<word*> shared(nullptr);
      run.threads([&] { shared.store(new word(7), store); },
                  [&] {
                    word* const seen = shared.load(load);
                    if (seen != nullptr) model::expect(seen->load(relaxed) == 7, "it is as it was made");
                  });
      delete shared.load(relaxed);
    };
  };
  EXPECT_EQ(failure_of(pass(release, acquire)), model::failure::none);
  EXPECT_EQ(failure_of(pass(relaxed, acquire)), model::failure::race);
  EXPECT_EQ(failure_of(pass(release, relaxed)), model::failure::race);
}

TEST(model_data, an_atomic_left_over_is_found) {
  EXPECT_EQ(failure_of([](model::execution&) {
              room<word> place;
              std::construct_at(place.at(), 1);
            }),
            model::failure::leak);
}

TEST(model_data, memory_that_is_held_back_is_not_given_out_twice) {
  // Two threads that share nothing each make an item and free it. The allocator may well give both the same memory.
  const auto make_one = [] {
    auto* const made = new kept_item;
    delete made;
  };
  EXPECT_EQ(failure_of([&](model::execution& run) {
              word x(0);
              const auto twice = [&] {
                make_one();
                x.fetch_add(1, relaxed);
                make_one();
              };
              run.threads(twice, twice);
            }),
            model::failure::none);
  EXPECT_EQ(kept_item::made, kept_item::freed);
  EXPECT_FALSE(model::hold_back(&kept_item::made, nullptr)) << "outside of a scenario nothing is held back";
}

// --- operations --------------------------------------------------------------------------------------------------

TEST(model_operations, do_what_the_standard_ones_do) {
  enum class color : std::uint8_t { red, green };
  EXPECT_EQ(failure_of([](model::execution&) {
              modelled::atomic<std::uint8_t> byte(250);
              model::expect(byte.fetch_add(10, relaxed) == 250 && byte.load(relaxed) == 4, "wraps around above");
              model::expect(byte.fetch_sub(6, relaxed) == 4 && byte.load(relaxed) == 254, "wraps around below");
              model::expect(byte.fetch_and(0x0F, relaxed) == 254 && byte.load(relaxed) == 14, "and");
              model::expect(byte.fetch_or(0x11, relaxed) == 14 && byte.load(relaxed) == 31, "or");
              model::expect(byte.fetch_xor(0x21, relaxed) == 31 && byte.load(relaxed) == 62, "xor");
              modelled::atomic<std::int64_t> number(-1);
              model::expect(number.fetch_add(-1, relaxed) == -1 && number.load(relaxed) == -2, "negative");
              modelled::atomic<bool> flag;
              model::expect(!flag.exchange(true, relaxed) && flag.load(relaxed), "bool");
              modelled::atomic<color> paint(color::red);
              color seen = color::green;
              model::expect(!paint.compare_exchange_strong(seen, color::red, relaxed, relaxed), "expected another");
              model::expect(seen == color::red, "and is told which there is");
              model::expect(paint.compare_exchange_strong(seen, color::green, relaxed, relaxed), "now it is right");
              model::expect(paint.load(relaxed) == color::green, "enumeration");
              int target = 0;
              modelled::atomic<int*> pointer(&target);
              model::expect(pointer.exchange(nullptr, relaxed) == &target && pointer.load(relaxed) == nullptr,
                            "pointer");
            }),
            model::failure::none);
}

TEST(model_operations, a_weak_compare_exchange_can_fail_without_a_reason) {
  const auto attempt = [](bool weak) {
    return outcomes_of([=](model::execution& run) -> outcome {
      word x(1);
      bool done = false;
      int seen = 1;
      run.threads([&] {
        done = weak ? x.compare_exchange_weak(seen, 2, relaxed, relaxed)
                    : x.compare_exchange_strong(seen, 2, relaxed, relaxed);
      });
      return {done ? 1 : 0, seen, x.load(relaxed)};
    });
  };
  EXPECT_EQ(attempt(false), (outcomes{{1, 1, 2}}));
  EXPECT_EQ(attempt(true), (outcomes{{0, 1, 1}, {1, 1, 2}}));
}

TEST(model_operations, a_compare_exchange_that_fails_reads_by_its_failure_order) {
  const auto pass = [](std::memory_order failure) {
    return [=](model::execution& run) {
      model_cell<int> data(0);
      word flag(0);
      run.threads(
          [&] {
            data.set(1);
            flag.store(1, release);
          },
          [&] {
            int expected = 5;
            flag.compare_exchange_strong(expected, 6, acq_rel, failure);
            if (expected == 1) model::expect(data.get() == 1, "the message is whole");
          });
    };
  };
  EXPECT_EQ(failure_of(pass(acquire)), model::failure::none);
  EXPECT_EQ(failure_of(pass(relaxed)), model::failure::race);
}

TEST(model_operations, counting_by_compare_exchange_loses_nothing) {
  const auto count = [](bool weak) {
    return outcomes_of([=](model::execution& run) -> outcome {
      word x(0);
      // Two threads that fail without a reason have enough schedules.
      const auto add_one = [&] {
        int seen = x.load(relaxed);
        while (!(weak ? x.compare_exchange_weak(seen, seen + 1, relaxed, relaxed)
                      : x.compare_exchange_strong(seen, seen + 1, relaxed, relaxed))) {
        }
      };
      if (weak) {
        run.threads(add_one, add_one);
      } else {
        run.threads(add_one, add_one, add_one);
      }
      return {x.load(relaxed)};
    });
  };
  EXPECT_EQ(count(false), (outcomes{{3}}));
  EXPECT_EQ(count(true), (outcomes{{2}}));
}

TEST(model_operations, counting_by_load_and_store_loses_some) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              const auto add_one = [&] { x.store(x.load(relaxed) + 1, relaxed); };
              run.threads(add_one, add_one, add_one);
              return {x.load(relaxed)};
            }),
            (outcomes{{1}, {2}, {3}}));
}

TEST(model_operations, an_order_that_is_not_modelled_is_refused) {
  const auto refused = [](auto&& operation) {
    return failure_of([&](model::execution&) {
      word x(0);
      operation(x);
    });
  };
  constexpr auto seq_cst = std::memory_order_seq_cst;
  EXPECT_EQ(refused([](word& x) { x.store(1, seq_cst); }), model::failure::unmodelled_order);
  EXPECT_EQ(refused([](word& x) { static_cast<void>(x.load(std::memory_order_consume)); }),
            model::failure::unmodelled_order);
  EXPECT_EQ(refused([](word& x) { x.exchange(1, seq_cst); }), model::failure::unmodelled_order);
  EXPECT_EQ(refused([](word& x) { static_cast<void>(x.load(release)); }), model::failure::unmodelled_order);
  EXPECT_EQ(refused([](word& x) { x.store(1, acquire); }), model::failure::unmodelled_order);
  EXPECT_EQ(refused([](word& x) {
              int expected = 0;
              x.compare_exchange_strong(expected, 1, acq_rel, release);
            }),
            model::failure::unmodelled_order);
}

// --- waiting -----------------------------------------------------------------------------------------------------

/// A lock that is taken by exchange. `taking` and `leaving` are the orders.
class exchange_lock {
 public:
  exchange_lock(std::memory_order taking, std::memory_order leaving) : taking_(taking), leaving_(leaving) {}
  void lock() {
    modelled::spin wait;
    while (taken_.exchange(true, taking_)) wait.pause();
  }
  void unlock() { taken_.store(false, leaving_); }

 private:
  modelled::atomic<bool> taken_{false};
  std::memory_order taking_;
  std::memory_order leaving_;
};

TEST(model_waiting, a_lock_keeps_two_threads_apart_if_its_orders_do) {
  const auto add_under_lock = [](std::memory_order taking, std::memory_order leaving) {
    return [=](model::execution& run) {
      exchange_lock lock(taking, leaving);
      model_cell<int> sum(0);
      const auto add_one = [&] {
        lock.lock();
        sum.set(sum.get() + 1);
        lock.unlock();
      };
      run.threads(add_one, add_one, add_one);
      model::expect(sum.get() == 3, "nothing is lost");
    };
  };
  EXPECT_EQ(failure_of(add_under_lock(acquire, release)), model::failure::none);
  EXPECT_EQ(failure_of(add_under_lock(relaxed, release)), model::failure::race);
  EXPECT_EQ(failure_of(add_under_lock(acquire, relaxed)), model::failure::race);
}

TEST(model_waiting, two_locks_taken_in_two_orders_get_stuck) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              exchange_lock a(acquire, release);
              exchange_lock b(acquire, release);
              const auto take_both = [](exchange_lock& first, exchange_lock& second) {
                first.lock();
                second.lock();
                second.unlock();
                first.unlock();
              };
              run.threads([&] { take_both(a, b); }, [&] { take_both(b, a); });
            }),
            model::failure::stuck);
}

TEST(model_waiting, a_sleeper_that_checks_and_then_sleeps_loses_the_wake) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              tag ready(0);
              tag bell(0);
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
  const auto sleep_until_ready = [](bool wakes) {
    return [=](model::execution& run) {
      tag ready(0);
      run.threads(
          [&] {
            while (ready.load(acquire) == 0) modelled::wait(ready, 0);
          },
          [&] {
            ready.store(1, release);
            if (wakes) modelled::wake_one(ready);
          });
    };
  };
  EXPECT_EQ(failure_of(sleep_until_ready(true)), model::failure::none);
  EXPECT_EQ(failure_of(sleep_until_ready(false)), model::failure::stuck);
}

TEST(model_waiting, a_wake_for_one_can_go_to_any_of_the_sleepers_and_one_for_all_goes_to_all) {
  const auto sleep_and_wake = [](bool all) {
    return [=](model::execution& run) -> outcome {
      tag ready(0);
      word first(0);
      const auto sleeper = [&](int who) {
        return [&ready, &first, who] {
          while (ready.load(acquire) == 0) modelled::wait(ready, 0);
          int nobody = 0;
          first.compare_exchange_strong(nobody, who, relaxed, relaxed);
        };
      };
      run.threads(sleeper(1), sleeper(2), [&] {
        ready.store(1, release);
        if (all) {
          modelled::wake_all(ready);
        } else {
          modelled::wake_one(ready);
          modelled::wake_one(ready);
        }
      });
      return {first.load(relaxed)};
    };
  };
  EXPECT_EQ(outcomes_of(sleep_and_wake(true)), (outcomes{{1}, {2}}));
  EXPECT_EQ(outcomes_of(sleep_and_wake(false)), (outcomes{{1}, {2}}));
}

TEST(model_waiting, one_wake_for_two_sleepers_leaves_one_asleep) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              tag ready(0);
              const auto sleeper = [&] {
                while (ready.load(acquire) == 0) modelled::wait(ready, 0);
              };
              run.threads(sleeper, sleeper, [&] {
                ready.store(1, release);
                modelled::wake_one(ready);
              });
            }),
            model::failure::stuck);
}

TEST(model_waiting, a_wait_may_end_for_no_reason_if_the_options_say_so) {
  const auto sleep_once = [](model::execution& run) {
    tag ready(0);
    run.threads(
        [&] {
          if (ready.load(acquire) == 0) modelled::wait(ready, 0);
          model::expect(ready.load(acquire) == 1, "only a wake ends a wait");
        },
        [&] {
          // Once 0 is not the newest value, only stale loads and idle wakes can break the promise.
          ready.fetch_add(1, release);
          modelled::wake_one(ready);
        });
  };
  const auto with_idle_wakes = [&](std::size_t count) {
    model::options how;
    how.idle_wakes_max = count;
    return model::explore(sleep_once, how);
  };
  EXPECT_FALSE(model::explore([&](model::execution& run) { pass_plain_data(run, release, acquire); }).failed());
  EXPECT_EQ(with_idle_wakes(1).what, model::failure::expectation);
}

TEST(model_waiting, a_deadline_is_reached_before_the_wake_or_not) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              tag ready(0);
              bool in_time = false;
              run.threads([&] { in_time = modelled::wait_until(ready, 0, 0); },
                          [&] {
                            ready.store(1, release);
                            modelled::wake_one(ready);
                          });
              return {in_time ? 1 : 0};
            }),
            (outcomes{{0}, {1}}));
}

TEST(model_waiting, a_deadline_ends_a_wait_that_nobody_else_can_end) {
  model::options how;
  how.timeouts_max = 0;
  const model::report report = model::explore(
      [](model::execution& run) {
        tag never(0);
        run.threads([&] { model::expect(!modelled::wait_until(never, 0, 0), "nobody wakes"); });
      },
      how);
  EXPECT_TRUE(report.holds()) << report.text();
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

TEST(model_waiting, for_what_never_comes_is_stuck) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              word x(0);
              run.threads(
                  [&] {
                    modelled::spin wait;
                    while (x.load(acquire) != 2) wait.pause();
                  },
                  [&] { x.store(1, release); });
            }),
            model::failure::stuck);
}

TEST(model_waiting, a_loop_that_looks_at_other_atomics_each_time_is_not_stuck) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              std::array<word, 3> places;
              run.threads(
                  [&] {
                    modelled::spin wait;
                    for (std::size_t at = 0; places[at].load(acquire) == 0; at = (at + 1) % places.size()) wait.pause();
                  },
                  [&] { places[2].store(1, release); });
            }),
            model::failure::none);
}

TEST(model_waiting, a_loop_that_never_pauses_is_too_long) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              word x(0);
              run.threads(
                  [&] {
                    while (x.load(acquire) == 0) {
                    }
                  },
                  [&] { x.store(1, release); });
            }),
            model::failure::too_long);
}

TEST(model_waiting, a_bounded_spin_has_reached_its_bound_at_once) {
  EXPECT_EQ(failure_of([](model::execution&) {
              modelled::spin wait;
              model::expect(!wait.step(), "no step");
            }),
            model::failure::none);
}

// --- the exploration itself --------------------------------------------------------------------------------------

/// How many different executions the scenario has, by how they are reduced.
std::array<std::uint64_t, 3> executions_of(const model::scenario& scenario) {
  std::array<std::uint64_t, 3> out{};
  for (std::size_t i = 0; i < every_reduction.size(); ++i) {
    const model::report report = model::explore(scenario, with(every_reduction[i]));
    EXPECT_TRUE(report.holds()) << report.text();
    out[i] = report.executions;
  }
  return out;
}

using counts = std::array<std::uint64_t, 3>;

TEST(model_exploration, runs_what_commutes_in_one_order_only) {
  // Two threads of two operations: 4! / (2! 2!) ways to mix them.
  const auto two_and_two = [](bool same) {
    return [=](model::execution& run) {
      word x(0);
      word y(0);
      word& other = same ? x : y;
      run.threads(
          [&] {
            x.fetch_add(1, relaxed);
            x.fetch_add(1, relaxed);
          },
          [&] {
            other.fetch_add(1, relaxed);
            other.fetch_add(1, relaxed);
          });
    };
  };
  EXPECT_EQ(executions_of(two_and_two(false)), (counts{6, 1, 1}));
  EXPECT_EQ(executions_of(two_and_two(true)), (counts{6, 6, 6}));
}

TEST(model_exploration, runs_conflicting_operations_of_three_threads_in_all_orders) {
  EXPECT_EQ(executions_of([](model::execution& run) {
              word x(0);
              const auto add_one = [&] { x.fetch_add(1, relaxed); };
              run.threads(add_one, add_one, add_one);
            }),
            (counts{6, 6, 6}));
}

TEST(model_exploration, tells_a_load_before_a_store_from_one_that_reads_what_was_there) {
  // Load first, or store first and either value read; the first two are the same.
  EXPECT_EQ(executions_of([](model::execution& run) {
              word x(0);
              run.threads([&] { x.store(1, relaxed); }, [&] { static_cast<void>(x.load(relaxed)); });
            }),
            (counts{3, 2, 2}));
}

TEST(model_exploration, keeps_to_the_bound_on_preemptions) {
  // Two threads A and B of two operations each. AABB and BBAA interrupt nobody, ABBA and BAAB one, ABAB and BABA two.
  const auto with_bound = [](std::size_t preemptions) {
    model::options how;
    how.preemptions_max = preemptions;
    const model::report report = model::explore(
        [](model::execution& run) {
          word x(0);
          const auto add_two = [&] {
            x.fetch_add(1, relaxed);
            x.fetch_add(1, relaxed);
          };
          run.threads(add_two, add_two);
        },
        how);
    EXPECT_TRUE(report.holds()) << report.text();
    return report.executions;
  };
  EXPECT_EQ(with_bound(0), 2U);
  EXPECT_EQ(with_bound(1), 4U);
  EXPECT_EQ(with_bound(2), 6U);
}

TEST(model_exploration, says_that_it_is_not_complete_if_it_was_not) {
  model::options how;
  how.executions_max = 5;
  const model::report report = model::explore(
      [](model::execution& run) {
        word x(0);
        const auto add_one = [&] { x.fetch_add(1, relaxed); };
        run.threads(add_one, add_one, add_one);
      },
      how);
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.failed());
  EXPECT_FALSE(report.holds());
  EXPECT_EQ(report.executions + report.redundant, 5U);
}

TEST(model_exploration, of_two_threads_of_twelve_operations_each_is_complete) {
  // A ring of two places in miniature: the producer stores its position and reads the consumer's, and the other way
  // round.
  constexpr int items = model::is_instrumented ? 4 : 6;
  const model::report report = model::explore([](model::execution& run) {
    word tail(0);
    word head(0);
    std::array<room<model_cell<int>>, 2> places;
    run.threads(
        [&] {
          for (int i = 0; i < items; ++i) {
            modelled::spin wait;
            while (i - head.load(acquire) == 2) wait.pause();
            std::construct_at(places[static_cast<std::size_t>(i % 2)].at(), i);
            tail.store(i + 1, release);
          }
        },
        [&] {
          for (int i = 0; i < items; ++i) {
            modelled::spin wait;
            while (tail.load(acquire) == i) wait.pause();
            auto* const place = places[static_cast<std::size_t>(i % 2)].at();
            model::expect(place->get() == i, "in order");
            std::destroy_at(place);
            head.store(i + 1, release);
          }
        });
  });
  EXPECT_TRUE(report.holds()) << report.text();
  EXPECT_GT(report.executions, 100U);
}

TEST(model_exploration, runs_threads_again_after_they_have_ended) {
  EXPECT_EQ(outcomes_of([](model::execution& run) -> outcome {
              word x(0);
              model_cell<int> plain(0);
              int seen = -1;
              run.threads([&] { x.store(1, relaxed); }, [&] { plain.set(1); });
              model::expect(plain.get() == 1, "the scenario sees what its threads did");
              run.threads([&] { seen = x.load(relaxed); }, [&] { plain.set(2); });
              return {seen, plain.get()};
            }),
            (outcomes{{1, 2}}));
}

TEST(model_exploration, reports_an_exception_that_leaves_a_thread) {
  const model::report report = model::explore(
      [](model::execution& run) { run.threads([] { throw std::runtime_error("the disk is on fire"); }); });
  EXPECT_EQ(report.what, model::failure::exception);
  EXPECT_NE(report.message.find("the disk is on fire"), std::string::npos) << report.message;
}

TEST(model_exploration, lets_exceptions_be_caught_while_other_threads_throw) {
  EXPECT_EQ(failure_of([](model::execution& run) {
              word x(0);
              const auto throw_and_catch = [&](const char* mine) {
                try {
                  throw std::runtime_error(mine);
                } catch (const std::runtime_error&) {
                  // The other thread runs here, within our handler.
                  x.fetch_add(1, relaxed);
                  try {
                    throw;
                  } catch (const std::runtime_error& again) {
                    model::expect(std::string(again.what()) == mine, "the exception is this thread's");
                  }
                }
              };
              run.threads([&] { throw_and_catch("first"); }, [&] { throw_and_catch("second"); });
            }),
            model::failure::none);
}

TEST(model_exploration, notices_a_scenario_that_does_not_repeat_itself) {
  int runs = 0;
  const model::report report = model::explore([&](model::execution& run) {
    word x(0);
    word y(0);
    ++runs;
    run.threads([&] { (runs % 2 == 0 ? x : y).store(1, relaxed); }, [&] { x.store(2, relaxed); },
                [&] { y.store(2, relaxed); });
  });
  EXPECT_EQ(report.what, model::failure::not_repeatable) << report.text();
}

TEST(model_exploration, tells_what_led_to_a_failure) {
  const model::report report = model::explore([](model::execution& run) { pass_plain_data(run, relaxed, acquire); });
  EXPECT_EQ(report.message, "thread 2: data race: an item is read while another thread writes it");
  // Each line up to where its site begins: the item and the flag are the first of their kinds.
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < report.trace.size(); at = report.trace.find('\n', at) + 1) {
    const std::string line = report.trace.substr(at, report.trace.find('\n', at) - at);
    const std::size_t site = line.find("   weir/queue/testing/model_test.cc:");
    lines.push_back(line.substr(0, site));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"   1  scenario  i0 is made", "   2  scenario  a0 is made",
                                             "   3  thread 1  i0 is written", "   4  thread 1  a0 := 1 (store 1)",
                                             "   5  thread 2  a0 == 1 (store 1)", "   6  thread 2  i0 is read"}))
      << report.trace;
  EXPECT_NE(report.trace.find("store relaxed\n"), std::string::npos) << report.trace;
}

// --- reductions against none, on programs that nobody thought of --------------------------------------------------

/// A step of a random program, on one of two words.
struct random_step {
  unsigned what;
  std::size_t at;
  std::uint32_t value;
  std::memory_order load;
  std::memory_order store;
  std::memory_order both;
};

void perform(const random_step& step, std::array<tag, 2>& words, outcome& seen) {
  tag& mine = words[step.at];
  tag& other = words[1 - step.at];
  const auto see = [&](auto value) { seen.push_back(static_cast<int>(value)); };
  modelled::spin wait;
  switch (step.what) {
    case 0:
      see(mine.load(step.load));
      break;
    case 1:
      mine.store(step.value, step.store);
      break;
    case 2:
      see(mine.fetch_add(step.value, step.both));
      break;
    case 3:
      see(mine.exchange(step.value, step.both));
      break;
    case 4: {
      std::uint32_t expected = step.value % 2;
      see(mine.compare_exchange_strong(expected, step.value + 1, step.both, step.load));
      see(expected);
      break;
    }
    case 5: {
      std::uint32_t expected = step.value % 2;
      see(mine.compare_exchange_weak(expected, step.value + 1, step.both, step.load));
      see(expected);
      break;
    }
    case 6:
      if (mine.load(step.load) == 0) other.store(step.value, step.store);
      break;
    case 7:
      while (mine.load(step.load) == 0) wait.pause();
      break;
    case 8:
      while (mine.load(step.load) + other.load(relaxed) == 0) wait.pause();
      see(other.load(relaxed));
      break;
    case 9:
      modelled::wait(mine, 0);
      break;
    case 10:
      modelled::wake_one(mine);
      break;
    case 11:
      modelled::wake_all(mine);
      break;
    default:
      see(modelled::wait_until(mine, 0, 0));
      break;
  }
}

/// Explores random programs under every reduction. All must agree: on the failure if there is one, else on every
/// outcome. And both reductions must leave equally many executions: one of each kind.
void compare_reductions(std::uint32_t seed, std::size_t programs, std::size_t threads, std::size_t steps_max,
                        unsigned kinds) {
  if (model::is_instrumented) programs /= 8;
  std::mt19937 chance(seed);
  const auto draw = [&](std::size_t below) { return chance() % below; };
  std::size_t compared = 0;
  for (std::size_t number = 0; number < programs; ++number) {
    std::vector<std::vector<random_step>> program(threads);
    for (auto& thread : program) {
      thread.resize(1 + draw(steps_max));
      for (random_step& step : thread) {
        step.what = static_cast<unsigned>(draw(kinds));
        step.at = draw(2);
        step.value = static_cast<std::uint32_t>(1 + draw(3));
        step.load = draw(2) == 0 ? relaxed : acquire;
        step.store = draw(2) == 0 ? relaxed : release;
        step.both = std::array{relaxed, acquire, release, acq_rel}[draw(4)];
      }
    }
    std::array<outcomes, 3> found;
    std::array<model::report, 3> reports;
    for (std::size_t i = 0; i < every_reduction.size(); ++i) {
      model::options how = with(every_reduction[i]);
      how.executions_max = 4000;
      how.idle_wakes_max = number % 2;
      reports[i] = model::explore(
          [&](model::execution& run) {
            std::array<tag, 2> words;
            std::array<outcome, 3> seen;
            const auto body = [&](std::size_t thread) {
              return [&, thread] {
                for (const random_step& step : program[thread]) perform(step, words, seen[thread]);
              };
            };
            if (threads == 2) {
              run.threads(body(0), body(1));
            } else {
              run.threads(body(0), body(1), body(2));
            }
            outcome all;
            for (const outcome& each : seen) {
              all.insert(all.end(), each.begin(), each.end());
              all.push_back(-1);
            }
            for (const tag& each : words) all.push_back(static_cast<int>(each.load(relaxed)));
            found[i].insert(all);
          },
          how);
    }
    // Some programs have too many schedules to run each.
    if (!reports[0].failed() && !reports[0].complete) continue;
    ++compared;
    ASSERT_EQ(reports[0].what, reports[1].what) << "program " << number << "\n" << reports[0].text();
    ASSERT_EQ(reports[0].what, reports[2].what) << "program " << number << "\n" << reports[0].text();
    if (reports[0].failed()) continue;
    ASSERT_EQ(found[0], found[1]) << "program " << number;
    ASSERT_EQ(found[0], found[2]) << "program " << number;
    ASSERT_EQ(reports[1].executions, reports[2].executions) << "program " << number;
  }
  EXPECT_GT(compared, programs / 2);
}

TEST(model_reductions, lose_nothing_of_two_threads) { compare_reductions(1, 200, 2, 4, 9); }
TEST(model_reductions, lose_nothing_of_three_threads) { compare_reductions(2, 60, 3, 2, 9); }
TEST(model_reductions, lose_nothing_of_two_threads_that_sleep) { compare_reductions(3, 200, 2, 4, 13); }
TEST(model_reductions, lose_nothing_of_three_threads_that_sleep) { compare_reductions(4, 60, 3, 2, 13); }

TEST(model_reductions, lose_nothing_where_a_loop_goes_round_in_vain) {
  // The last round of thread 2 may read the old x and the new y; that is not found behind a round that reads both old
  // ones, which is cut off, but only beside it.
  const counts found = executions_of([](model::execution& run) {
    word x(0);
    word y(0);
    run.threads([&] { x.store(2, release); },
                [&] {
                  // Made anew in each round: then a round is recognised only when it is over.
                  while (x.load(relaxed) + y.load(relaxed) == 0) modelled::spin().pause();
                  static_cast<void>(x.load(relaxed));
                  int expected = 0;
                  y.compare_exchange_strong(expected, 3, acq_rel, relaxed);
                },
                [&] { y.fetch_add(1, release); });
  });
  EXPECT_EQ(found[1], found[2]);
}

// --- weakening ---------------------------------------------------------------------------------------------------

TEST(model_weakening, finds_the_orders_that_nothing_needs) {
  const auto needed = [](model::execution& run) {
    model_cell<int> data(0);
    word flag(0);
    word other(0);
    run.threads(
        [&] {
          data.set(1);
          other.store(1, release);  // not needed
          flag.store(1, release);
        },
        [&] {
          if (flag.load(acquire) == 1) model::expect(data.get() == 1, "the message is whole");
        });
  };
  const model::weaken_report report = model::weaken_each({needed});
  EXPECT_EQ(report.killed, 2U);
  ASSERT_EQ(report.survivors.size(), 1U) << report.text();
  EXPECT_EQ(report.survivors[0].find("weir/queue/testing/model_test.cc:"), 0U) << report.text();
  EXPECT_NE(report.survivors[0].find("store release -- weakened to relaxed"), std::string::npos) << report.text();
  EXPECT_FALSE(report.all_needed());
}

TEST(model_weakening, tries_both_halves_of_a_read_modify_write_and_the_order_of_a_failure) {
  const auto fail_and_acquire = [](model::execution& run) {
    model_cell<int> first(0);
    word turn(0);
    run.threads(
        [&] {
          first.set(1);
          turn.store(3, release);
        },
        [&] {
          int expected = 1;
          turn.compare_exchange_strong(expected, 2, acq_rel, acquire);
          if (expected == 3) model::expect(first.get() == 1, "the question is whole");
        });
  };
  const model::weaken_report report = model::weaken_each({fail_and_acquire});
  // The release store and the failure's acquire are needed; the success, which never comes, needs no order.
  EXPECT_EQ(report.killed, 2U) << report.text();
  EXPECT_EQ(report.survivors.size(), 3U) << report.text();
}

TEST(model_weakening, is_satisfied_where_every_order_is_needed) {
  const auto lock_and_add = [](model::execution& run) {
    word taken(0);
    model_cell<int> sum(0);
    const auto add_one = [&] {
      modelled::spin wait;
      while (taken.exchange(1, acquire) == 1) wait.pause();
      sum.set(sum.get() + 1);
      taken.store(0, release);
    };
    run.threads(add_one, add_one);
  };
  const auto last_one_frees = [](model::execution& run) {
    auto* const count = new word(2);
    const auto leave = [=] {
      if (count->fetch_sub(1, acq_rel) == 1) delete count;
    };
    run.threads(leave, leave);
  };
  const model::weaken_report report = model::weaken_each({lock_and_add, last_one_frees});
  EXPECT_TRUE(report.all_needed()) << report.text();
  EXPECT_EQ(report.killed, 5U);
}

TEST(model_weakening, only_looks_where_it_is_told_to) {
  const auto unneeded = [](model::execution&) {
    word x(0);
    x.store(1, release);
  };
  EXPECT_EQ(model::weaken_each({unneeded}, "model_test.cc").survivors.size(), 1U);
  EXPECT_TRUE(model::weaken_each({unneeded}, "spsc_ring.h").survivors.empty());
}

TEST(model_weakening, does_not_begin_with_a_scenario_that_fails_as_it_is) {
  const model::weaken_report report =
      model::weaken_each({[](model::execution&) { model::expect(1 + 1 == 3, "arithmetic is off"); }});
  EXPECT_NE(report.broken.find("arithmetic is off"), std::string::npos) << report.broken;
  EXPECT_FALSE(report.all_needed());
}

}  // namespace
}  // namespace weir::queue::testing
