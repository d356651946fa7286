#pragma once

// Round trips between two processors, and the shortest there is: one cache line there and back. How long that takes says how
// quick the machine is just now, so it is the calibration of every figure of two threads.

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include <weir/queue/separation.h>

#include "cells.h"
#include "measure.h"

namespace weir::bench {

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

inline double line_round_trips(std::uint64_t count) {
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

inline void add_calibration(cells& to) {
  to.push_back({"calibration", "limit", "a cache line there and back", "ns", nanoseconds_each(line_round_trips)});
}

}  // namespace weir::bench
