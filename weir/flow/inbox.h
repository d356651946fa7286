#pragma once

// Where items come from that nobody asked for: callbacks, other threads, signals.
//
//     producers, any threads                                consumer's thread
//
//     push --> [ mpsc_ring: block, fail, drop_newest     ] --pull--> downstream
//              [ or window: drop_oldest, latest          ]
//                     |                        ^
//                     |  wake: parking         |  room: who waits in push is woken
//                     `-----> waker            `----- pull
//
// The two halves share one state and are its only owners; the last one to leave frees it.
//   - The producer half is the inbox. Its destructor closes; no push may be under way then.
//   - The consumer half is the flow. Its destructor makes every push from then on answer `cancelled`, wakes those that
//     wait, destroys the items that are in, and withdraws its waker (R7). A push that is under way then may still
//     answer `pushed`, as one does whose item is never taken; its item is destroyed with the inbox.
//
// A ring's oldest item belongs to its one consumer, so a producer cannot drop it. Where that is the policy, the items
// lie in a window behind a mutex, which is held for moves of items and never for a call of a waker, of emit or of an
// item's destructor.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/flow/flow.h>
#include <weir/queue/mpsc_ring.h>
#include <weir/queue/parking.h>
#include <weir/queue/sync.h>

namespace weir::flow {

/// What an inbox does with an item for which there is no place.
enum class overflow : std::uint8_t {
  block,        ///< push waits; try_push answers `full`
  fail,         ///< the push fails: it answers `full`, and the item is still its owner's
  drop_newest,  ///< the item is not taken: `dropped`
  drop_oldest,  ///< the item is taken, and the oldest one destroyed for it
  latest        ///< only the last item is kept: drop_oldest with one place
};

/// What became of a push. Except for `pushed`, the item is still its owner's.
enum class inbox_push : std::uint8_t {
  pushed,
  full,      ///< there is no place
  dropped,   ///< there is no place, and the inbox is one of drop_newest
  closed,    ///< close() or fail() came first
  cancelled  ///< the flow is gone; nobody will take what is pushed
};

struct inbox_options {
  /// Items that wait for the consumer, rounded up to a power of two except for drop_oldest; 1 for latest, whatever is
  /// said.
  std::size_t capacity = limits::inbox_items;
  overflow when_full = overflow::block;
};

/// What an inbox has done so far. Every item that was given to a push is in one of the three.
struct inbox_counts {
  std::uint64_t pushed = 0;   ///< taken; some of them may be among the dropped
  std::uint64_t dropped = 0;  ///< destroyed unseen for want of a place: by drop_newest, drop_oldest or latest
  std::uint64_t refused = 0;  ///< answered full, closed or cancelled
};

/// What became of the items of a push_n.
struct [[nodiscard]] inbox_pushed {
  std::size_t count;  ///< the first so many were taken
  inbox_push answer;  ///< what became of the next one; `pushed` if all were taken
};

namespace detail {

/// How producers wait for a place: an event count (queue/event_count.h, which explains why no wake is lost) whose
/// sleepers may have a deadline.
class inbox_room {
 public:
  using deadline = std::optional<std::chrono::steady_clock::time_point>;

  /// Returns when `ready()` is true; false if the deadline passed first.
  template <class Ready>
  bool await(Ready&& ready, const deadline& until) {
    queue::native::spin before_sleep;
    for (;;) {
      if (ready()) return true;
      if (before_sleep.step()) continue;
      // Partner: the fetch_add in notify_all. Acquires what the consumer did before it.
      const std::uint32_t word = word_.fetch_or(somebody_sleeps, std::memory_order_acquire) | somebody_sleeps;
      if (ready()) return true;
      if (!until) {
        queue::native::wait(word_, word);
      } else if (!queue::native::wait_until(word_, word, *until)) {
        return ready();
      }
    }
  }

  /// After a place was given back, or when none will be any more.
  void notify_all() noexcept {
    // Partner: the fetch_or in await. A plain load could be answered before the place is seen to be free.
    std::uint32_t word = word_.fetch_add(0, std::memory_order_release);
    if ((word & somebody_sleeps) == 0) return;
    if (word_.compare_exchange_strong(word, word + 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
      queue::native::wake_all(word_);
    }
  }

 private:
  static constexpr std::uint32_t somebody_sleeps = 1;
  std::atomic<std::uint32_t> word_{0};
};

/// The last `capacity` items that were pushed and not taken.
template <class T>
class inbox_window {
 public:
  explicit inbox_window(std::size_t capacity) : places_(capacity) {}

  /// Puts the item in. One that had to go for it is left in `displaced`, to be destroyed without the lock.
  inbox_push push(T&& item, std::optional<T>& displaced) {
    const std::lock_guard hold(lock_);
    if (cancelled_) return inbox_push::cancelled;
    if (closed_) return inbox_push::closed;
    if (size_ == places_.size()) {
      displaced.emplace(std::move(*places_[first_]));
      drop_first();
    }
    places_[(first_ + size_) % places_.size()].emplace(std::move(item));
    ++size_;
    return inbox_push::pushed;
  }

  /// Moves up to `max` items into the buffer, oldest first; says whether there will be no more after them.
  bool take(item_buffer<T>& into, std::size_t max) {
    typename item_buffer<T>::appender append(into);
    const std::lock_guard hold(lock_);
    for (std::size_t count = std::min(max, size_); count != 0; --count) {
      append(std::move(*places_[first_]));
      drop_first();
    }
    return size_ == 0 && closed_;
  }

  [[nodiscard]] bool has_news() {
    const std::lock_guard hold(lock_);
    return size_ != 0 || closed_;
  }

  void close() {
    const std::lock_guard hold(lock_);
    closed_ = true;
  }

  void cancel() {
    std::vector<std::optional<T>> left;
    const std::lock_guard hold(lock_);
    cancelled_ = true;
    size_ = 0;
    left.swap(places_);  // destroyed after the lock is let go
  }

 private:
  void drop_first() noexcept {
    places_[first_].reset();  // was moved from: nothing of the item is left in it
    first_ = (first_ + 1) % places_.size();
    --size_;
  }

  std::mutex lock_;  // guards all below
  std::vector<std::optional<T>> places_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  bool closed_ = false;
  bool cancelled_ = false;
};

template <class T>
class inbox_state {
 public:
  explicit inbox_state(inbox_options options) : when_full_(options.when_full) {
    assert(options.capacity > 0);
    if (when_full_ == overflow::latest) {
      window_.emplace(1u);
    } else if (when_full_ == overflow::drop_oldest) {
      window_.emplace(options.capacity);
    } else {
      ring_.emplace(options.capacity);
    }
  }

  // --- producers -------------------------------------------------------------------------------------------------

  [[nodiscard]] inbox_push try_push(T&& item) {
    const inbox_push answer = put(std::move(item));
    count(1, answer);
    return answer;
  }

  [[nodiscard]] inbox_push push(T&& item, const inbox_room::deadline& until) {
    for (;;) {
      const inbox_push answer = put(std::move(item));
      if (answer != inbox_push::full || when_full_ != overflow::block || !await_place(until)) {
        count(1, answer);
        return answer;
      }
    }
  }

  inbox_pushed push_n(std::span<T> items) {
    for (std::size_t done = 0;;) {
      const inbox_pushed part = put_n(items.subspan(done));
      done += part.count;
      count(part.count, inbox_push::pushed);
      if (part.answer == inbox_push::full && when_full_ == overflow::block) {
        (void)await_place({});
        continue;
      }
      if (done != items.size()) count(items.size() - done, part.answer);
      return {done, part.answer};
    }
  }

  void end(step how, error why) {
    // The first end counts. Made visible to the consumer by the closing.
    if (ending_.exchange(true, std::memory_order_relaxed)) return;
    end_ = how;
    failure_ = std::move(why);
    if (window_) {
      window_->close();
    } else {
      ring_->close();
    }
    items_.notify();
    room_.notify_all();
  }

  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }
  [[nodiscard]] inbox_counts counts() const noexcept {
    return {pushed_.load(std::memory_order_relaxed), dropped_.load(std::memory_order_relaxed),
            refused_.load(std::memory_order_relaxed)};
  }

  // --- consumer --------------------------------------------------------------------------------------------------

  void join() noexcept { parties_.fetch_add(1, std::memory_order_relaxed); }

  template <class Emit>
  step give(std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      bool ended = false;
      if (window_ ? give_window(demand, emit, ended) : give_ring(demand, emit, ended)) continue;
      if (ended) return end_ == step::failed ? cx.fail(std::move(failure_)) : end_;
      if (items_.park(cx.wake().action(), [this] { return has_news(); })) return step::pending;
    }
    return step::more;
  }

  /// The consumer leaves; *this may be gone when it has.
  void leave() noexcept {
    cancelled_.store(true, std::memory_order_relaxed);
    if (window_) {
      window_->cancel();
    } else {
      ring_->cancel();
      ring_->drop_all();
    }
    room_.notify_all();
    items_.withdraw();
    release();
  }

  void release() noexcept {
    // Partner: the other party's subtraction. The last one sees all that the first did.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  /// Wakes the consumer, also when a push throws: what it leaves behind may be the end.
  struct ringing {
    inbox_state& of;
    ~ringing() { of.items_.notify(); }
  };

  inbox_push put(T&& item) {
    if (window_) {
      std::optional<T> displaced;
      const ringing after{*this};
      return put_in_window(std::move(item), displaced);
    }
    const ringing after{*this};
    switch (ring_->try_push(std::move(item))) {
      case queue::push_outcome::pushed:
        return inbox_push::pushed;
      case queue::push_outcome::closed:
        return inbox_push::closed;
      case queue::push_outcome::cancelled:
        return inbox_push::cancelled;
      case queue::push_outcome::full:
        break;
    }
    return refusal();
  }

  /// As many as there are places for; the answer is about the next one.
  inbox_pushed put_n(std::span<T> items) {
    const ringing after{*this};
    if (!window_) {
      const std::size_t done = ring_->try_push_n(items);
      if (done == items.size()) return {done, inbox_push::pushed};
      if (ring_->cancelled()) return {done, inbox_push::cancelled};
      return {done, ring_->closed() ? inbox_push::closed : refusal()};
    }
    for (std::size_t done = 0; done < items.size(); ++done) {
      std::optional<T> displaced;
      const inbox_push answer = put_in_window(std::move(items[done]), displaced);
      if (answer != inbox_push::pushed) return {done, answer};
    }
    return {items.size(), inbox_push::pushed};
  }

  inbox_push put_in_window(T&& item, std::optional<T>& displaced) {
    const inbox_push answer = window_->push(std::move(item), displaced);
    if (displaced) dropped_.fetch_add(1, std::memory_order_relaxed);
    return answer;
  }

  [[nodiscard]] inbox_push refusal() const noexcept {
    return when_full_ == overflow::drop_newest ? inbox_push::dropped : inbox_push::full;
  }

  void count(std::size_t items, inbox_push answer) noexcept {
    auto& counter = answer == inbox_push::pushed ? pushed_ : answer == inbox_push::dropped ? dropped_ : refused_;
    counter.fetch_add(items, std::memory_order_relaxed);
  }

  bool await_place(const inbox_room::deadline& until) {
    return room_.await([this] { return ring_->size() < ring_->capacity() || ring_->closed() || ring_->cancelled(); },
                       until);
  }

  /// Wakes the producers that wait if there are more free places than before.
  struct ringing_producers {
    inbox_state& of;
    std::uint64_t before = of.ring_->given_back();
    ~ringing_producers() {
      if (of.ring_->given_back() != before) of.room_.notify_all();
    }
  };

  template <class Emit>
  bool give_ring(std::size_t& demand, Emit&& emit, bool& ended) {
    const ringing_producers after{*this};
    const queue::ring_spans<T> items = ring_->readable(std::min(demand, limits::hop_quantum));
    const std::size_t count = items.size();
    if (count == 0) {
      ended = ring_->ended();
      return false;
    }
    demand -= count;
    // If emit throws, the items stay in the ring, given ones as husks, and are destroyed with it: the flow is over.
    emit_run(emit, items.first);
    if (!items.second.empty()) emit_run(emit, items.second);
    ring_->release(count);
    return true;
  }

  template <class Emit>
  bool give_window(std::size_t& demand, Emit&& emit, bool& ended) {
    item_buffer<T> items;
    ended = window_->take(items, std::min(demand, items.capacity));
    const std::size_t count = items.items().size();
    demand -= count;
    emit_run(emit, items.items());
    return count != 0;
  }

  [[nodiscard]] bool has_news() {
    if (window_) return window_->has_news();
    const ringing_producers after{*this};
    return ring_->has_items() || ring_->ended();
  }

  const overflow when_full_;
  std::optional<queue::mpsc_ring<T>> ring_;  // one of the two
  std::optional<inbox_window<T>> window_;
  queue::parking items_;  // where the consumer sleeps
  inbox_room room_;       // where producers do
  std::atomic<bool> ending_{false};
  step end_ = step::done;  // written by who ends, before the closing
  error failure_;
  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<int> parties_{1};
};

template <class T>
class inbox_flow {
 public:
  using value_type = T;

  explicit inbox_flow(inbox_state<T>& of) noexcept : state_(&of) { of.join(); }
  inbox_flow(inbox_flow&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  inbox_flow& operator=(inbox_flow&&) = delete;
  ~inbox_flow() {
    if (state_) state_->leave();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    assert(state_);
    return state_->give(demand, emit, cx);
  }

 private:
  inbox_state<T>* state_;
};

}  // namespace detail

/// A hot source: any thread pushes items, and one flow gives them. Items that find no place are treated as `when_full`
/// says, which the maker of the inbox must think about, since nobody asked for them.
///
///     inbox<reading> readings({.capacity = 256, .when_full = overflow::drop_oldest});
///     auto flow = readings.items() | map(...);          // goes to its consumer
///     if (readings.push(value) == inbox_push::cancelled) stop_sensor();
///
///   Order    each thread's items in its order, and a push that began after another had ended comes after it.
///   Ends     done after close(), or the inbox's destructor; failed after fail(). Items that are in come out before the
///            end. The first end counts.
///   Bounds   capacity items wait, no more.
///   Memory   capacity × (sizeof(T) + 8) octets, allocated by the constructor; a push or a pull allocates nothing.
///   Threads  pushes, ends and counts from any thread; items() and the flow belong to the consumer. No push may be
///            under way when the inbox is destroyed; the flow may be destroyed at any time, and the two in either
///            order.
///   Waits    push and push_n under `block` for a place: spinning for about 5 µs, then asleep. So the consumer must not
///            push to its own inbox under `block`. Nothing else waits, but drop_oldest and latest hold a mutex while
///            items move.
///   Cost     a push: a handful of atomic operations, and a wake if the consumer sleeps. From one thread to another
///            some 13 ns an item, one by one.
template <class T>
class inbox {
 public:
  using value_type = T;

  explicit inbox(inbox_options options = {}) : state_(new detail::inbox_state<T>(options)) {}
  inbox(inbox&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  inbox& operator=(inbox&&) = delete;
  /// As close().
  ~inbox() {
    if (!state_) return;
    close();
    state_->release();
  }

  /// The flow of what is pushed, from the first push on. Only once: there is one consumer, and share.h for more.
  [[nodiscard]] detail::inbox_flow<T> items() {
    assert(!taken_);
    taken_ = true;
    return detail::inbox_flow<T>(*state_);
  }

  /// Puts an item in.
  ///   item   is moved from only if the answer is `pushed`
  ///   Waits  under `block`, until there is a place, or there will be none any more: then `closed` or `cancelled`.
  [[nodiscard]] inbox_push push(T&& item) { return state_->push(std::move(item), {}); }
  [[nodiscard]] inbox_push push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    return push(T(item));
  }
  /// The same, at most until `deadline`: still `full` then.
  [[nodiscard]] inbox_push push_until(T&& item, std::chrono::steady_clock::time_point deadline) {
    return state_->push(std::move(item), deadline);
  }
  /// The same, without waiting: `full` also under `block`.
  [[nodiscard]] inbox_push try_push(T&& item) { return state_->try_push(std::move(item)); }
  [[nodiscard]] inbox_push try_push(const T& item)
    requires std::is_copy_constructible_v<T>
  {
    return try_push(T(item));
  }
  /// Puts many in, with one wake. Items of other threads may come between. Under `block` it waits as push does.
  inbox_pushed push_n(std::span<T> items) { return state_->push_n(items); }

  /// No more items. Those that are in come out, then the flow is done.
  void close() { state_->end(step::done, {}); }
  /// The same, but the flow fails with `why`.
  void fail(error why) { state_->end(step::failed, std::move(why)); }

  /// Whether the flow is gone, so that there is no point in pushing.
  [[nodiscard]] bool cancelled() const noexcept { return state_->cancelled(); }
  [[nodiscard]] inbox_counts counts() const noexcept { return state_->counts(); }

 private:
  detail::inbox_state<T>* state_;
  bool taken_ = false;
};

}  // namespace weir::flow
