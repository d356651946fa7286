#pragma once

// Which parts of a ring are finished, when several threads finish parts of it in any order.
//
// Threads claim runs of places next to each other, each with one compare-exchange, and work on them at the same time. Who is
// through with a run says so with one word, however long the run: the word that belongs to the run's first place takes
// the position at which the run ends. The one thread on the other side walks from run to run:
//
//     places        [ a ][ b ][ c ][ d ][ e ][   ]     two runs are finished, [10, 13) and [13, 14);
//     positions      10   11   12   13   14   15       the one from 14 on is not
//     words          13    -    -   14    6    -       at 14 stands what was written a lap ago: it ends before it begins
//
// A word is finished if the end in it lies 1 to capacity places behind its own position. What older laps left there never does,
// so nothing has to be cleared. One bit of the word says that the run is a hole: places that were claimed and hold no items.

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <weir/queue/internal/places.h>

namespace weir::queue::internal {

/// How many places from `from` to `to`, less than 2^62 of them in either direction. Words give one bit to a flag, so
/// positions are compared modulo 2^63.
inline std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
  return static_cast<std::int64_t>((to - from) << 1) >> 1;
}

template <class Sync, std::size_t Capacity>
class runs {
  using word = typename Sync::template atomic<std::uint64_t>;

 public:
  /// A run from the position that was asked about; of no places if it is not finished.
  struct run {
    std::size_t count = 0;
    bool is_hole = false;
  };

  explicit runs(std::uint64_t start) noexcept
    requires(Capacity != dynamic_capacity)
      : start_(start) {}
  runs(std::size_t capacity, std::uint64_t start)
    requires(Capacity == dynamic_capacity)
      : start_(start), words_(capacity) {}
  ~runs() {
    for (std::size_t i = 0; i < made_; ++i) std::destroy_at(words_.at(start_ + i));
  }
  runs(const runs&) = delete;
  runs& operator=(const runs&) = delete;

  /// How many words there are; a position whose word is not made must not be claimed.
  [[nodiscard]] std::size_t made() const noexcept { return made_; }

  /// Makes the next `count` words, from that of the start on.
  ///   Threads  before any other thread may know of these positions
  void make(std::size_t count) noexcept {
    for (; count != 0; --count, ++made_) {
      const std::uint64_t position = start_ + made_;
      std::construct_at(words_.at(position), position << 1);
    }
  }

  /// Who claimed: the run is finished, and whatever was done to its places before is visible to whoever sees that.
  void finish(std::uint64_t first, std::size_t count, bool is_hole = false) noexcept {
    // Partner: at().
    words_.at(first)->store((first + count) << 1 | (is_hole ? 1 : 0), std::memory_order_release);
  }

  /// The walker: the run that begins at `first`.
  [[nodiscard]] run at(std::uint64_t first) noexcept {
    // Partner: finish().
    const std::uint64_t value = words_.at(first)->load(std::memory_order_acquire);
    // Most often one item. As a branch, so that a processor goes on to the next word without waiting for this one.
    if (value == (first + 1) << 1) [[likely]]
      return {1, false};
    const std::int64_t count = distance(first, value >> 1);
    if (count < 1 || count > static_cast<std::int64_t>(words_.capacity())) return {};
    return {static_cast<std::size_t>(count), (value & 1) != 0};
  }

 private:
  const std::uint64_t start_;
  std::size_t made_ = 0;
  places<word, Capacity> words_;
};

}  // namespace weir::queue::internal
