#pragma once

// Sleeping on a word of memory, by the operating system: the one system call that parking comes down to.
//
// std::atomic::wait would do but for two things: it knows no deadline, and the standard library's own spinning before it
// sleeps cannot be told from ours.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weir::queue::internal {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "the kernel must see the word as the program does");

inline long futex(const std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                  const std::timespec* deadline, std::uint32_t bits) noexcept {
  // The kernel reads the word and writes nothing.
  return ::syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value,
                   deadline, nullptr, bits);
}

/// Sleeps while the word is `value`, until a wake. May return for no reason.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  futex(word, FUTEX_WAIT_BITSET, value, nullptr, FUTEX_BITSET_MATCH_ANY);
}

/// The same, at most until `deadline`; false if that has passed.
inline bool futex_wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                             std::chrono::steady_clock::time_point deadline) noexcept {
  // The kernel measures FUTEX_WAIT_BITSET against CLOCK_MONOTONIC, which is the steady clock of Linux.
  const auto since_start = deadline.time_since_epoch();
  if (since_start.count() <= 0) return false;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_start);
  const std::timespec until{
      static_cast<std::time_t>(seconds.count()),
      static_cast<long>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_start - seconds).count())};
  return futex(word, FUTEX_WAIT_BITSET, value, &until, FUTEX_BITSET_MATCH_ANY) == 0 || errno != ETIMEDOUT;
}

inline void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers) noexcept {
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(sleepers), nullptr, 0);
}

inline void futex_wake_one(const std::atomic<std::uint32_t>& word) noexcept { futex_wake(word, 1); }
inline void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept { futex_wake(word, INT_MAX); }

}  // namespace weir::queue::internal
