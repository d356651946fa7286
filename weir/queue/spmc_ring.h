#pragma once

// A bounded ring between one producer thread and any number of consumer threads; each item goes to one of them.
//
//         freed        head                 tail            freed + capacity
//            |  claimed  |  readable items    |   free places    |
//     ... ---[ ? ][   ][ c ][ d ][ e ][ f ][   ][   ][   ]--- ...
//
//   - a consumer claims items with one compare-exchange of head, moves them out, and gives all their places back with one
//     store (internal/runs.h). Items go to consumers in the order in which they came.
//   - the producer walks over the runs that were given back, and only then writes their places again. A consumer that is
//     not through with its items holds up the places behind them, but neither the items nor the other consumers.
//
// What it does not do: sleep (parking.h does), or say who owns it. Destroy it when all sides have let go.

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
///   Memory   capacity × (sizeof(T) + 8) and 640 bytes; nothing is allocated after construction.
///   Threads  roles: each method names its side; size() is anybody's.
///   Waits    a strict push only, see there. A consumer tries again when another was faster, so one of them always gets on.
///   Cost     one compare-exchange and one store for a pop or a claim, whatever the number of its items.
///   Source   docs/design/0003-rings-and-parking.md
template <class T, std::size_t Capacity = dynamic_capacity, class Sync = native>
class spmc_ring {
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  using value_type = T;
  class batch;
  class consumer;

  /// A ring for `items` items or, where that is no power of two, the next one above.
  ///   Throws  std::length_error if there is no such size; std::bad_alloc.
  explicit spmc_ring(std::size_t items, start_position start = {})
    requires(Capacity == dynamic_capacity)
      : places_(items),
        runs_(places_.capacity(), start.value),
        tail_(start.value, start.value + 1),
        freed_(start.value),
        head_(start.value) {
    runs_.make(1);
  }
  /// A ring for Capacity items.
  explicit spmc_ring(start_position start = {}) noexcept
    requires(Capacity != dynamic_capacity)
      : runs_(start.value), tail_(start.value, start.value + 1), freed_(start.value), head_(start.value) {
    runs_.make(1);
  }

  spmc_ring(const spmc_ring&) = delete;
  spmc_ring& operator=(const spmc_ring&) = delete;
  ~spmc_ring() {
    if constexpr (!std::is_trivially_destructible_v<T>) drop_all();
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return places_.capacity(); }

  /// How many items are to be had, as a figure for people: another thread may have changed it already. Never more than the
  /// capacity.
  [[nodiscard]] std::size_t size() const noexcept {
    const std::uint64_t head = head_.position.load(std::memory_order_relaxed);
    const auto count = static_cast<std::int64_t>(tail_.seen() - head);
    return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(capacity())));
  }

  // --- producer --------------------------------------------------------------------------------------------------

  /// Producer: puts one item in. Full if and only if `capacity()` items are to be had: a place whose item was claimed and is
  /// still being moved out is not "full".
  ///   item   is moved from only if the answer is `pushed`, or if its move constructor throws; then the ring is as before.
  ///   Waits  while there are fewer items to be had than places, and none of these places is free: for the consumer that
  ///          has claimed the oldest to give it back. try_relaxed_push does not.
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
    if (tail == tail_.reach && !awaits_place(tail)) return push_outcome::full;
    return put(tail, std::forward<Arguments>(arguments)...);
  }

  /// Producer: as try_push, but never waits: `full` may also mean that the oldest place is still being given back.
  [[nodiscard]] push_outcome try_relaxed_push(T&& item) { return try_relaxed_emplace(std::move(item)); }
  [[nodiscard]] push_outcome try_relaxed_push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    return try_relaxed_emplace(item);
  }
  template <class... Arguments>
  [[nodiscard]] push_outcome try_relaxed_emplace(Arguments&&... arguments) {
    if (ends_.any()) [[unlikely]]
      return refusal();
    const std::uint64_t tail = tail_.position();
    if (free_places(1) == 0) return push_outcome::full;
    return put(tail, std::forward<Arguments>(arguments)...);
  }

  /// Producer: moves in as many of the items as there are free places for, first ones first, and says how many. An
  /// exception from a move leaves those before it in the ring. Never waits.
  [[nodiscard]] std::size_t try_push_n(std::span<T> items) {
    if (ends_.any()) return 0;
    return internal::push_parts(*this, items, part());
  }

  /// Producer: up to `count` free places, for the caller to construct items in: first to last, then `commit`. Places that
  /// are not committed are simply offered again.
  /// Never waits. Says nothing of the ends: cancelled() does.
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

  /// Producer: how many places are free. Looks for places given back if it remembers fewer than `wanted`.
  [[nodiscard]] std::size_t free_places(std::size_t wanted) noexcept {
    const std::uint64_t tail = tail_.position();
    if (tail_.reach - tail < wanted) find_places(tail, wanted);
    return static_cast<std::size_t>(tail_.reach - tail);
  }

  /// Producer: no item comes after those that are in. The consumers still get these, then `ended`.
  void close() noexcept { ends_.close(); }

  /// Producer: whether the consumers have gone.
  [[nodiscard]] bool cancelled() const noexcept { return ends_.cancelled(); }

  // --- consumers -------------------------------------------------------------------------------------------------

  /// Consumers: takes the oldest item. Empty if and only if there is none and there may be more; `ended` if and only if there
  /// is none and the producer has closed.
  ///   T  must not throw when it is assigned to, since an item that is claimed cannot be put back: use claim() for others.
  [[nodiscard, gnu::always_inline]] pop_outcome try_pop(T& into) noexcept
    requires std::is_nothrow_move_assignable_v<T>
  {
    run mine = take(1);
    if (mine.count == 0) {
      if (const pop_outcome none = why_none(mine, 1); none != pop_outcome::popped) return none;
    }
    into = std::move(*places_.at(mine.first));
    give_back(mine);
    return pop_outcome::popped;
  }

  /// Consumers: takes items, oldest first, as long as there are some and room for them, and says how many.
  [[nodiscard]] std::size_t try_pop_n(std::span<T> into) noexcept
    requires std::is_nothrow_move_assignable_v<T>
  {
    const batch items = claim(into.size());
    internal::move_out(items.spans(), into, [](std::size_t) {});
    return items.size();
  }

  /// Consumers: gives up to `max` items to `take(T&&)`, oldest first, and says how many.
  template <class Take>
  std::size_t consume(std::size_t max, Take&& take) noexcept {
    static_assert(noexcept(take(std::declval<T&&>())),
                  "an item that is claimed cannot be put back: give consume() a noexcept function, or use claim() "
                  "and keep the batch");
    const batch items = claim(max);
    internal::give(items.spans(), take, [](std::size_t) {});
    return items.size();
  }

  /// Consumers: takes up to `max` items in place; none if there is none. Their places are free again when the batch ends.
  [[nodiscard]] batch claim(std::size_t max) noexcept { return {*this, take(max)}; }

  /// Consumers: whether there is an item now.
  [[nodiscard]] bool has_items() const noexcept {
    const std::uint64_t head = head_.position.load(std::memory_order_relaxed);
    return static_cast<std::int64_t>(tail_.seen() - head) > 0;
  }

  /// Consumers: whether the producer has closed; there may be items left.
  [[nodiscard]] bool closed() const noexcept { return ends_.closed(); }

  /// Consumers: whether the producer has closed and every item is claimed.
  [[nodiscard]] bool ended() const noexcept {
    // The look at tail must come after that at the flag: the last items may have come in between.
    return closed() && !has_items();
  }

  /// Consumers: none wants more. The producer is told at its next push; items that are in, or on their way in, are destroyed
  /// by drop_all or by the destructor.
  void cancel() noexcept { ends_.cancel(); }

  /// A consumer, or the only owner: destroys all items that are to be had.
  void drop_all() noexcept {
    while (claim(capacity()).size() != 0) {
    }
  }

 private:
  // Longer batches go in parts, so that the other side can work at one while this side works at the next.
  [[nodiscard]] std::size_t part() const noexcept { return std::max<std::size_t>(capacity() / 4, 1); }

  /// The edge that the consumers move together.
  struct alignas(separation) claims {
    explicit claims(std::uint64_t start) noexcept : position(start), reach(start) {}
    typename Sync::template atomic<std::uint64_t> position;  // up to here items are claimed
    typename Sync::template atomic<std::uint64_t> reach;     // claims may go this far; never ahead of the truth
  };
  struct run {
    std::uint64_t first = 0;
    std::size_t count = 0;
  };
  // Who pushes item by item walks over this many places that were given back, and is then spared the next looks.
  static constexpr std::size_t walk = 64;

  // As in spsc_ring: what is rare is not inlined.
  [[nodiscard, gnu::noinline]] push_outcome refusal() const noexcept {
    return ends_.cancelled() ? push_outcome::cancelled : push_outcome::closed;
  }

  template <class... Arguments>
  push_outcome put(std::uint64_t tail, Arguments&&... arguments) {
    std::construct_at(places_.at(tail), std::forward<Arguments>(arguments)...);
    tail_.move_to(tail + 1);
    return push_outcome::pushed;
  }

  /// Moves the producer's reach until there are `wanted` places or no more were given back.
  void find_places(std::uint64_t tail, std::size_t wanted) noexcept {
    // In the first lap, places have never been used, and a ring that is made for few items should cost little: as many
    // words again as there are.
    while (runs_.made() < capacity() && tail_.reach - tail < wanted) {
      runs_.make(std::min(runs_.made(), capacity() - runs_.made()));
      tail_.reach = freed_ + runs_.made();
    }
    if (runs_.made() < capacity()) return;
    std::uint64_t freed = freed_;
    while (freed + runs_.made() - tail < std::max(wanted, walk)) {
      const std::size_t count = runs_.at(freed).count;
      if (count == 0) break;
      freed += count;
    }
    freed_ = freed;
    tail_.reach = freed + runs_.made();
  }

  /// Whether there is a place for one item, now or as soon as a consumer gives it back.
  [[gnu::noinline]] bool awaits_place(std::uint64_t tail) noexcept {
    typename Sync::spin wait;
    for (;;) {
      find_places(tail, 1);
      if (tail_.reach != tail) return true;
      if (tail - head_.position.load(std::memory_order_relaxed) == capacity()) return false;
      wait.pause();
    }
  }

  /// Nothing was to be had; says why, or takes it now.
  [[nodiscard, gnu::noinline]] pop_outcome why_none(run& mine, std::size_t max) noexcept {
    if (!ends_.closed()) return pop_outcome::empty;
    // The last items may have come just before the producer closed, and after our look: then they are to be had.
    mine = take(max);
    return mine.count != 0 ? pop_outcome::popped : pop_outcome::ended;
  }

  [[gnu::always_inline]] run take(std::size_t max) noexcept {
    max = std::min(max, capacity());
    if (max == 0) return {};
    // Whoever reads a head here sees at least the tail that its claimant saw, so head never seems to be ahead. Partner: the
    // exchange below.
    std::uint64_t head = head_.position.load(std::memory_order_acquire);
    for (;;) {
      // Partner: the store below, by another consumer that has seen the items up to there.
      const std::uint64_t known = head_.reach.load(std::memory_order_acquire);
      auto count = static_cast<std::int64_t>(known - head);
      if (count < static_cast<std::int64_t>(max)) {
        const std::uint64_t tail = tail_.seen();
        count = static_cast<std::int64_t>(tail - head);
        assert(count >= 0);
        if (count == 0) return {};
        // An older reach may overwrite a newer one: that costs the next consumer a look.
        if (count > static_cast<std::int64_t>(max)) head_.reach.store(tail, std::memory_order_release);
      }
      const std::size_t mine = std::min(max, static_cast<std::size_t>(count));
      if (head_.position.compare_exchange_weak(head, head + mine, std::memory_order_release,
                                               std::memory_order_acquire)) {
        return {head, mine};
      }
    }
  }

  void give_back(run mine) noexcept {
    internal::destroy(internal::spans_of(places_, mine.first, mine.count));
    runs_.finish(mine.first, mine.count);
  }

  internal::places<T, Capacity> places_;
  internal::runs<Sync, Capacity> runs_;  // given back by consumers, walked by the producer
  internal::single_edge<Sync> tail_;     // the producer's, and this:
  std::uint64_t freed_;                  // up to here places were given back
  claims head_;
  alignas(separation) internal::ends<Sync> ends_;
};

/// Items that a consumer has claimed: nobody else sees them. They are destroyed, and their places given back, when it ends.
///
///     for (T& item : ring.claim(64)) use(std::move(item));
///
///   Threads  confined to one at a time; borrows the ring.
template <class T, std::size_t Capacity, class Sync>
class spmc_ring<T, Capacity, Sync>::batch {
 public:
  batch(batch&& other) noexcept : ring_(other.ring_), run_(std::exchange(other.run_, {})) {}
  batch& operator=(batch&&) = delete;
  ~batch() {
    if (run_.count != 0) ring_.give_back(run_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return run_.count; }
  [[nodiscard]] bool empty() const noexcept { return run_.count == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return run_.count != 0; }
  [[nodiscard]] ring_spans<T> spans() const noexcept {
    return internal::spans_of(ring_.places_, run_.first, run_.count);
  }
  [[nodiscard]] auto begin() const noexcept { return spans().begin(); }
  [[nodiscard]] auto end() const noexcept { return spans().end(); }

 private:
  friend spmc_ring;
  batch(spmc_ring& ring, run mine) noexcept : ring_(ring), run_(mine) { internal::to_be_read(spans()); }

  spmc_ring& ring_;
  run run_;
};

/// A consumer that takes item by item and still pays for a claim only once a batch: it claims up to `in_hand` items and hands
/// them out. Nobody else gets those; so more in hand is faster, and less is fairer.
///   Threads  confined to one at a time; borrows the ring.
///   Ends     what is still in its hand is destroyed with it.
template <class T, std::size_t Capacity, class Sync>
class spmc_ring<T, Capacity, Sync>::consumer {
 public:
  ///   in_hand  at least 1, which 0 is taken for.
  explicit consumer(spmc_ring& ring, std::size_t in_hand = 64) noexcept
      : ring_(ring), in_hand_(std::max<std::size_t>(in_hand, 1)) {}
  consumer(const consumer&) = delete;
  consumer& operator=(const consumer&) = delete;
  ~consumer() {
    if (hand_.count != 0) ring_.give_back(hand_);
  }

  /// As spmc_ring::try_pop, with what is in its hand first. If the assignment throws, the item stays in hand.
  [[nodiscard]] pop_outcome try_pop(T& into) noexcept(std::is_nothrow_move_assignable_v<T>)
    requires std::is_move_assignable_v<T>
  {
    if (next_ == hand_.count) {
      hand_ = ring_.take(in_hand_);
      next_ = 0;
      if (hand_.count == 0) {
        if (const pop_outcome none = ring_.why_none(hand_, in_hand_); none != pop_outcome::popped) return none;
      }
    }
    into = std::move(*ring_.places_.at(hand_.first + next_));
    if (++next_ == hand_.count) {
      ring_.give_back(hand_);
      hand_.count = next_ = 0;
    }
    return pop_outcome::popped;
  }

  /// How many items are in its hand.
  [[nodiscard]] std::size_t size() const noexcept { return hand_.count - next_; }

 private:
  spmc_ring& ring_;
  const std::size_t in_hand_;
  run hand_;              // all of these are alive until they are given back together
  std::size_t next_ = 0;  // of these, the first that is still to be handed out
};

}  // namespace weir::queue
