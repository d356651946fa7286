#pragma once

// A bounded ring between one producer thread and one consumer thread.
//
//     positions count items since the start and never turn back; place = position modulo the capacity
//
//          head                 tail              head + capacity
//            |  readable items    |   free places    |
//     ... ---[ a ][ b ][ c ][ d ][   ][   ][   ][   ]--- ...
//
// Invariants
//   - head <= tail <= head + capacity, in arithmetic modulo 2^64, of which the capacity is a divisor.
//   - exactly the places of [head, tail) hold constructed items.
//   - the producer alone moves tail, the consumer alone head. Each remembers how far it may go (`reach`) and looks at the
//     other's position only when that is not enough.
//   - one release store publishes a batch after all its items are constructed; one frees a batch after all its items are
//     destroyed. The other side's acquire load is the only ordering there is.
//
// What it does not do: sleep (parking.h does), or say who owns it. Destroy it when both sides have let go.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/queue/internal/edge.h>
#include <weir/queue/internal/places.h>
#include <weir/queue/internal/prefetch.h>
#include <weir/queue/internal/transfer.h>
#include <weir/queue/outcomes.h>
#include <weir/queue/ring_spans.h>
#include <weir/queue/sync.h>

namespace weir::queue {

/// See above.
///   Capacity a power of two: the places are in the object, which then allocates nothing at all. Or else
///            dynamic_capacity, the default: the constructor says how many.
///   Owns     the items in it; destroys those that are left.
///   Memory   capacity × sizeof(T) and 384 bytes; nothing is allocated after construction.
///   Threads  roles: each method names its side; size() is anybody's.
///   Waits    never. Every operation ends in a bounded number of its own steps, whatever the other side does.
///   Source   docs/design/0003-rings-and-parking.md
template <class T, std::size_t Capacity = dynamic_capacity, class Sync = native>
class spsc_ring {
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  using value_type = T;

  /// A ring for `items` items or, where that is no power of two, the next one above.
  ///   Throws  std::length_error if there is no such size; std::bad_alloc.
  explicit spsc_ring(std::size_t items, start_position start = {})
    requires(Capacity == dynamic_capacity)
      : tail_(start.value, 0), head_(start.value, start.value), places_(items) {
    tail_.reach = start.value + capacity();
  }
  /// A ring for Capacity items.
  explicit spsc_ring(start_position start = {}) noexcept
    requires(Capacity != dynamic_capacity)
      : tail_(start.value, start.value + Capacity), head_(start.value, start.value) {}

  spsc_ring(const spsc_ring&) = delete;
  spsc_ring& operator=(const spsc_ring&) = delete;
  ~spsc_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>) drop_all();
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return places_.capacity(); }

  /// How many items are in the ring, as a figure for people: another thread may have changed it already. Never more
  /// than the capacity.
  [[nodiscard]] std::size_t size() const noexcept {
    // Head first: tail only grows, so the difference is never negative.
    const std::uint64_t head = head_.seen();
    return static_cast<std::size_t>(std::min<std::uint64_t>(tail_.seen() - head, capacity()));
  }

  // --- producer --------------------------------------------------------------------------------------------------

  /// Producer: puts one item in. Full if and only if there are `capacity()` items that the consumer has not released.
  ///   item  is moved from only if the answer is `pushed`, or if its move constructor throws; then the ring is as before.
  [[nodiscard, gnu::always_inline]] push_outcome try_push(T&& item) { return try_emplace(std::move(item)); }
  [[nodiscard, gnu::always_inline]] push_outcome try_push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    return try_emplace(item);
  }

  /// Producer: the same, with an item made in its place. Nothing is made, and no argument moved from, unless there is a
  /// place.
  template <class... Arguments>
  [[nodiscard, gnu::always_inline]] push_outcome try_emplace(Arguments&&... arguments) {
    if (ends_.any()) [[unlikely]]
      return refusal();
    const std::uint64_t tail = tail_.position();
    if (tail == tail_.reach && !finds_place(tail)) return push_outcome::full;
    std::construct_at(places_.at(tail), std::forward<Arguments>(arguments)...);
    tail_.move_to(tail + 1);
    return push_outcome::pushed;
  }

  /// Producer: moves in as many of the items as there is room for, first ones first, and says how many. An exception from
  /// a move leaves those before it in the ring.
  [[nodiscard]] std::size_t try_push_n(std::span<T> items) {
    if (ends_.any()) return 0;
    return internal::push_parts(*this, items, part());
  }

  /// Producer: up to `count` free places, for the caller to construct items in: first to last, then `commit`. Places that
  /// are not committed are simply offered again.
  /// Says nothing of the ends: cancelled() does.
  [[nodiscard]] ring_spans<T> prepare(std::size_t count) noexcept {
    return internal::to_be_written(internal::spans_of(places_, tail_.position(), std::min(count, free_places(count))));
  }

  /// Producer: publishes the first `count` places of the last `prepare`, in which there are items now.
  void commit(std::size_t count) noexcept {
    if (count == 0) return;
    const std::uint64_t tail = tail_.position();
    assert(count <= tail_.reach - tail);
    tail_.move_to(tail + count);
  }

  /// Producer: how many places are free. Looks at the consumer's position if it remembers fewer than `wanted`.
  [[nodiscard]] std::size_t free_places(std::size_t wanted) noexcept {
    const std::uint64_t tail = tail_.position();
    // The places before that head are destroyed and may be written.
    if (tail_.reach - tail < wanted) tail_.reach = head_.seen() + capacity();
    return static_cast<std::size_t>(tail_.reach - tail);
  }

  /// Producer: no item comes after those that are in. The consumer still gets these, then `ended`.
  void close() noexcept { ends_.close(); }

  /// Producer: whether the consumer has gone.
  [[nodiscard]] bool cancelled() const noexcept { return ends_.cancelled(); }

  // --- consumer --------------------------------------------------------------------------------------------------

  /// Consumer: takes the oldest item. Empty if and only if there is none and there may be more; `ended` if and only if there
  /// is none and the producer has closed. If the assignment throws, the item stays.
  [[nodiscard, gnu::always_inline]] pop_outcome try_pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    const std::uint64_t head = head_.position();
    if (head == head_.reach && !finds_item(head)) {
      if (const pop_outcome none = why_none(); none != pop_outcome::popped) return none;
    }
    into = std::move(*places_.at(head));
    std::destroy_at(places_.at(head));
    head_.move_to(head + 1);
    return pop_outcome::popped;
  }

  /// Consumer: moves items out as long as there are some and room for them, and says how many. If an assignment throws, its
  /// item and those behind it stay.
  [[nodiscard]] std::size_t try_pop_n(std::span<T> into)
    requires std::is_move_assignable_v<T>
  {
    return internal::pop_parts(*this, into, part());
  }

  /// Consumer: gives up to `max` items to `take(T&&)`, oldest first, and says how many. The ring learns of it once for
  /// each quarter of it. If `take` throws, the items given so far, that one too, are gone and the others stay.
  template <class Take>
  std::size_t consume(std::size_t max, Take&& take) {
    return internal::consume_parts(*this, max, take, part());
  }

  /// Consumer: the oldest items, at most `max`; they stay in the ring until `release`.
  [[nodiscard]] ring_spans<T> readable(std::size_t max) noexcept {
    const std::uint64_t head = head_.position();
    return internal::to_be_read(internal::spans_of(places_, head, std::min(max, available(head, max))));
  }

  /// Consumer: destroys the first `count` items of the last `readable` and gives their places back.
  void release(std::size_t count) noexcept {
    if (count == 0) return;
    const std::uint64_t head = head_.position();
    assert(count <= head_.reach - head);
    internal::destroy(internal::spans_of(places_, head, count));
    head_.move_to(head + count);
  }

  /// Consumer: whether there is an item now.
  [[nodiscard]] bool has_items() noexcept { return available(head_.position(), 1) != 0; }

  /// Consumer: whether the producer has closed; there may be items left.
  [[nodiscard]] bool closed() const noexcept { return ends_.closed(); }

  /// Consumer: whether the producer has closed and every item is taken.
  [[nodiscard]] bool ended() noexcept {
    // The look at tail must come after that at the flag: the last items may have come in between.
    return closed() && !has_items();
  }

  /// Consumer: wants no more. The producer is told at its next push; items that are in, or on their way in, are destroyed
  /// by drop_all or by the destructor.
  void cancel() noexcept { ends_.cancel(); }

  /// Consumer, or the only owner: destroys all items that are in.
  void drop_all() noexcept {
    while (const std::size_t count = readable(capacity()).size()) release(count);
  }

 private:
  // Longer batches go in parts, so that the other side can work at one while this side works at the next.
  [[nodiscard]] std::size_t part() const noexcept { return std::max<std::size_t>(capacity() / 4, 1); }

  // An item goes in or comes out with a dozen instructions, a call would be as many; so these are inlined, and what is rare
  // is not.
  [[nodiscard, gnu::noinline]] push_outcome refusal() const noexcept {
    return ends_.cancelled() ? push_outcome::cancelled : push_outcome::closed;
  }

  std::size_t available(std::uint64_t head, std::size_t wanted) noexcept {
    // The items before that tail are constructed and may be read.
    if (head_.reach - head < wanted) head_.reach = tail_.seen();
    return static_cast<std::size_t>(head_.reach - head);
  }

  // Item by item, it may pay to be patient; and who finds many goes in strides, and asks for the lines of each together.
  [[gnu::noinline]] bool finds_place(std::uint64_t tail) noexcept {
    tail_.reach = tail_.wait.see([this] { return head_.seen() + capacity(); }, tail, capacity() / 4);
    if (internal::is_worth_asking<T>(tail_.reach - tail)) [[unlikely]] {
      const std::size_t count = internal::stride<T>(tail_.reach - tail);
      internal::to_be_written(internal::spans_of(places_, tail, count));
      tail_.reach = tail + count;
    }
    return tail_.reach != tail;
  }
  [[nodiscard, gnu::noinline]] pop_outcome why_none() noexcept {
    if (!ends_.closed()) return pop_outcome::empty;
    // The last items may have come just before the producer closed, and after our look: then they are to be had.
    return has_items() ? pop_outcome::popped : pop_outcome::ended;
  }
  [[gnu::always_inline]] bool finds_item(std::uint64_t head) noexcept {
    head_.reach = head_.wait.see([this] { return tail_.seen(); }, head, capacity() / 4);
    if (internal::is_worth_asking<T>(head_.reach - head)) [[unlikely]]
      ask_for_items(head);
    return head_.reach != head;
  }
  [[gnu::noinline]] void ask_for_items(std::uint64_t head) noexcept {
    const std::size_t count = internal::stride<T>(head_.reach - head);
    internal::to_be_read(internal::spans_of(places_, head, count));
    head_.reach = head + count;
  }

  internal::single_edge<Sync> tail_;  // the producer's
  internal::single_edge<Sync> head_;  // the consumer's
  // Read by both sides, and hardly ever written; the places of [head, tail) hold items.
  alignas(separation) internal::ends<Sync> ends_;
  internal::places<T, Capacity> places_;
};

}  // namespace weir::queue
