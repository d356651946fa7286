#pragma once

// A bounded ring between one producer thread and one consumer thread.
//
//     positions count items since the start and never turn back; slot = position & mask
//
//          head                 tail              head + capacity
//            |  readable items    |   free places    |
//     ... ---[ a ][ b ][ c ][ d ][   ][   ][   ][   ]--- ...
//
// Invariants
//   - head <= tail <= head + capacity, in arithmetic modulo 2^64, of which the capacity is a divisor.
//   - exactly the slots of [head, tail) hold constructed items.
//   - the producer alone writes tail, the consumer alone head; each remembers the other's position as it last saw it
//     (`head_seen_`, `tail_seen_`) and looks again only when that is not enough. What is remembered is never ahead of the
//     truth, so it can only make a side look again, never overrun.
//   - one release store publishes a batch after all its items are constructed; one release store frees a batch after all
//     its items are destroyed.
//
// What it does not do: sleep (parking.h does), or say who owns it. Destroy it when both sides have let go.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <weir/queue/separation.h>

namespace weir::queue {

enum class push_outcome : std::uint8_t { pushed, full, cancelled };
enum class pop_outcome : std::uint8_t { popped, empty, ended };

/// A part of a ring as memory sees it: a second span where the part goes over the ring's edge.
template <class T>
struct ring_spans {
  std::span<T> first;
  std::span<T> second;
  [[nodiscard]] std::size_t size() const noexcept { return first.size() + second.size(); }
};

/// See above.
///   Owns     the items in it; destroys those that are left.
///   Memory   capacity × sizeof(T) and 512 bytes, allocated by the constructor; nothing later.
///   Threads  roles: each method names its side; size() is anybody's.
///   Waits    never. Every operation ends in a bounded number of its own steps, whatever the other side does.
///   Source   docs/design/0003-ring-and-parking.md
template <class T>
class spsc_ring {
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  using value_type = T;

  /// A ring for `items` items or, where that is no power of two, the next one above.
  ///   start   the position to begin with: for tests, so that positions pass 2^32 or 2^64 soon.
  ///   Throws  std::length_error if there is no such size; std::bad_alloc.
  explicit spsc_ring(std::size_t items, std::uint64_t start = 0)
      : capacity_(round_up(items)),
        slots_(std::allocator<T>().allocate(slots_of(capacity_)) + padding),
        tail_(start),
        head_seen_(start),
        head_(start),
        tail_seen_(start) {}

  spsc_ring(const spsc_ring&) = delete;
  spsc_ring& operator=(const spsc_ring&) = delete;

  ~spsc_ring() {
    drop_all();
    std::allocator<T>().deallocate(slots_ - padding, slots_of(capacity_));
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// How many items are in the ring, as a figure for people: another thread may have changed it already. Never more
  /// than the capacity.
  [[nodiscard]] std::size_t size() const noexcept {
    // Head first: tail only grows, so the difference is never negative.
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    return static_cast<std::size_t>(std::min<std::uint64_t>(tail - head, capacity_));
  }

  // --- producer --------------------------------------------------------------------------------------------------

  /// Producer: puts one item in. Full if and only if there are `capacity()` items that the consumer has not released.
  ///   item  is moved from only if the answer is `pushed`, or if its move constructor throws; then the ring is as before.
  [[nodiscard]] push_outcome try_push(T&& item) {
    assert(!closed_.load(std::memory_order_relaxed));
    if (cancelled()) return push_outcome::cancelled;
    const std::uint64_t tail = own_tail();
    if (room(tail, 1) == 0) return push_outcome::full;
    std::construct_at(place(tail), std::move(item));
    publish(tail + 1);
    return push_outcome::pushed;
  }

  /// Producer: moves in as many of the items as there is room for, first ones first, and says how many. An exception from
  /// a move leaves those before it in the ring.
  [[nodiscard]] std::size_t try_push_n(std::span<T> items) {
    assert(!closed_.load(std::memory_order_relaxed));
    if (cancelled()) return 0;
    const std::uint64_t tail = own_tail();
    const std::size_t count = std::min(items.size(), room(tail, items.size()));
    struct publisher {
      spsc_ring& ring;
      std::uint64_t at;
      ~publisher() { ring.publish(at); }
    } done{*this, tail};
    for (T& item : items.first(count)) {
      std::construct_at(place(done.at), std::move(item));
      ++done.at;
    }
    return count;
  }

  /// Producer: up to `count` free places, for the caller to construct items in: first to last, then `commit`. Places that
  /// are not committed are simply offered again.
  [[nodiscard]] ring_spans<T> prepare(std::size_t count) noexcept {
    const std::uint64_t tail = own_tail();
    return spans(tail, std::min(count, room(tail, count)));
  }

  /// Producer: publishes the first `count` places of the last `prepare`, in which there are items now.
  void commit(std::size_t count) noexcept {
    const std::uint64_t tail = own_tail();
    assert(count <= capacity_ - static_cast<std::size_t>(tail - head_seen_));
    publish(tail + count);
  }

  /// Producer: how many places are free. Looks at the consumer's position if it remembers fewer than `wanted`.
  [[nodiscard]] std::size_t free_places(std::size_t wanted) noexcept { return room(own_tail(), wanted); }

  /// Producer: no item comes after those that are in. The consumer still gets these, then `ended`.
  void close() noexcept {
    // Partner: the load in closed(). After the last publish, so who sees the flag sees the last items.
    closed_.store(true, std::memory_order_release);
  }

  /// Producer: whether the consumer has gone.
  [[nodiscard]] bool cancelled() const noexcept {
    // Partner: the store in cancel().
    return cancelled_.load(std::memory_order_acquire);
  }

  // --- consumer --------------------------------------------------------------------------------------------------

  /// Consumer: takes the oldest item. Empty if and only if there is none and there may be more; `ended` if and only if there
  /// is none and the producer has closed. If the assignment throws, the item stays.
  [[nodiscard]] pop_outcome try_pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    const std::uint64_t head = own_head();
    if (available(head, 1) == 0) {
      // The last items may have come just before the producer closed, and after our look: then they are to be had.
      if (!closed()) return pop_outcome::empty;
      if (available(head, 1) == 0) return pop_outcome::ended;
    }
    into = std::move(*place(head));
    std::destroy_at(place(head));
    free(head + 1);
    return pop_outcome::popped;
  }

  /// Consumer: moves items out as long as there are some and room for them, and says how many.
  [[nodiscard]] std::size_t try_pop_n(std::span<T> into)
    requires std::is_move_assignable_v<T>
  {
    std::size_t at = 0;
    // An assignment that throws has not taken its item, so it must stay: then `at` is not counted on.
    const ring_spans<T> items = readable(into.size());
    struct releaser {
      spsc_ring& ring;
      std::size_t& count;
      ~releaser() { ring.release(count); }
    } done{*this, at};
    for (const std::span<T> part : {items.first, items.second}) {
      for (T& item : part) {
        into[at] = std::move(item);
        ++at;
      }
    }
    return at;
  }

  /// Consumer: gives up to `max` items to `take(T&&)`, oldest first, and says how many. The ring learns of it once, at the
  /// end. If `take` throws, the items given so far, that one too, are gone and the others stay.
  template <class Take>
  std::size_t consume(std::size_t max, Take&& take) {
    const ring_spans<T> items = readable(max);
    std::size_t given = 0;
    struct releaser {
      spsc_ring& ring;
      std::size_t& count;
      ~releaser() { ring.release(count); }
    } done{*this, given};
    for (const std::span<T> part : {items.first, items.second}) {
      for (T& item : part) {
        ++given;
        take(std::move(item));
      }
    }
    return given;
  }

  /// Consumer: the oldest items, at most `max`; they stay in the ring until `release`.
  [[nodiscard]] ring_spans<T> readable(std::size_t max) noexcept {
    const std::uint64_t head = own_head();
    return spans(head, std::min(max, available(head, max)));
  }

  /// Consumer: destroys the first `count` items of the last `readable` and gives their places back.
  void release(std::size_t count) noexcept {
    if (count == 0) return;
    const std::uint64_t head = own_head();
    assert(count <= static_cast<std::size_t>(tail_seen_ - head));
    if constexpr (!std::is_trivially_destructible_v<T>) {
      const ring_spans<T> items = spans(head, count);
      std::destroy(items.first.begin(), items.first.end());
      std::destroy(items.second.begin(), items.second.end());
    }
    free(head + count);
  }

  /// Consumer: whether there is an item now.
  [[nodiscard]] bool has_items() noexcept { return available(own_head(), 1) != 0; }

  /// Consumer: whether the producer has closed; there may be items left.
  [[nodiscard]] bool closed() const noexcept {
    // Partner: the store in close().
    return closed_.load(std::memory_order_acquire);
  }

  /// Consumer: whether the producer has closed and every item is taken.
  [[nodiscard]] bool ended() noexcept {
    // The look at tail must come after that at the flag: the last items may have come in between.
    return closed() && !has_items();
  }

  /// Consumer: wants no more. The producer is told at its next push; items that are in, or on their way in, are destroyed
  /// by drop_all or by the destructor.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_release); }

  /// Consumer, or the only owner: destroys all items that are in.
  void drop_all() noexcept {
    while (const std::size_t count = readable(capacity_).size()) release(count);
  }

 private:
  // Unused slots before and behind those in use, so that a neighbour on the heap shares no line with an item.
  static constexpr std::size_t padding = (separation + sizeof(T) - 1) / sizeof(T);
  static constexpr std::size_t capacity_max =
      std::bit_floor(std::numeric_limits<std::size_t>::max() / 2 / sizeof(T) - 2 * padding);

  static std::size_t round_up(std::size_t items) {
    if (items > capacity_max) throw std::length_error("weir::queue::spsc_ring: too many items");
    return std::bit_ceil(std::max<std::size_t>(items, 1));
  }
  static std::size_t slots_of(std::size_t capacity) noexcept { return capacity + 2 * padding; }

  T* place(std::uint64_t position) const noexcept {
    return slots_ + (static_cast<std::size_t>(position) & (capacity_ - 1));
  }

  ring_spans<T> spans(std::uint64_t from, std::size_t count) const noexcept {
    const std::size_t at = static_cast<std::size_t>(from) & (capacity_ - 1);
    const std::size_t first = std::min(count, capacity_ - at);
    return {{place(from), first}, {place(0), count - first}};
  }

  std::uint64_t own_tail() const noexcept { return tail_.load(std::memory_order_relaxed); }
  std::uint64_t own_head() const noexcept { return head_.load(std::memory_order_relaxed); }

  std::size_t room(std::uint64_t tail, std::size_t wanted) noexcept {
    std::size_t free = capacity_ - static_cast<std::size_t>(tail - head_seen_);
    if (free < wanted) {
      // Partner: the store in free(). The places before this head are destroyed and may be written.
      head_seen_ = head_.load(std::memory_order_acquire);
      free = capacity_ - static_cast<std::size_t>(tail - head_seen_);
    }
    return free;
  }

  std::size_t available(std::uint64_t head, std::size_t wanted) noexcept {
    if (static_cast<std::size_t>(tail_seen_ - head) < wanted) {
      // Partner: the store in publish(). The items before this tail are constructed and may be read.
      tail_seen_ = tail_.load(std::memory_order_acquire);
    }
    return static_cast<std::size_t>(tail_seen_ - head);
  }

  void publish(std::uint64_t tail) noexcept { tail_.store(tail, std::memory_order_release); }
  void free(std::uint64_t head) noexcept { head_.store(head, std::memory_order_release); }

  // Read by both sides, and written once at the end.
  const std::size_t capacity_;
  T* const slots_;  // places; of these, [head, tail) hold items
  std::atomic<bool> closed_{false};
  std::atomic<bool> cancelled_{false};

  // The producer's.
  alignas(separation) std::atomic<std::uint64_t> tail_;
  std::uint64_t head_seen_;

  // The consumer's.
  alignas(separation) std::atomic<std::uint64_t> head_;
  std::uint64_t tail_seen_;
};

}  // namespace weir::queue
