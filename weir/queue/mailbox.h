#pragma once

// Any number of threads put items in, one takes them out; who has nothing to do sleeps. An mpsc_ring for the items, and where
// each side sleeps: the consumer at a parking word, since it is one, the producers at an event count.
//
// A producer rings after it has published, the consumer after it has given places back. Both rings are one read-modify-write
// when nobody sleeps, so put in and take out several items at a time where there are several.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/queue/event_count.h>
#include <weir/queue/mpsc_ring.h>
#include <weir/queue/outcomes.h>
#include <weir/queue/park_point.h>
#include <weir/queue/parking.h>
#include <weir/queue/sync.h>
#include <weir/queue/wake_action.h>

namespace weir::queue {

/// See above.
///   Capacity a power of two: the places are in the object. Or else dynamic_capacity, the default: the constructor says how
///            many.
///   Owns     the items in it; destroys those that are left.
///   Memory   that of its ring and 256 bytes; nothing is allocated after construction.
///   Threads  roles: each method names its side; close() and size() are anybody's.
///   Ends     destroy it when no thread is in a call of it, and no action of park() is pending: withdraw() sees to that.
///   Source   docs/design/0003-rings-and-parking.md
template <class T, std::size_t Capacity = dynamic_capacity, class Sync = native>
class mailbox {
 public:
  using value_type = T;

  /// For `items` items or, where that is no power of two, the next one above.
  ///   Throws  std::length_error if there is no such size; std::bad_alloc.
  explicit mailbox(std::size_t items, start_position start = {})
    requires(Capacity == dynamic_capacity)
      : ring_(items, start) {}
  /// For Capacity items.
  explicit mailbox(start_position start = {}) noexcept
    requires(Capacity != dynamic_capacity)
      : ring_(start) {}

  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;
  ~mailbox() = default;

  [[nodiscard]] std::size_t capacity() const noexcept { return ring_.capacity(); }
  /// As mpsc_ring::size.
  [[nodiscard]] std::size_t size() const noexcept { return ring_.size(); }

  // --- producers -------------------------------------------------------------------------------------------------

  /// Producers: puts one item in and wakes the consumer if it sleeps. Full if and only if `capacity()` places are taken.
  ///   item   is moved from only if the answer is `pushed`, or if its move constructor throws; then it is not in the mailbox.
  ///   Waits  never.
  [[nodiscard]] push_outcome try_push(T&& item) {
    const ringing after{*this};
    return ring_.try_push(std::move(item));
  }
  [[nodiscard]] push_outcome try_push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    const ringing after{*this};
    return ring_.try_push(item);
  }

  /// Producers: puts in as many of the items as there is room for, first ones first and next to each other, and says how
  /// many. An exception from a move leaves those before it in the mailbox.
  ///   Waits  never.
  [[nodiscard]] std::size_t try_push_n(std::span<T> items) {
    const ringing after{*this};
    return ring_.try_push_n(items);
  }

  /// Producers: puts one item in. `full` is no answer: it waits for a place.
  ///   item   as with try_push
  ///   Waits  until there is a place, or the mailbox is closed or cancelled: spins for about 5 µs, then sleeps.
  [[nodiscard]] push_outcome push(T&& item) {
    for (;;) {
      const push_outcome outcome = try_push(std::move(item));
      if (outcome != push_outcome::full) return outcome;
      await_place();
    }
  }
  /// The same with a copy, which is made when there is a place for it.
  [[nodiscard]] push_outcome push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    for (;;) {
      const push_outcome outcome = try_push(item);
      if (outcome != push_outcome::full) return outcome;
      await_place();
    }
  }

  /// Producers: puts all items in, in as many parts as it takes, and says how many: fewer than all only if the mailbox was
  /// closed or cancelled meanwhile. Items of other producers may come between the parts.
  ///   Waits  as push.
  [[nodiscard]] std::size_t push_n(std::span<T> items) {
    std::size_t pushed = 0;
    while (pushed < items.size()) {
      const std::size_t more = try_push_n(items.subspan(pushed));
      pushed += more;
      if (more != 0) continue;
      if (ring_.closed() || ring_.cancelled()) break;
      await_place();
    }
    return pushed;
  }

  /// Anybody: no more items are taken, and producers that wait are told so. The consumer still gets those that are in, then
  /// `ended`.
  void close() noexcept {
    ring_.close();
    reader_.notify();
    room_.notify_all();
  }

  /// Producers: whether the consumer has gone.
  [[nodiscard]] bool cancelled() const noexcept { return ring_.cancelled(); }

  // --- consumer --------------------------------------------------------------------------------------------------

  /// Consumer: takes the oldest item, or says at once why there is none; as mpsc_ring::try_pop.
  [[nodiscard]] pop_outcome try_pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    const ringing_producers after{*this};
    return ring_.try_pop(into);
  }

  /// Consumer: takes the oldest item: `popped`, or `ended` if the mailbox is closed and every item was taken.
  ///   Waits  until it is one of the two: spins for about 5 µs, then sleeps.
  [[nodiscard]] pop_outcome pop(T& into)
    requires std::is_move_assignable_v<T>
  {
    for (;;) {
      const pop_outcome outcome = try_pop(into);
      if (outcome == pop_outcome::popped || outcome == pop_outcome::ended) return outcome;
      (void)wait();
    }
  }

  /// Consumer: the same, but not longer than until `deadline`; then `empty`.
  [[nodiscard]] pop_outcome pop_until(T& into, std::chrono::steady_clock::time_point deadline)
    requires std::is_move_assignable_v<T>
  {
    for (bool in_time = true;;) {
      const pop_outcome outcome = try_pop(into);
      if (outcome == pop_outcome::popped || outcome == pop_outcome::ended) return outcome;
      if (!in_time) return pop_outcome::empty;
      in_time = naps_until(deadline);
    }
  }

  /// Consumer: gives up to `max` items to `take(T&&)`, oldest first, and says how many; 0 at once if there is none. If
  /// `take` throws, the items given so far, that one too, are gone and the others stay.
  template <class Take>
  std::size_t consume(std::size_t max, Take&& take) {
    const ringing_producers after{*this};
    return ring_.consume(max, std::forward<Take>(take));
  }

  /// Consumer: waits until there is an item, and then says true; or until there will be none any more, and then false.
  ///   Waits  spins for about 5 µs, then sleeps.
  [[nodiscard]] bool wait() {
    while (!has_news()) {
      if (reader_.park(bed_.action(), [this] { return has_news(); })) bed_.wait();
    }
    return has_items();
  }

  /// Consumer: for who must not sleep here, such as an event loop: asks to be told when there is something to do.
  ///   Returns  true: `action` will be called once, by a producer or by who closes. False: there is an item now, or the
  ///            mailbox has ended; the action may still be called once.
  ///   Waits    while a producer is inside the action of the park before: the length of that call.
  [[nodiscard]] bool park(wake_action action) {
    return reader_.park(action, [this] { return has_news(); });
  }
  /// Consumer: takes the request back. When this has returned, no action is running, and none will run before the next park.
  void withdraw() noexcept { reader_.withdraw(); }

  /// Consumer: whether there is an item now.
  [[nodiscard]] bool has_items() noexcept {
    const ringing_producers after{*this};
    return ring_.has_items();
  }
  /// Consumer: whether the mailbox is closed and every item is taken.
  [[nodiscard]] bool ended() noexcept {
    const ringing_producers after{*this};
    return ring_.ended();
  }

  /// Consumer: wants no more. Producers that wait are told now, others at their next push; items that are in, or on their way
  /// in, are destroyed with the mailbox.
  void cancel() noexcept {
    ring_.cancel();
    room_.notify_all();
  }

 private:
  /// Wakes the consumer, also when a push throws: what it has left behind may be the end of the mailbox.
  struct ringing {
    mailbox& of;
    ~ringing() { of.reader_.notify(); }
  };

  /// Around all that the consumer does with the ring: wakes the producers that wait if there are more free places than before.
  /// There may be without an item: what a push gives up by throwing is passed over by the next look, of whatever kind.
  struct ringing_producers {
    mailbox& of;
    std::uint64_t before = of.ring_.given_back();
    ~ringing_producers() {
      if (of.ring_.given_back() != before) of.room_.notify_all();
    }
  };

  bool has_news() noexcept { return has_items() || ended(); }

  void await_place() {
    room_.await([this] { return ring_.size() < ring_.capacity() || ring_.closed() || ring_.cancelled(); });
  }

  /// False once the deadline has passed.
  bool naps_until(std::chrono::steady_clock::time_point deadline) {
    if (!reader_.park(bed_.action(), [this] { return has_news(); })) return true;
    if (bed_.wait_until(deadline)) return true;
    // A producer may be about to ring: then the wake is kept for the next wait, which only looks once more.
    reader_.withdraw();
    return false;
  }

  mpsc_ring<T, Capacity, Sync> ring_;
  alignas(separation) basic_parking<Sync> reader_;
  basic_park_point<Sync> bed_;
  alignas(separation) basic_event_count<Sync> room_;
};

}  // namespace weir::queue
