#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <weir/queue/internal/futex.h>
#include <weir/queue/spin.h>

namespace weir::queue {

/// What the queues take from the machine: atomic words, waiting a moment, and sleeping on a word. A template argument
/// everywhere, so that exactly the code that ships also runs under the model checker (testing/model.h), which brings
/// its own.
struct native {
  template <class T>
  using atomic = std::atomic<T>;

  using spin = queue::spin;

  /// Sleeps while the word is `value`, until a wake. May return for no reason.
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    internal::futex_wait(word, value);
  }
  /// The same, at most until `deadline`; false if that has passed.
  static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t value,
                         std::chrono::steady_clock::time_point deadline) noexcept {
    return internal::futex_wait_until(word, value, deadline);
  }
  static void wake_one(const atomic<std::uint32_t>& word) noexcept { internal::futex_wake_one(word); }
  static void wake_all(const atomic<std::uint32_t>& word) noexcept { internal::futex_wake_all(word); }
};

}  // namespace weir::queue
