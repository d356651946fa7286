#pragma once

// What all cells of this benchmark measure with: time, places for threads, values the compiler must not see through.

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <weir/queue/separation.h>
#include <weir/queue/spin.h>

namespace weir::bench {

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}

/// Ends the program: a run that lost, repeated or changed an item is no result.
[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "bench: %s\n", what);
  std::exit(1);
}

/// Makes the compiler believe that somebody else reads and writes the object here: it must be in memory, and whatever
/// was known of it is forgotten. Once per operation, as JMH's black hole does between two calls of a method.
template <class T>
inline void escape(T& object) {
  asm volatile("" : : "r"(std::addressof(object)) : "memory");
}

/// Makes the compiler believe that the value is used.
template <class T>
inline void sink(const T& value) {
  asm volatile("" : : "r"(value));
}

/// Puts the calling thread on one processor; where there is no such processor, anywhere.
inline void pin_to(unsigned cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  if (::pthread_setaffinity_np(::pthread_self(), sizeof only, &only) != 0) ::sched_yield();
}

/// What a side does when its queue refuses, the same for every queue: a pause, and now and then the processor for
/// somebody else. With more threads than processors, often: what we wait for may have none.
class patience {
 public:
  explicit patience(bool crowded) : yield_every_(crowded ? 8 : 64) {}

  void pause() {
    if (++times_ % yield_every_ == 0) {
      ::sched_yield();
    } else {
      queue::relax();
    }
  }

 private:
  unsigned yield_every_;
  unsigned times_ = 0;
};

/// Where threads wait until all are there; spinning, so that they leave within a few hundred nanoseconds of each other.
class start_line {
 public:
  explicit start_line(unsigned threads) : missing_(threads) {}

  void arrive_and_wait() {
    missing_.fetch_sub(1, std::memory_order_acq_rel);
    patience waiting(true);
    while (missing_.load(std::memory_order_acquire) != 0) waiting.pause();
  }

 private:
  alignas(queue::separation) std::atomic<unsigned> missing_;
};

/// From when the first of several threads began to when the last one ended, each by its own clock reading: whoever only
/// waits for them may be given a processor late.
class stopwatch {
 public:
  explicit stopwatch(std::size_t threads) : laps_(threads) {}

  /// Runs `work` as thread number `thread`.
  template <class Work>
  void time(std::size_t thread, Work&& work) {
    laps_[thread].began = clock::now();
    work();
    laps_[thread].ended = clock::now();
  }

  [[nodiscard]] double seconds() const {
    lap all = laps_.front();
    for (const lap& one : laps_) {
      all.began = std::min(all.began, one.began);
      all.ended = std::max(all.ended, one.ended);
    }
    return std::chrono::duration<double>(all.ended - all.began).count();
  }

 private:
  struct alignas(queue::separation) lap {
    clock::time_point began;
    clock::time_point ended;
  };
  std::vector<lap> laps_;
};

/// Calls `run(count)`, which says how many seconds it took, with growing counts; the last one takes about as long as
/// asked. Returns count / seconds of that one.
///   count_min   the least worth running; the only one when no time is asked for.
template <class Run>
double rate(double seconds, std::uint64_t count_min, Run&& run) {
  std::uint64_t count = count_min;
  for (;;) {
    const double took = run(count);
    if (took >= seconds * 0.6) return static_cast<double>(count) / took;
    // The first runs are slow (cold caches, threads that start), so the count grows by steps.
    const double factor = took > 0 ? seconds / took : 16;
    count = static_cast<std::uint64_t>(static_cast<double>(count) * (factor < 1.5 ? 1.5 : factor > 16 ? 16 : factor));
  }
}

}  // namespace weir::bench
