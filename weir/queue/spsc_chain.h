#pragma once

// A queue between one producer thread and one consumer thread that takes memory as it needs it: chunks of places, linked in
// order.
//
//     head                                        tail
//      |                                            |
//     [ ][ ][c][d] --> [e][f][g][h] --> [i][j][k][ ]
//      the consumer's chunk                the producer's chunk
//
//   - positions and their ordering are those of spsc_ring: the producer's release store of tail publishes items, and with
//     them the links to the chunks that they are in.
//   - chunks that the consumer has emptied go back to the producer, one at a time through `spare_`; what is more than that is
//     freed at once. After a burst there are two chunks at most, plus one to spare.
//   - the first few places are in the object itself: a queue that is made for a handful of items allocates nothing.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
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

struct chain_options {
  /// The most items that may be in at once; the default is no bound, and then it is the caller who must have one.
  std::size_t items_max = std::numeric_limits<std::size_t>::max();
  /// Items of a chunk; 0 for as many as fit into 4 KiB, and 16 at least.
  std::size_t chunk_items = 0;
};

/// See above.
///   Owns     the items in it; destroys those that are left.
///   Memory   768 bytes and a few places in the object; chunks for the items that are in, and at most three more.
///   Threads  roles: each method names its side; size() is anybody's.
///   Waits    never; a push that needs a chunk when there is none to spare allocates one.
///   Cost     as spsc_ring, and once for each chunk an exchange; while items do not pile up, nothing is allocated.
///   Source   docs/design/0003-rings-and-parking.md
template <class T, class Sync = native>
class spsc_chain {
  static_assert(std::is_nothrow_destructible_v<T>);

 public:
  using value_type = T;

  /// Places in the object itself.
  static constexpr std::size_t inline_items = std::max<std::size_t>(1, 128 / sizeof(T));

  /// Throws  std::length_error if a chunk cannot be that big.
  explicit spsc_chain(chain_options options = {}, start_position start = {})
      : items_max_(std::min(options.items_max, std::numeric_limits<std::size_t>::max() / 2)),
        chunk_items_(options.chunk_items != 0 ? options.chunk_items : std::max<std::size_t>(16, 4096 / sizeof(T))),
        tail_(start.value, start.value + items_max_),
        write_{inline_places(), inline_places() + inline_items, nullptr},
        head_(start.value, start.value),
        read_{inline_places(), inline_places() + inline_items, nullptr} {
    if (chunk_items_ > (std::numeric_limits<std::size_t>::max() / 2 - sizeof(chunk)) / sizeof(T)) {
      throw std::length_error("weir::queue::spsc_chain: a chunk cannot hold that many items");
    }
  }

  spsc_chain(const spsc_chain&) = delete;
  spsc_chain& operator=(const spsc_chain&) = delete;

  ~spsc_chain() {
    if constexpr (!std::is_trivially_destructible_v<T>) drop_all();
    chunk* rest = read_.in != nullptr ? read_.in : first_chunk_;
    while (rest != nullptr) free_chunk(std::exchange(rest, rest->next));
    free_chunk(spare_.load(std::memory_order_relaxed));
  }

  /// How many items are in, as a figure for people: another thread may have changed it already.
  [[nodiscard]] std::size_t size() const noexcept {
    // Head first: tail only grows, so the difference is never negative.
    const std::uint64_t head = head_.seen();
    return static_cast<std::size_t>(std::min<std::uint64_t>(tail_.seen() - head, items_max_));
  }

  // --- producer --------------------------------------------------------------------------------------------------

  /// Producer: puts one item in. Full if and only if `items_max` items are in.
  ///   item    is moved from only if the answer is `pushed`, or if its move constructor throws; then the queue is as before.
  ///   Throws  std::bad_alloc; then the queue is as before.
  [[nodiscard]] push_outcome try_push(T&& item) { return try_emplace(std::move(item)); }
  [[nodiscard]] push_outcome try_push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    return try_emplace(item);
  }

  /// Producer: the same, with an item made in its place. Nothing is made, and no argument moved from, unless there is a
  /// place.
  template <class... Arguments>
  [[nodiscard]] push_outcome try_emplace(Arguments&&... arguments) {
    if (ends_.any()) [[unlikely]]
      return refusal();
    const std::uint64_t tail = tail_.position();
    if (tail == tail_.reach && free_places(1) == 0) return push_outcome::full;
    if (write_.at == write_.end) write_ = into(next_chunk(write_));
    std::construct_at(write_.at, std::forward<Arguments>(arguments)...);
    ++write_.at;
    tail_.move_to(tail + 1);
    return push_outcome::pushed;
  }

  /// Producer: moves in the items, first ones first, until `items_max` are in, and says how many. If a move or an
  /// allocation throws, those before it are in.
  [[nodiscard]] std::size_t try_push_n(std::span<T> items) {
    if (ends_.any()) return 0;
    return internal::push_parts(*this, items, whole);
  }

  /// Producer: free places, for the caller to construct items in: first to last, then `commit`. At most `count`, and at most
  /// what is left of one chunk and the whole next one. Places that are not committed are simply offered again.
  /// Says nothing of the ends: cancelled() does.
  ///   Throws  std::bad_alloc if there is no memory for a next chunk and no place left in this one; then the queue is as before.
  [[nodiscard]] ring_spans<T> prepare(std::size_t count) {
    count = std::min(count, free_places(count));
    const auto left = static_cast<std::size_t>(write_.end - write_.at);
    const std::size_t first = std::min(count, left);
    const ring_spans<T> here = internal::to_be_written<T>({{write_.at, first}, {write_.at + first, 0}});
    if (first == count) return here;
    try {
      return {here.first, {next_chunk(write_)->places(), std::min(count - first, chunk_items_)}};
    } catch (const std::bad_alloc&) {
      if (here.empty()) throw;
      return here;
    }
  }

  /// Producer: publishes the first `count` places of the last `prepare`, in which there are items now.
  void commit(std::size_t count) noexcept {
    if (count == 0) return;
    const std::uint64_t tail = tail_.position();
    assert(count <= tail_.reach - tail);
    const auto left = static_cast<std::size_t>(write_.end - write_.at);
    if (count > left) {
      // prepare() has linked the next chunk.
      write_ = into(next_of(write_));
      write_.at += count - left;
    } else {
      write_.at += count;
    }
    tail_.move_to(tail + count);
  }

  /// Producer: how many more items may be put in. Looks at the consumer's position if it remembers fewer than `wanted`.
  [[nodiscard]] std::size_t free_places(std::size_t wanted) noexcept {
    const std::uint64_t tail = tail_.position();
    if (tail_.reach - tail < wanted) tail_.reach = head_.seen() + items_max_;
    return static_cast<std::size_t>(tail_.reach - tail);
  }

  /// Producer: no item comes after those that are in. The consumer still gets these, then `ended`.
  void close() noexcept { ends_.close(); }

  /// Producer: whether the consumer has gone.
  [[nodiscard]] bool cancelled() const noexcept { return ends_.cancelled(); }

  // --- consumer --------------------------------------------------------------------------------------------------

  /// Consumer: takes the oldest item. Empty if and only if there is none and there may be more; `ended` if and only if there
  /// is none and the producer has closed. If the assignment throws, the item stays.
  [[nodiscard]] pop_outcome try_pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    const std::uint64_t head = head_.position();
    if (head == head_.reach && !has_items()) {
      // The last items may have come just before the producer closed, and after our look: then they are to be had.
      if (!ends_.closed()) return pop_outcome::empty;
      if (!has_items()) return pop_outcome::ended;
    }
    if (read_.at == read_.end) leave_chunk();
    into = std::move(*read_.at);
    std::destroy_at(read_.at);
    ++read_.at;
    head_.move_to(head + 1);
    return pop_outcome::popped;
  }

  /// Consumer: moves items out as long as there are some and room for them, and says how many. If an assignment throws, its
  /// item and those behind it stay.
  [[nodiscard]] std::size_t try_pop_n(std::span<T> into)
    requires std::is_move_assignable_v<T>
  {
    return internal::pop_parts(*this, into, whole);
  }

  /// Consumer: gives up to `max` items to `take(T&&)`, oldest first, and says how many. If `take` throws, the items given so
  /// far, that one too, are gone and the others stay.
  template <class Take>
  std::size_t consume(std::size_t max, Take&& take) {
    return internal::consume_parts(*this, max, take, whole);
  }

  /// Consumer: the oldest items, at most `max`, and at most those of two chunks; they stay until `release`.
  [[nodiscard]] ring_spans<T> readable(std::size_t max) noexcept {
    const std::size_t count = std::min(max, available(head_.position(), max));
    if (count != 0 && read_.at == read_.end) leave_chunk();
    const auto left = static_cast<std::size_t>(read_.end - read_.at);
    const std::size_t first = std::min(count, left);
    const ring_spans<T> here = internal::to_be_read<T>({{read_.at, first}, {read_.at + first, 0}});
    if (first == count) return here;
    return {here.first, {next_of(read_)->places(), std::min(count - first, chunk_items_)}};
  }

  /// Consumer: destroys the first `count` items of the last `readable` and gives their places back.
  void release(std::size_t count) noexcept {
    if (count == 0) return;
    const std::uint64_t head = head_.position();
    assert(count <= head_.reach - head);
    const auto left = static_cast<std::size_t>(read_.end - read_.at);
    std::destroy_n(read_.at, std::min(count, left));
    if (count > left) {
      leave_chunk();
      std::destroy_n(read_.at, count - left);
      read_.at += count - left;
    } else {
      read_.at += count;
    }
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
    while (const std::size_t count = readable(std::numeric_limits<std::size_t>::max()).size()) release(count);
  }

 private:
  struct chunk {
    chunk* next =
        nullptr;  // written by the producer before it publishes an item there, read by the consumer after that

    static constexpr std::size_t places_at = (sizeof(chunk*) + alignof(T) - 1) / alignof(T) * alignof(T);
    T* places() noexcept { return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this) + places_at); }
  };
  /// A side's next place, the end of the chunk that it is in, and that chunk; nullptr for the places in the object.
  struct cursor {
    T* at;
    T* end;
    chunk* in;
  };

  // A chain's spans end with its chunks: they need not be cut.
  static constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] push_outcome refusal() const noexcept {
    return ends_.cancelled() ? push_outcome::cancelled : push_outcome::closed;
  }

  T* inline_places() noexcept { return reinterpret_cast<T*>(inline_); }
  cursor into(chunk* to) const noexcept { return {to->places(), to->places() + chunk_items_, to}; }
  chunk*& next_of(const cursor& from) noexcept { return from.in != nullptr ? from.in->next : first_chunk_; }

  std::size_t available(std::uint64_t head, std::size_t wanted) noexcept {
    if (head_.reach - head < wanted) head_.reach = tail_.seen();
    return static_cast<std::size_t>(head_.reach - head);
  }

  /// Producer: the chunk behind, linked now if it is not yet.
  chunk* next_chunk(const cursor& from) {
    chunk*& next = next_of(from);
    if (next == nullptr) {
      // Partner: the exchange in leave_chunk. The consumer is through with that chunk.
      chunk* fresh = spare_.exchange(nullptr, std::memory_order_acquire);
      if (fresh != nullptr) {
        fresh->next = nullptr;
      } else {
        fresh = new_chunk();
      }
      next = fresh;
    }
    return next;
  }

  /// Consumer: goes on to the next chunk, which holds an item, and offers the one it leaves to the producer.
  void leave_chunk() noexcept {
    chunk* const left = read_.in;
    read_ = into(next_of(read_));
    // Partner: the exchange in next_chunk. What comes back was left here before, and the producer has not seen it.
    if (left != nullptr) free_chunk(spare_.exchange(left, std::memory_order_release));
  }

  static constexpr std::align_val_t alignment{std::max(alignof(T), separation)};
  std::size_t chunk_octets() const noexcept { return chunk::places_at + chunk_items_ * sizeof(T); }
  chunk* new_chunk() const { return std::construct_at(static_cast<chunk*>(::operator new(chunk_octets(), alignment))); }
  void free_chunk(chunk* old) const noexcept {
    if (old != nullptr) ::operator delete(old, alignment);
  }

  const std::size_t items_max_;
  const std::size_t chunk_items_;
  internal::ends<Sync> ends_;

  internal::single_edge<Sync> tail_;  // the producer's, with
  cursor write_;

  internal::single_edge<Sync> head_;  // the consumer's, with
  cursor read_;

  alignas(separation) typename Sync::template atomic<chunk*> spare_{nullptr};  // empty, for either side to take
  chunk* first_chunk_ = nullptr;  // what comes after the places in the object; as chunk::next
  alignas(std::max(alignof(T), separation)) std::byte inline_[inline_items * sizeof(T)];
};

}  // namespace weir::queue
