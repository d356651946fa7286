#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace weir::flow::internal {

/// The last items of a sequence, at most a given number of them, oldest first.
///   Memory   as many items as were added, up to the number; allocated in steps that double.
///   Threads  confined.
template <class T>
class last_items {
 public:
  explicit last_items(std::size_t most) noexcept : most_(most) {}

  /// How many can be added before one has to go.
  [[nodiscard]] std::size_t room() const noexcept { return most_ - items_.size(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

  /// Adds an item; there must be room.
  void add(T&& item) {
    assert(room() != 0);
    items_.push_back(std::move(item));
  }

  /// Adds an item and gives the one that has to go for it; there must be no room. That is the item itself if none is
  /// kept.
  T exchange(T&& item) {
    assert(room() == 0);
    if (most_ == 0) return std::move(item);
    T& place = items_[oldest_];
    T gone(std::move(place));
    place = std::move(item);
    if (++oldest_ == most_) oldest_ = 0;
    return gone;
  }

  /// The n-th item, counted from the oldest.
  T& operator[](std::size_t n) noexcept {
    const std::size_t behind = items_.size() - oldest_;
    return items_[n < behind ? oldest_ + n : n - behind];
  }

 private:
  std::vector<T> items_;
  std::size_t most_;
  std::size_t oldest_ = 0;  // its place, which is also the place of the next one when there is no room
};

}  // namespace weir::flow::internal
