#pragma once

#include <atomic>
#include <cstdint>

#include <weir/queue/parking.h>
#include <weir/queue/spin.h>

namespace weir::queue {

/// Where one thread sleeps until another wakes it. A wake that comes first is kept (one, not a count), so none is lost.
///   Threads  roles: one thread waits; any thread wakes.
///   Waits    wait() spins for about 5 µs and then sleeps in the operating system.
///   Cost     wake: one exchange; a system call only if the other thread really sleeps (some 9 µs then, so wake once
///            per batch).
class park_point {
 public:
  park_point() = default;
  park_point(const park_point&) = delete;
  park_point& operator=(const park_point&) = delete;

  /// Returns after a wake that no wait has taken yet; everything its caller did before it is visible.
  void wait() noexcept {
    spin before_sleep;
    while (!take()) {
      if (before_sleep.step()) continue;
      std::uint32_t expected = quiet;
      if (word_.compare_exchange_strong(expected, sleeping, std::memory_order_acq_rel, std::memory_order_acquire)) {
        word_.wait(sleeping, std::memory_order_acquire);
      }
    }
  }

  /// Lets the wait under way, or else the next one, return.
  void wake() noexcept {
    // Partner: the exchange in take, or the failed compare-exchange before sleeping.
    if (word_.exchange(woken, std::memory_order_acq_rel) == sleeping) word_.notify_one();
  }

  /// The same as an action, for parking and for wakers. The target is this object.
  static void wake_target(void* target) noexcept { static_cast<park_point*>(target)->wake(); }
  [[nodiscard]] wake_action action() noexcept { return {&wake_target, this}; }

 private:
  static constexpr std::uint32_t quiet = 0;
  static constexpr std::uint32_t sleeping = 1;
  static constexpr std::uint32_t woken = 2;

  bool take() noexcept {
    if (word_.load(std::memory_order_relaxed) != woken) return false;
    // Partner: the exchange in wake. Only the waiting thread leaves `woken`, so the value is still that.
    word_.exchange(quiet, std::memory_order_acq_rel);
    return true;
  }

  std::atomic<std::uint32_t> word_{quiet};
};

}  // namespace weir::queue
