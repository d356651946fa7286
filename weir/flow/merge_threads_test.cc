// merge with sources on threads of their own and a consumer that is slower than they are: where RxJava lost requests
// (ReactiveX/RxJava #1941) or let one source wait for the end of the other.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>
#include <weir/queue/spin.h>

namespace weir::flow {
namespace {

struct from_source {
  std::size_t source;
  int number;
};

// 40 times 200,000 items. Nothing is lost, doubled or out of order; and a source that has items ready waits for no more than a
// quantum of the other and what that one has begun: how many are ready is counted on the sources' threads.
TEST(merge_threads, of_two_sources_with_a_slow_consumer_starves_none_and_loses_nothing) {
  constexpr int each = 100'000;
  constexpr int quantum = 256;
  constexpr int unpublished_max = 256;  // what a hop may have made and not handed over yet
  std::array<worker, 2> workers;
  for (int round = 0; round < 40; ++round) {
    std::array<std::atomic<int>, 2> made{};
    const auto source = [&](std::size_t which) {
      return range(0, each) | map([&made, which](int number) {
               made[which].fetch_add(1, std::memory_order_relaxed);
               return from_source{which, number};
             }) |
             observe_on(workers[which]);
    };
    std::vector<decltype(source(0))> sources;
    sources.push_back(source(0));
    sources.push_back(source(1));
    std::array<int, 2> taken{};
    std::array<int, 2> waited{};  // items of the other since the last own, while some of the own were ready
    int waited_max = 0;
    bool in_order = true;
    const auto end = merge(std::move(sources), quantum) | for_each([&](from_source item) {
                       const std::size_t other = 1 - item.source;
                       in_order = in_order && item.number == taken[item.source];
                       ++taken[item.source];
                       waited[item.source] = 0;
                       const int ready = made[other].load(std::memory_order_relaxed) - taken[other];
                       waited[other] = ready > unpublished_max ? waited[other] + 1 : 0;
                       waited_max = std::max(waited_max, waited[other]);
                       for (int i = 0; i < 4; ++i) queue::relax();
                     });
    ASSERT_TRUE(end);
    ASSERT_TRUE(in_order);
    ASSERT_EQ(taken, (std::array<int, 2>{each, each}));
    ASSERT_LE(waited_max, 2 * quantum);
  }
}

// The defect of request batching: demand that is handed on while a source is busy, and forgotten. Here a consumer asks for one,
// two, three … items at a time while both sources run.
TEST(merge_threads, forgets_no_demand_however_little_is_asked_for_while_sources_are_busy) {
  constexpr int each = 20'000;
  std::array<worker, 2> workers;
  for (std::size_t asked_max = 1; asked_max <= 7; ++asked_max) {
    queue::park_point sleeper;
    error failure;
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    auto flow = merge(range(0, each) | observe_on(workers[0], {.capacity = 16}),
                      range(0, each) | observe_on(workers[1], {.capacity = 64}));
    context cx(waker(&queue::park_point::wake_target, &sleeper), failure);
    for (std::size_t turn = 0;; ++turn) {
      std::size_t demand = 1 + turn % asked_max;
      const step why = flow.pull(
          demand,
          [&](int&& item) {
            ++count;
            sum += static_cast<std::uint64_t>(item);
          },
          cx);
      if (is_final(why)) {
        ASSERT_EQ(why, step::done);
        break;
      }
      if (why == step::pending) sleeper.wait();
    }
    ASSERT_EQ(count, 2u * each);
    ASSERT_EQ(sum, 2 * (std::uint64_t{each} * (each - 1) / 2));
  }
}

}  // namespace
}  // namespace weir::flow
