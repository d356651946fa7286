#pragma once

// The places of a ring: raw memory for its items, and where a position lies in it.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>

#include <weir/queue/ring_spans.h>
#include <weir/queue/separation.h>

namespace weir::queue {

/// As a ring's Capacity: how many items it holds is said to its constructor, and its places are on the heap.
inline constexpr std::size_t dynamic_capacity = 0;

/// The position that a ring begins with; for tests, so that positions pass 2^32 or 2^64 soon.
struct start_position {
  std::uint64_t value = 0;
};

namespace internal {

/// What a queue can hold: objects, which it constructs and destroys itself, and so neither const nor volatile.
template <class T>
inline constexpr bool is_item = std::is_object_v<T> && !std::is_array_v<T> && std::is_same_v<T, std::remove_cv_t<T>>;

/// Uninitialised places for `Capacity` items; whoever has them says which hold one. Positions count up for ever; the place
/// of a position is the position modulo the capacity, a power of two, so that positions may pass 2^64.
template <class T, std::size_t Capacity>
class places {
  static_assert(std::has_single_bit(Capacity), "a ring's capacity must be a power of two");
  static_assert(is_item<T>);

 public:
  places() = default;
  places(const places&) = delete;
  places& operator=(const places&) = delete;

  static constexpr std::size_t capacity() noexcept { return Capacity; }
  T* at(std::uint64_t position) noexcept {
    return reinterpret_cast<T*>(raw_) + (static_cast<std::size_t>(position) & (Capacity - 1));
  }

 private:
  alignas(std::max(alignof(T), separation)) std::byte raw_[Capacity * sizeof(T)];
};

template <class T>
class places<T, dynamic_capacity> {
  static_assert(is_item<T>);

 public:
  /// For `items` items or, where that is no power of two, the next one above.
  ///   Throws  std::length_error if there is no such size; std::bad_alloc.
  explicit places(std::size_t items)
      : last_(round_up(items) - 1),
        slots_(static_cast<T*>(::operator new(octets(last_ + 1), std::align_val_t{alignment}))) {}
  ~places() { ::operator delete(slots_, std::align_val_t{alignment}); }
  places(const places&) = delete;
  places& operator=(const places&) = delete;

  std::size_t capacity() const noexcept { return last_ + 1; }
  T* at(std::uint64_t position) noexcept { return slots_ + (static_cast<std::size_t>(position) & last_); }

 private:
  static constexpr std::size_t alignment = std::max(alignof(T), separation);
  static constexpr std::size_t capacity_max =
      std::bit_floor((std::numeric_limits<std::size_t>::max() / 2 - separation) / sizeof(T));

  static std::size_t round_up(std::size_t items) {
    if (items > capacity_max) throw std::length_error("weir::queue: a ring cannot hold that many items");
    return std::bit_ceil(std::max<std::size_t>(items, 1));
  }
  // A whole number of lines, so that a neighbour on the heap shares none with an item.
  static constexpr std::size_t octets(std::size_t capacity) noexcept {
    return (capacity * sizeof(T) + separation - 1) / separation * separation;
  }

  const std::size_t last_;
  T* const slots_;
};

/// The places of `count` positions from `from` on.
template <class T, std::size_t Capacity>
ring_spans<T> spans_of(places<T, Capacity>& all, std::uint64_t from, std::size_t count) noexcept {
  const std::size_t before_edge = all.capacity() - (static_cast<std::size_t>(from) & (all.capacity() - 1));
  const std::size_t first = std::min(count, before_edge);
  return {{all.at(from), first}, {all.at(0), count - first}};
}

/// Ends the items there.
template <class T>
void destroy(const ring_spans<T>& items) noexcept {
  std::destroy(items.first.begin(), items.first.end());
  std::destroy(items.second.begin(), items.second.end());
}

}  // namespace internal
}  // namespace weir::queue
