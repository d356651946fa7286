#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <weir/queue/sync.h>
#include <weir/queue/wake_action.h>

namespace weir::queue {

/// Where one thread sleeps until another wakes it. A wake that comes first is kept (one, not a count), so none is lost.
///   Threads  roles: one thread waits; any thread wakes.
///   Waits    wait() spins for about 5 µs and then sleeps in the operating system.
///   Cost     wake: one exchange; a system call only if the other thread really sleeps (some 9 µs then, so wake once
///            per batch).
template <class Sync>
class basic_park_point {
 public:
  basic_park_point() = default;
  basic_park_point(const basic_park_point&) = delete;
  basic_park_point& operator=(const basic_park_point&) = delete;

  /// Returns after a wake that no wait has taken yet; everything its caller did before it is visible.
  void wait() noexcept {
    typename Sync::spin before_sleep;
    while (!take()) {
      if (before_sleep.step()) continue;
      if (lies_down()) Sync::wait(word_, sleeping);
    }
  }

  /// The same, but not longer than until `deadline`: false if there was no wake until then. A wake that comes later is
  /// kept for the next wait.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline) noexcept {
    typename Sync::spin before_sleep;
    while (!take()) {
      if (before_sleep.step()) continue;
      if (lies_down() && !Sync::wait_until(word_, sleeping, deadline)) {
        std::uint32_t expected = sleeping;
        if (word_.compare_exchange_strong(expected, quiet, std::memory_order_relaxed, std::memory_order_relaxed)) {
          return false;
        }
        // Woken in the last moment.
      }
    }
    return true;
  }

  /// Lets the wait under way, or else the next one, return.
  void wake() noexcept {
    // Partner: the exchange in take.
    if (word_.exchange(woken, std::memory_order_release) == sleeping) Sync::wake_one(word_);
  }

  /// The same as an action, for parking and for wakers. The target is this object.
  static void wake_target(void* target) noexcept { static_cast<basic_park_point*>(target)->wake(); }
  [[nodiscard]] wake_action action() noexcept { return {&wake_target, this}; }

 private:
  static constexpr std::uint32_t quiet = 0;
  static constexpr std::uint32_t sleeping = 1;
  static constexpr std::uint32_t woken = 2;

  /// Whether the word says `sleeping`, so that a wake will make a system call.
  bool lies_down() noexcept {
    std::uint32_t expected = quiet;
    // After a sleep that ended for no reason, the word still says so.
    return word_.compare_exchange_strong(expected, sleeping, std::memory_order_relaxed, std::memory_order_relaxed) ||
           expected == sleeping;
  }

  bool take() noexcept {
    if (word_.load(std::memory_order_relaxed) != woken) return false;
    // Partner: the exchange in wake. Only the waiting thread leaves `woken`, so the value is still that.
    word_.exchange(quiet, std::memory_order_acquire);
    return true;
  }

  typename Sync::template atomic<std::uint32_t> word_{quiet};
};

using park_point = basic_park_point<native>;

}  // namespace weir::queue
