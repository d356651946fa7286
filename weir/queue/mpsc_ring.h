#pragma once

// A bounded ring between any number of producer threads and one consumer thread.
//
//          head            reach                tail            head + capacity
//            |  published    |     claimed        |   free places    |
//     ... ---[ a ][ b ][ c ][ ? ][ e ][ f ][ ? ][   ][   ][   ]--- ...
//
//   - a producer claims places with one compare-exchange of tail, constructs its items, and publishes all of them with
//     one store (internal/runs.h). The order of the items is the order of the claims, for every producer and between them.
//   - the consumer goes as far as everything is published. A producer that has claimed and not published yet holds up those
//     behind it; they are not lost and not passed over, and try_pop says `in_flight`.
//   - tail carries in its lowest bit that the ring is closed, so that no claim can come after close().
//
// What it does not do: sleep (mailbox.h does), or say who owns it. Destroy it when all sides have let go.

#include <algorithm>
#include <atomic>
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
#include <weir/queue/internal/runs.h>
#include <weir/queue/internal/transfer.h>
#include <weir/queue/outcomes.h>
#include <weir/queue/ring_spans.h>
#include <weir/queue/sync.h>

namespace weir::queue {

/// See above.
///   Capacity a power of two: the places are in the object, which then allocates nothing at all. Or else
///            dynamic_capacity, the default: the constructor says how many.
///   Owns     the items in it; destroys those that are left.
///   Memory   capacity × (sizeof(T) + 8) and 512 bytes; nothing is allocated after construction, which writes 8 bytes
///            for each place.
///   Threads  roles: each method names its side; close() and size() are anybody's.
///   Waits    never. A producer tries again when another was faster, so one of them always gets on.
///   Cost     one compare-exchange and one store for a push, whatever the number of its items.
///   Source   docs/design/0003-rings-and-parking.md
template <class T, std::size_t Capacity = dynamic_capacity, class Sync = native>
class mpsc_ring {
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  using value_type = T;
  class reservation;

  /// A ring for `items` items or, where that is no power of two, the next one above.
  ///   Throws  std::length_error if there is no such size; std::bad_alloc.
  explicit mpsc_ring(std::size_t items, start_position start = {})
    requires(Capacity == dynamic_capacity)
      : places_(items), runs_(places_.capacity(), start.value), tail_(start.value), head_(start.value, start.value) {
    open(start.value);
  }
  /// A ring for Capacity items.
  explicit mpsc_ring(start_position start = {}) noexcept
    requires(Capacity != dynamic_capacity)
      : runs_(start.value), tail_(start.value), head_(start.value, start.value) {
    open(start.value);
  }

  mpsc_ring(const mpsc_ring&) = delete;
  mpsc_ring& operator=(const mpsc_ring&) = delete;
  ~mpsc_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>) drop_all();
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return places_.capacity(); }

  /// How many places are taken, as a figure for people: another thread may have changed it already. Counts items on their way
  /// in, and is never more than the capacity.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::uint64_t head = head_.seen();
    const std::int64_t taken = internal::distance(head, claimed(tail_.word.load(std::memory_order_relaxed)));
    return static_cast<std::size_t>(std::clamp<std::int64_t>(taken, 0, static_cast<std::int64_t>(capacity())));
  }

  // --- producers -------------------------------------------------------------------------------------------------

  /// Producers: puts one item in. Full if and only if `capacity()` places are taken.
  ///   item  is moved from only if the answer is `pushed`, or if its move constructor throws; then it is not in the ring.
  [[nodiscard]] push_outcome try_push(T&& item) { return try_emplace(std::move(item)); }
  [[nodiscard]] push_outcome try_push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    return try_emplace(item);
  }

  /// Producers: the same, with an item made in its place. Nothing is made, and no argument moved from, unless there is a
  /// place.
  template <class... Arguments>
  [[nodiscard]] push_outcome try_emplace(Arguments&&... arguments) {
    push_outcome refused = push_outcome::pushed;
    reservation place = claim(1, refused);
    if (place.size() == 0) return refused;
    place.emplace(std::forward<Arguments>(arguments)...);
    return push_outcome::pushed;
  }

  /// Producers: moves in as many of the items as there is room for, first ones first and next to each other, and says how
  /// many. An exception from a move leaves those before it in the ring.
  [[nodiscard]] std::size_t try_push_n(std::span<T> items) {
    reservation places = reserve(items.size());
    internal::move_in(items, places.spans(), [&](std::size_t count) { places.publish(count); });
    return places.size();
  }

  /// Producers: claims up to `count` places next to each other; none if the ring is full, closed or cancelled. Publish
  /// soon: what others claim after this is held up until then.
  [[nodiscard]] reservation reserve(std::size_t count) noexcept {
    push_outcome refused = push_outcome::pushed;
    reservation places = claim(count, refused);
    internal::to_be_written(places.spans());
    return places;
  }

  /// Anybody: no more items are taken. The consumer still gets those whose places are claimed, then `ended`.
  void close() noexcept {
    // Partner: the acquire loads of the word, by producers that are refused and by the consumer that sees the end.
    tail_.word.fetch_or(closed_flag, std::memory_order_release);
  }

  /// Producers: whether the consumer has gone.
  [[nodiscard]] bool cancelled() const noexcept { return ends_.cancelled(); }

  // --- consumer --------------------------------------------------------------------------------------------------

  /// Consumer: takes the oldest item. Empty if and only if no place is taken and there may be more; `in_flight` if the oldest
  /// place is taken and not published yet; `ended` if the ring is closed and everything was taken. If the assignment throws, the
  /// item stays.
  [[nodiscard]] pop_outcome try_pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    if (available(1) == 0) {
      const std::uint64_t word = tail_.word.load(std::memory_order_acquire);
      if (internal::distance(head_.position(), claimed(word)) != 0) return pop_outcome::in_flight;
      return (word & closed_flag) != 0 ? pop_outcome::ended : pop_outcome::empty;
    }
    return take_oldest(into);
  }

  /// Consumer: the same, but `empty` may also mean that an item is in flight or that the ring has ended. It does not look at
  /// what the producers write most, and so does not slow them down when it finds nothing.
  [[nodiscard]] pop_outcome try_relaxed_pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    return available(1) == 0 ? pop_outcome::empty : take_oldest(into);
  }

  /// Consumer: moves items out as long as there are published ones and room for them, and says how many. If an
  /// assignment throws, its item and those behind it stay.
  [[nodiscard]] std::size_t try_pop_n(std::span<T> into)
    requires std::is_move_assignable_v<T>
  {
    return internal::pop_parts(*this, into, part());
  }

  /// Consumer: gives up to `max` published items to `take(T&&)`, oldest first, and says how many. The ring learns of it
  /// once for each quarter of it. If `take` throws, the items given so far, that one too, are gone and the others stay.
  template <class Take>
  std::size_t consume(std::size_t max, Take&& take) {
    return internal::consume_parts(*this, max, take, part());
  }

  /// Consumer: the oldest published items, at most `max`; they stay in the ring until `release`.
  [[nodiscard]] ring_spans<T> readable(std::size_t max) noexcept {
    const std::size_t count = std::min(max, available(max));
    return internal::to_be_read(internal::spans_of(places_, head_.position(), count));
  }

  /// Consumer: destroys the first `count` items of the last `readable` and gives their places back.
  void release(std::size_t count) noexcept {
    if (count == 0) return;
    const std::uint64_t head = head_.position();
    assert(count <= head_.reach - head);
    internal::destroy(internal::spans_of(places_, head, count));
    head_.move_to(head + count);
  }

  /// Consumer: whether there is a published item now.
  [[nodiscard]] bool has_items() noexcept { return available(1) != 0; }

  /// Consumer: how many places it has given back since position 0: those of items that were taken, and those that producers gave
  /// up and a look for items has passed over. For who has to tell producers that wait for places.
  [[nodiscard]] std::uint64_t given_back() const noexcept { return head_.position(); }

  /// Anybody: whether the ring is closed; there may be items left.
  [[nodiscard]] bool closed() const noexcept { return (tail_.word.load(std::memory_order_acquire) & closed_flag) != 0; }

  /// Consumer: whether the ring is closed and every item is taken.
  [[nodiscard]] bool ended() noexcept {
    if (available(1) != 0) return false;
    const std::uint64_t word = tail_.word.load(std::memory_order_acquire);
    return (word & closed_flag) != 0 && internal::distance(head_.position(), claimed(word)) == 0;
  }

  /// Consumer: wants no more. Producers are told at their next push; items that are in, or on their way in, are destroyed
  /// by drop_all or by the destructor.
  void cancel() noexcept { ends_.cancel(); }

  /// Consumer, or the only owner: destroys all items that are in.
  void drop_all() noexcept {
    while (const std::size_t count = readable(capacity()).size()) release(count);
  }

 private:
  // Longer batches go in parts, so that the other side can work at one while this side works at the next.
  [[nodiscard]] std::size_t part() const noexcept { return std::max<std::size_t>(capacity() / 4, 1); }

  static constexpr std::uint64_t closed_flag = 1;

  /// The edge that the producers move together.
  struct alignas(separation) claims {
    explicit claims(std::uint64_t start) noexcept : word(start << 1), reach(start) {}
    typename Sync::template atomic<std::uint64_t> word;  // the position up to which places are claimed, and closed_flag
    typename Sync::template atomic<std::uint64_t> reach;  // claims may go this far; never ahead of the truth
  };

  static std::uint64_t claimed(std::uint64_t word) noexcept { return word >> 1; }

  void open(std::uint64_t start) noexcept {
    tail_.reach.store(start + capacity(), std::memory_order_relaxed);
    runs_.make(capacity());
  }

  reservation claim(std::size_t wanted, push_outcome& refused) noexcept {
    wanted = std::min(wanted, capacity());
    if (wanted == 0) return {*this, 0, 0};
    if (ends_.cancelled()) [[unlikely]] {
      refused = push_outcome::cancelled;
      return {*this, 0, 0};
    }
    std::uint64_t word = tail_.word.load(std::memory_order_relaxed);
    for (;;) {
      if ((word & closed_flag) != 0) [[unlikely]] {
        // Partner: close(). Whoever is refused sees what was done before it was called.
        (void)tail_.word.load(std::memory_order_acquire);
        refused = push_outcome::closed;
        return {*this, 0, 0};
      }
      const std::uint64_t tail = claimed(word);
      // Partner: the store below, by another producer that has seen the places up to there free.
      const std::uint64_t known = tail_.reach.load(std::memory_order_acquire);
      std::int64_t free = internal::distance(tail, known);
      if (free < static_cast<std::int64_t>(wanted)) {
        // The places before that head are destroyed and may be written. An older reach may overwrite a newer one: that costs
        // the next producer a look.
        const std::uint64_t reach = head_.seen() + capacity();
        if (reach != known) tail_.reach.store(reach, std::memory_order_release);
        free = internal::distance(tail, reach);
      }
      if (free <= 0) {
        // The look at head came after that at tail, and tail only grows: at that moment every place was taken.
        refused = push_outcome::full;
        return {*this, 0, 0};
      }
      // If tail is old, head may have passed it and `free` be more than there can be; then the exchange fails.
      const std::size_t count = std::min(wanted, static_cast<std::size_t>(free));
      if (tail_.word.compare_exchange_weak(word, word + (count << 1), std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        return {*this, tail, count};
      }
    }
  }

  /// How many items are published from head on; goes on looking until there are `wanted`. Passes over holes.
  std::size_t available(std::size_t wanted) noexcept {
    std::uint64_t head = head_.position();
    while (head_.reach - head < wanted) {
      const auto next = runs_.at(head_.reach);
      if (next.count == 0) break;
      if (next.is_hole) {
        // Items before a hole go first; readable items lie next to each other.
        if (head_.reach != head) break;
        head += next.count;
        head_.move_to(head);
      }
      head_.reach += next.count;
    }
    return static_cast<std::size_t>(head_.reach - head);
  }

  pop_outcome take_oldest(T& into) {
    const std::uint64_t head = head_.position();
    into = std::move(*places_.at(head));
    std::destroy_at(places_.at(head));
    head_.move_to(head + 1);
    return pop_outcome::popped;
  }

  internal::places<T, Capacity> places_;
  internal::runs<Sync, Capacity> runs_;  // published by producers, walked by the consumer
  claims tail_;
  internal::single_edge<Sync> head_;  // the consumer's
  alignas(separation) internal::ends<Sync> ends_;
};

/// Places that a producer has claimed and nobody else can see. Fill them one by one with emplace(), or through spans(): then
/// say with publish() how many.
///   Threads  confined to one at a time; borrows the ring.
///   Ends     with publish(), or with its destructor: what was emplaced is published then, all at once, and places
///            that were left over are passed over. An exception between costs nothing but these.
template <class T, std::size_t Capacity, class Sync>
class mpsc_ring<T, Capacity, Sync>::reservation {
 public:
  reservation(reservation&& other) noexcept
      : ring_(other.ring_),
        first_(other.first_),
        count_(other.count_),
        filled_(other.filled_),
        open_(std::exchange(other.open_, false)) {}
  reservation& operator=(reservation&&) = delete;
  ~reservation() { publish(filled_); }

  /// How many places it has got; 0 if there was none to be had.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] explicit operator bool() const noexcept { return count_ != 0; }

  /// Makes an item in the next place; there must be one. If that throws, the place stays free.
  template <class... Arguments>
  T& emplace(Arguments&&... arguments) {
    assert(open_ && filled_ < count_);
    T* const item = std::construct_at(ring_.places_.at(first_ + filled_), std::forward<Arguments>(arguments)...);
    ++filled_;
    return *item;
  }

  /// The places, uninitialised, for who constructs items in them without emplace(): first to last.
  [[nodiscard]] ring_spans<T> spans() const noexcept { return internal::spans_of(ring_.places_, first_, count_); }

  /// Publishes the first `count` places, in which there are items now, and gives up the others; what was emplaced there is
  /// destroyed. Only the first call does.
  void publish(std::size_t count) noexcept {
    assert(count <= count_);
    if (!std::exchange(open_, false)) return;
    if (count < filled_) [[unlikely]]
      internal::destroy(internal::spans_of(ring_.places_, first_ + count, filled_ - count));
    // The hole first: it is visible as soon as the consumer comes to it over the items.
    if (count < count_) ring_.runs_.finish(first_ + count, count_ - count, true);
    if (count != 0) ring_.runs_.finish(first_, count);
  }
  /// Publishes what was emplaced.
  void publish() noexcept { publish(filled_); }

 private:
  friend mpsc_ring;
  reservation(mpsc_ring& ring, std::uint64_t first, std::size_t count) noexcept
      : ring_(ring), first_(first), count_(count), open_(count != 0) {}

  mpsc_ring& ring_;
  std::uint64_t first_;
  std::size_t count_;
  std::size_t filled_ = 0;
  bool open_;
};

}  // namespace weir::queue
