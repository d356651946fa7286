// The rows with threads: OperatorMergePerf's asynchronous ones, and OperatorObserveOnPerf.
//
//     mergeTwoAsyncStreamsOfN   two flows of N, each on a worker of its own
//     mergeNAsyncStreamsOfN     N flows of N, shared out among as many workers as there are processors
//     observeOn                 one flow of N from a worker to this thread
//
// The consumer is the calling thread, which sleeps where it has to. Workers are made before, as computation() is.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>
#include <weir/queue/park_point.h>
#include <weir/queue/spsc_ring.h>

#include "flow_cells.h"

#if WEIR_BENCH_TBB
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#endif

namespace weir::bench {
namespace {

using workers = std::array<flow::worker, 2>;

template <class Flow>
void consume(Flow from, std::uint64_t count, std::uint64_t sum) {
  consumer take;
  const auto end = flow::for_each(std::move(from), [&take](int item) { take(item); });
  if (!end) fail("a flow failed");
  take.expect(count, sum);
}

/// `assemble(workers, n)` makes the flow of one operation.
template <class Assemble>
void add(cells& to, const std::string& group, const char* who, int n, std::uint64_t count, std::uint64_t sum,
         Assemble assemble) {
  to.push_back({group, "one", who, "/s", [=](double seconds) {
                  workers on;
                  return operations_per_second(seconds, [&] { consume(assemble(on, n), count, sum); });
                }});
}

void add_two(cells& to, int n) {
  const auto each = static_cast<std::uint64_t>(n);
  add(to, "mergeTwoAsyncStreamsOfN " + std::to_string(n), "weir.merge", n, 2 * each, 2 * sum_below(each),
      [](workers& on, int m) {
        return flow::merge(flow::range(0, m) | flow::observe_on(on[0]), flow::range(0, m) | flow::observe_on(on[1]));
      });
}

void add_many(cells& to, int n) {
  const auto each = static_cast<std::uint64_t>(n);
  add(to, "mergeNAsyncStreamsOfN " + std::to_string(n), "weir.merge", n, each * each, each * sum_below(each),
      [](workers& on, int m) {
        return flow::merge(flow::range(0, m) | flow::map([&on, m](int i) {
                             return flow::range(0, m) | flow::observe_on(on[static_cast<std::size_t>(i) % on.size()]);
                           }));
      });
}

/// What two threads can do that know each other: a thread that was made before fills a ring, and this one empties it, in
/// batches of 256; both spin a while, then sleep.
double by_hand(double seconds, int n) {
  queue::spsc_ring<int> ring(8192);
  queue::park_point items, room, work;
  bool over = false;
  std::thread producer([&] {
    for (;;) {
      work.wait();
      if (over) return;
      for (int next = 0; next < n;) {
        const std::span<int> places = ring.prepare(256).first;
        if (places.empty()) {
          room.wait();
          continue;
        }
        std::size_t count = 0;
        for (; count < places.size() && next < n; ++count) std::construct_at(&places[count], next++);
        ring.commit(count);
        items.wake();
      }
    }
  });
  const double result = operations_per_second(seconds, [&] {
    consumer take;
    work.wake();
    for (int left = n; left != 0;) {
      const std::span<int> some = ring.readable(256).first;
      if (some.empty()) {
        items.wait();
        continue;
      }
      for (const int item : some) take(item);
      ring.release(some.size());
      room.wake();
      left -= static_cast<int>(some.size());
    }
    take.expect(static_cast<std::uint64_t>(n), sum_below(static_cast<std::uint64_t>(n)));
  });
  over = true;
  work.wake();
  producer.join();
  return result;
}

#if WEIR_BENCH_TBB
/// Two stages of a pipeline, batches of 256 in a vector of one's own as users of TBB do it.
double tbb_pipeline(double seconds, int n) {
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 2);
  return operations_per_second(seconds, [n] {
    consumer take;
    int next = 0;
    tbb::parallel_pipeline(
        4, tbb::make_filter<void, std::shared_ptr<std::vector<int>>>(tbb::filter_mode::serial_in_order,
                                                                     [&](tbb::flow_control& control) {
                                                                       auto batch =
                                                                           std::make_shared<std::vector<int>>();
                                                                       if (next == n) {
                                                                         control.stop();
                                                                         return batch;
                                                                       }
                                                                       batch->reserve(256);
                                                                       while (next < n && batch->size() < 256)
                                                                         batch->push_back(next++);
                                                                       return batch;
                                                                     }) &
               tbb::make_filter<std::shared_ptr<std::vector<int>>, void>(
                   tbb::filter_mode::serial_in_order, [&](const std::shared_ptr<std::vector<int>>& batch) {
                     for (const int item : *batch) take(item);
                   }));
    take.expect(static_cast<std::uint64_t>(n), sum_below(static_cast<std::uint64_t>(n)));
  });
}
#endif

void add_observe_on(cells& to, int n) {
  const std::string group = "observeOn " + std::to_string(n);
  const auto count = static_cast<std::uint64_t>(n);
  add(to, group, "weir.observe_on", n, count, sum_below(count),
      [](workers& on, int m) { return flow::range(0, m) | flow::observe_on(on[0]); });
  to.push_back({group, "limit", "two threads and a ring", "/s", [n](double seconds) { return by_hand(seconds, n); }});
#if WEIR_BENCH_TBB
  to.push_back(
      {group, "one", "TBB pipeline of vectors", "/s", [n](double seconds) { return tbb_pipeline(seconds, n); }});
#endif
}

/// The batch between two threads, from item by item to all at once: what upstream gives in one pull.
void add_batches(cells& to) {
  constexpr int n = 100'000;
  for (const std::size_t ring : {2U, 16U, 128U, 1024U, 8192U}) {
    add(to, "observeOn 100000, ring of " + std::to_string(ring), "weir.observe_on", n, n, sum_below(n),
        [ring](workers& on, int m) { return flow::range(0, m) | flow::observe_on(on[0], {.capacity = ring}); });
  }
}

}  // namespace

void add_hops(cells& to) {
  for (const int n : {1, 1000}) add_two(to, n);
  for (const int n : {1, 1000}) add_many(to, n);
  for (const int n : {1, 1000, 1'000'000}) add_observe_on(to, n);
  add_batches(to);
}

}  // namespace weir::bench
