// How long an item takes there and back: two queues, two threads that spin, one item under way. And what the two
// processors need for that at least: one cache line there and back, also the calibration of every two-thread figure.

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "cells.h"
#include "items.h"
#include "measure.h"
#include "peers.h"
#include "weir_queues.h"

namespace weir::bench {
namespace {

constexpr std::size_t ring_items = 1024;

/// Waits without a pause, which would round every crossing up to its own length; gives the processor away only where
/// nobody could have answered.
template <class Try>
inline void spin_until(Try&& attempt) {
  for (unsigned times = 1; !attempt(); ++times) {
    if (times % 65536 == 0) ::sched_yield();
  }
}

/// Seconds for `count` round trips between this thread's `there` and another's `echo`.
template <class There, class Echo>
double time_two(There&& there, Echo&& echo) {
  start_line line(2);
  std::thread other([&] {
    pin_to(1);
    line.arrive_and_wait();
    echo();
  });
  double took = 0;
  std::thread one([&] {
    pin_to(0);
    line.arrive_and_wait();
    const auto began = clock::now();
    there();
    took = seconds_since(began);
  });
  one.join();
  other.join();
  return took;
}

template <template <class> class Queue, class Item>
double run(std::uint64_t count) {
  using T = typename Item::type;
  using queue_type = Queue<T>;
  queue_type there(ring_items), back(ring_items);
  std::uint64_t sum = 0;
  const double took = time_two(
      [&] {
        typename queue_type::producer out(there);
        typename queue_type::consumer in(back);
        for (std::uint64_t number = 0; number < count; ++number) {
          T item = Item::make(number);
          spin_until([&] { return out.push(std::move(item)); });
          spin_until([&] { return in.pop(item); });
          if (Item::value(item) != Item::value_of_number(number)) fail("round trip: another item came back");
          sum += Item::value(item);
        }
      },
      [&] {
        typename queue_type::consumer in(there);
        typename queue_type::producer out(back);
        for (std::uint64_t number = 0; number < count; ++number) {
          T item{};
          spin_until([&] { return in.pop(item); });
          spin_until([&] { return out.push(std::move(item)); });
        }
      });
  if (sum != expected_sum<Item>(count)) fail("round trip: what came back is not what went out");
  return took;
}

double line_round_trips(std::uint64_t count) {
  alignas(queue::separation) std::atomic<std::uint64_t> there{0};
  alignas(queue::separation) std::atomic<std::uint64_t> back{0};
  return time_two(
      [&] {
        for (std::uint64_t number = 1; number <= count; ++number) {
          there.store(number, std::memory_order_release);
          spin_until([&] { return back.load(std::memory_order_acquire) == number; });
        }
      },
      [&] {
        for (std::uint64_t number = 1; number <= count; ++number) {
          spin_until([&] { return there.load(std::memory_order_acquire) == number; });
          back.store(number, std::memory_order_release);
        }
      });
}

template <class Run>
std::function<double(double)> nanoseconds_each(Run run) {
  return [run](double seconds) { return 1e9 / rate(seconds, 1 << 10, run); };
}

template <template <class> class Queue>
void add(cells& to, const std::string& who) {
  to.push_back({"round trip u64", "one", who, "ns", nanoseconds_each(run<Queue, number_item>)});
  to.push_back({"round trip pointer", "one", who, "ns", nanoseconds_each(run<Queue, pointer_item>)});
}

}  // namespace

void add_round_trip(cells& to) {
  add<weir_spsc_ring>(to, "weir.spsc_ring");
  add<weir_spsc_chain>(to, "weir.spsc_chain");
  add<weir_mpsc_ring>(to, "weir.mpsc_ring");
  add<weir_spmc_ring>(to, "weir.spmc_ring");
#if WEIR_BENCH_BOOST
  add<boost_spsc>(to, "boost spsc_queue");
  add<boost_queue>(to, "boost queue");
#endif
#if WEIR_BENCH_READERWRITERQUEUE
  add<reader_writer_queue>(to, "moodycamel ReaderWriterQueue");
#endif
#if WEIR_BENCH_CONCURRENTQUEUE
  add<concurrent_queue>(to, "moodycamel ConcurrentQueue");
#endif
#if WEIR_BENCH_TBB
  add<tbb_bounded_queue>(to, "TBB concurrent_bounded_queue");
#endif
}

void add_calibration(cells& to) {
  to.push_back({"calibration", "limit", "a cache line there and back", "ns", nanoseconds_each(line_round_trips)});
}

}  // namespace weir::bench
