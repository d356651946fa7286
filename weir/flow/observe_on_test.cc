#include <weir/flow/observe_on.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/chunks.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;
using testing::item;
using testing::manual_executor;
using testing::outcome;
using testing::pending;
using testing::script;

TEST(observe_on, conforms) {
  for (const std::size_t capacity : {1u, 2u, 64u}) {
    manual_executor there;
    const auto complaint =
        testing::conforms([&](script from) { return std::move(from) | observe_on(there, {capacity}); },
                          [](const std::vector<int>& numbers, step end) {
                            return outcome{numbers, end};
                          },
                          {.settle = [&](testing::stage& on) {
                            do {
                              there.run_all();
                              on.fire();
                            } while (!there.idle());
                          }});
    EXPECT_EQ(complaint, "") << capacity;
  }
}

TEST(observe_on, two_hops_in_a_row_conform) {
  manual_executor near;
  manual_executor far;
  const auto complaint =
      testing::conforms([&](script from) { return std::move(from) | observe_on(far, {2}) | observe_on(near, {1}); },
                        [](const std::vector<int>& numbers, step end) {
                          return outcome{numbers, end};
                        },
                        {.settle =
                             [&](testing::stage& on) {
                               do {
                                 far.run_all();
                                 near.run_all();
                                 on.fire();
                               } while (!far.idle() || !near.idle());
                             },
                         .items_max = 2});
  EXPECT_EQ(complaint, "");
}

TEST(observe_on, pulls_upstream_there_and_gives_items_here) {
  worker there("there");
  bool pulled_there = true;
  long sum = 0;
  const auto here = std::this_thread::get_id();
  ASSERT_TRUE(range(0, 10'000) | map([&](int i) {
                pulled_there = pulled_there && there.is_this_thread();
                return i;
              }) |
              observe_on(there) | for_each([&](int i) {
                sum += i;
                ASSERT_EQ(std::this_thread::get_id(), here);
              }));
  EXPECT_TRUE(pulled_there);
  EXPECT_EQ(sum, 10'000L * 9'999 / 2);
}

TEST(observe_on, begins_nothing_before_its_first_pull) {
  manual_executor there;
  { auto flow = range(0, 3) | observe_on(there); }
  EXPECT_TRUE(there.idle());
}

TEST(observe_on, is_ahead_of_its_consumer_by_its_ring_at_most) {
  manual_executor there;
  int made = 0;
  auto flow = range(0, 1'000'000) | map([&](int i) { return ++made, i; }) | observe_on(there, {16});
  error failure;
  context cx({}, failure);
  std::size_t demand = 1;
  ASSERT_EQ(flow.pull(
                demand, [](int&&) {}, cx),
            step::pending);
  there.run_all();
  EXPECT_EQ(made, 16);
  // Below half of the ring free, it is not worth waking the producer; at half it is.
  for (int taken = 1; taken <= 8; ++taken) {
    EXPECT_TRUE(there.idle());
    demand = 1;
    ASSERT_EQ(flow.pull(
                  demand, [](int&&) {}, cx),
              step::more);
  }
  EXPECT_FALSE(there.idle());
  there.run_all();
  EXPECT_EQ(made, 24);
}

TEST(observe_on, has_a_ring_of_64_kib_at_most) {
  EXPECT_EQ(detail::hop_capacity<int>({}), 8192u);
  EXPECT_EQ(detail::hop_capacity<char>({}), 8192u);
  EXPECT_EQ((detail::hop_capacity<std::array<char, 24>>({})), 2048u);
  EXPECT_EQ((detail::hop_capacity<std::array<char, 1'000'000>>({})), 2u);
  EXPECT_EQ(detail::hop_capacity<int>({100}), 100u);
}

TEST(observe_on, passes_a_single_item_on_at_once_when_upstream_is_pending) {
  testing::stage on;  // outlives the executor, which destroys the script
  manual_executor there;
  auto flow = script({item(1), pending(), item(2)}, on) | observe_on(there);
  error failure;
  int wakes = 0;
  context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
  std::size_t demand = 10;
  ASSERT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::pending);
  there.run_all();
  EXPECT_EQ(wakes, 1);
  std::vector<int> seen;
  ASSERT_EQ(flow.pull(
                demand, [&](counted&& of) { seen.push_back(of.number()); }, cx),
            step::pending);
  EXPECT_EQ(seen, (std::vector<int>{1}));
}

TEST(observe_on, gives_up_the_executor_after_a_bounded_number_of_items) {
  manual_executor there;
  int made = 0;
  auto flow = range(0, 1'000'000) | map([&](int i) { return ++made, i; }) | observe_on(there, {1 << 16});
  error failure;
  context cx({}, failure);
  std::size_t demand = 1;
  ASSERT_EQ(flow.pull(
                demand, [](int&&) {}, cx),
            step::pending);
  ASSERT_TRUE(there.run_one());
  EXPECT_EQ(made, 4096);
  EXPECT_FALSE(there.idle()) << "it has posted itself again";
}

TEST(observe_on, carries_a_failure_after_the_items_before_it) {
  worker there;
  std::vector<int> seen;
  const auto outcome = range(0, 5) | map([](int i) {
                         if (i == 3) throw std::runtime_error("three");
                         return i;
                       }) |
                       observe_on(there) | for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::threw);
  EXPECT_EQ(outcome.error().message, "three");
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

/// An item source that says on which thread it was destroyed.
class tracked {
 public:
  using value_type = int;
  tracked(const worker& expected, std::atomic<int>& destroyed_there)
      : expected_(&expected), destroyed_there_(&destroyed_there) {}
  tracked(tracked&& other) noexcept
      : expected_(other.expected_), destroyed_there_(std::exchange(other.destroyed_there_, nullptr)) {}
  tracked& operator=(tracked&&) = delete;
  ~tracked() {
    if (destroyed_there_ && expected_->is_this_thread()) ++*destroyed_there_;
  }
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    for (; demand != 0; --demand) emit(1);
    return step::more;
  }

 private:
  const worker* expected_;
  std::atomic<int>* destroyed_there_;
};

// The consumer leaves an endless flow at many different moments, with the producer wherever it happens to be.
TEST(observe_on, may_be_destroyed_at_any_moment_and_destroys_upstream_there) {
  std::atomic<int> destroyed_there{0};
  constexpr int rounds = 500;
  {
    worker there;
    for (int round = 0; round < rounds; ++round) {
      const auto outcome = tracked(there, destroyed_there) | observe_on(there, {64}) |
                           take(static_cast<std::size_t>(round) + 1) | for_each([](int) {});
      ASSERT_TRUE(outcome);
    }
  }
  EXPECT_EQ(destroyed_there.load(), rounds);
}

TEST(observe_on, frees_every_item_when_it_is_destroyed_at_any_moment) {
  const life_balance lives;
  {
    worker there;
    for (std::size_t round = 1; round <= 300; ++round) {
      std::size_t seen = 0;
      ASSERT_TRUE(range(0, 10'000'000) | map([](int i) { return counted(i); }) | observe_on(there, {32}) | take(round) |
                  for_each([&](counted&&) { ++seen; }));
      ASSERT_EQ(seen, round);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// R7 under fire: the target of the consumer's waker is freed right after the flow, while the producer may be calling it.
TEST(observe_on, when_it_is_destroyed_its_consumers_waker_is_called_no_more) {
  worker there;
  struct consumer {
    std::atomic<int> wakes{0};
    static void wake(void* target) noexcept { ++static_cast<consumer*>(target)->wakes; }
  };
  for (int round = 0; round < 3'000; ++round) {
    auto me = std::make_unique<consumer>();
    error failure;
    {
      auto flow = range(0, 1'000) | observe_on(there, {8});
      context cx(waker(&consumer::wake, me.get()), failure);
      std::size_t demand = 4;
      (void)flow.pull(
          demand, [](int&&) {}, cx);
      for (int i = 0; i < round % 50; ++i) queue::relax();
    }
    me.reset();
  }
}

// What the withdrawn batching of a well-known merge lost and starved: two sources behind thread hops, merged, and a consumer
// that is slower than both.
TEST(observe_on, two_merged_hops_and_a_slow_consumer_lose_and_double_nothing) {
  constexpr int each = 100'000;
  worker first("first");
  worker second("second");
  const auto source = [](int name) { return range(0, each) | map([name](int i) { return i * 2 + name; }); };
  for (int run = 0; run < 5; ++run) {
    std::array<int, 2> next{0, 0};
    bool in_order = true;
    const auto outcome = merge(source(0) | observe_on(first), source(1) | observe_on(second)) | for_each([&](int item) {
                           const auto from = static_cast<std::size_t>(item % 2);
                           in_order = in_order && item / 2 == next[from]++;
                           if (item % 8 == 0) queue::relax();
                         });
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(in_order);
    EXPECT_EQ(next, (std::array{each, each}));
  }
}

// The same without threads, so that how long a source waits is the merge's doing alone: whenever both have items, none waits
// for more than one quantum of the other.
TEST(observe_on, two_merged_hops_and_a_slow_consumer_starve_no_source) {
  constexpr int each = 100'000;
  constexpr std::size_t quantum = limits::merge_quantum;
  for (const std::size_t portion : {1u, 7u, 1000u, 5000u}) {
    manual_executor first;
    manual_executor second;
    const auto source = [](int name) { return range(0, each) | map([name](int i) { return i * 2 + name; }); };
    auto flow = merge(source(0) | observe_on(first), source(1) | observe_on(second));
    error failure;
    context cx({}, failure);
    std::array<int, 2> seen{0, 0};
    std::array<std::size_t, 2> waits{0, 0};
    std::size_t longest = 0;
    for (step why = step::more; why != step::done;) {
      std::size_t demand = portion;
      why = flow.pull(
          demand,
          [&](int&& item) {
            const auto from = static_cast<std::size_t>(item % 2);
            ++seen[from];
            waits[from] = 0;
            // Once a source is used up, nobody waits for it.
            if (seen[1 - from] < each) longest = std::max(longest, ++waits[1 - from]);
          },
          cx);
      first.run_all();
      second.run_all();
    }
    EXPECT_EQ(seen, (std::array{each, each}));
    // In one pull a ring can run empty, and its source is then worked off to the other's ring: two quanta and no more.
    EXPECT_LE(longest, 2 * quantum) << portion;
  }
}

TEST(observe_on, many_hops_share_few_workers) {
  worker one("one");
  worker two("two");
  std::vector<any_flow<int>> flows;
  for (int i = 0; i < 100; ++i) {
    flows.emplace_back(range(0, 1'000) | observe_on(i % 2 ? one : two, {64}));
  }
  long sum = 0;
  ASSERT_TRUE(merge(std::move(flows)) | for_each([&](int i) { sum += i; }));
  EXPECT_EQ(sum, 100L * 1'000 * 999 / 2);
}

TEST(subscribe_on, is_the_same_hop) {
  worker there;
  EXPECT_EQ(*to_vector(range(0, 3) | subscribe_on(there)), (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace weir::flow
