#pragma once

#include <sched.h>

namespace weir::queue {

/// One processor's hint that a loop waits for another processor.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// A bounded wait before parking: about 5 µs, a fifth of what it costs to wake a parked thread. Every eighth step gives
/// the processor away, because whoever we wait for may need it: without that, two busy threads on one processor
/// wait for each other a whole time slice at a time.
///   Threads  confined.
class spin {
 public:
  static constexpr unsigned steps_max = 64;

  /// Waits a little and returns true; false once the bound is reached.
  bool step() noexcept {
    if (steps_ == steps_max) return false;
    pause();
    return true;
  }

  /// Waits a little, without a bound: only for what another thread finishes in a few instructions.
  void pause() noexcept {
    if (++steps_ % 8 == 0) {
      ::sched_yield();
    } else {
      relax();
    }
  }

 private:
  unsigned steps_ = 0;
};

}  // namespace weir::queue
