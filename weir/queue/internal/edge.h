#pragma once

// What a ring consists of. Its items lie between two edges: producers move the leading one, consumers the trailing one.
// An edge that one thread moves is a `single_edge`; where several do, they claim by compare-exchange and say with `runs`
// (runs.h) when they are through.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weir/queue/internal/patience.h>
#include <weir/queue/separation.h>

namespace weir::queue::internal {

/// An edge that one thread moves and others see.
template <class Sync>
class alignas(separation) single_edge {
  // The first member, so that every access forms its address alike, and a processor can hand on the last store's value.
  typename Sync::template atomic<std::uint64_t> position_;

 public:
  single_edge(std::uint64_t start, std::uint64_t as_far_as) noexcept : position_(start), reach(as_far_as) {}

  /// The mover: where it is.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_.load(std::memory_order_relaxed); }
  /// The mover: everything before `to` is the others' now. Partner: seen().
  void move_to(std::uint64_t to) noexcept { position_.store(to, std::memory_order_release); }
  /// Others: what came before is visible. Partner: move_to().
  [[nodiscard]] std::uint64_t seen() const noexcept { return position_.load(std::memory_order_acquire); }

  /// The mover's own: how far it may go without another look at the other edge. Never ahead of the truth, so an old one
  /// makes it look again and never overrun.
  std::uint64_t reach;
  patience wait;
};

/// How a queue ends: two flags, each set once.
template <class Sync>
class ends {
 public:
  // After the last item is published, so who sees the flag sees the last items. Partner: closed().
  void close() noexcept { flags_.fetch_or(closed_flag, std::memory_order_release); }
  void cancel() noexcept { flags_.fetch_or(cancelled_flag, std::memory_order_release); }

  /// Whether one of the two has been set; which, say the others, and show what came before.
  [[nodiscard]] bool any() const noexcept { return flags_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool closed() const noexcept { return (flags_.load(std::memory_order_acquire) & closed_flag) != 0; }
  [[nodiscard]] bool cancelled() const noexcept {
    return (flags_.load(std::memory_order_acquire) & cancelled_flag) != 0;
  }

 private:
  static constexpr std::uint8_t closed_flag = 1;
  static constexpr std::uint8_t cancelled_flag = 2;

  typename Sync::template atomic<std::uint8_t> flags_{0};
};

}  // namespace weir::queue::internal
