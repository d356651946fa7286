#pragma once

// One flow for many subscribers.
//
//                                   log: what not everybody has read, and what is replayed
//                                   +---------------------------------------------+
//     upstream --pull, by whoever-> | 17 | 18 | 19 | 20 | 21 | 22 | 23 | 24 | 25  |
//                asks for more      +---------------------------------------------+
//                                         ^ slow subscriber         ^ fast one     ^ end_
//
// A subscriber that has read all there is pulls upstream itself, for as many items as it was asked for, unless another
// is at it. A mutex guards the log and the positions. It is not held while upstream is pulled, while items are given,
// while a waker is called or while an item is destroyed; only while items are copied out of the log and moved into it.
//
// Everybody who finds nothing sleeps at a parking of its own, and everybody is woken when there may be something:
// items, an end, room for more, or upstream's waker. Upstream's waker is the state's, because who pulled it last may be
// gone when it is called.
//
// The state has as many owners as there are hubs and subscribers; the last one to leave frees it, and upstream first
// (R7). Places of subscribers are in a list that only grows and are used again: so who wakes walks the list without the
// mutex, and at worst wakes one that has just come, for nothing.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/queue/parking.h>

namespace weir::flow {

/// What becomes of a subscriber that is too far behind.
enum class slow_subscriber : std::uint8_t {
  holds_up,  ///< the others wait for it
  fails      ///< it fails with too_large, and the others go on
};

struct share_options {
  /// Items that a subscriber may be behind, besides those that are replayed.
  std::size_t lag_items_max = limits::share_lag_items;
  /// The last items, which are kept for those who subscribe later.
  std::size_t replayed = 0;
  slow_subscriber when_behind = slow_subscriber::holds_up;
};

namespace detail {

template <class T>
class shared_state {
 public:
  /// A subscriber's place.
  struct seat {
    seat* next = nullptr;  // never changes once others can see it
    // Guarded by the state's mutex.
    bool taken = false;
    bool overtaken = false;
    std::uint64_t at = 0;  // the next item to read
    // Sleeper: the subscriber. Publishers: everybody.
    queue::parking sleeper;
  };

  shared_state(any_flow<T> upstream, share_options options) : options_(options), upstream_(std::move(upstream)) {
    assert(options.lag_items_max > 0);
  }
  shared_state(const shared_state&) = delete;
  shared_state& operator=(const shared_state&) = delete;
  ~shared_state() {
    upstream_.reset();
    for (seat* now = seats_.load(std::memory_order_relaxed); now;) delete std::exchange(now, now->next);
  }

  void join() noexcept { parties_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // Partner: the other parties' subtractions. The last one sees all that they did.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  seat& sit_down() {
    for (std::unique_ptr<seat> fresh;; fresh = std::make_unique<seat>()) {
      const std::lock_guard hold(lock_);
      seat* found = seats_.load(std::memory_order_relaxed);
      while (found && found->taken) found = found->next;
      if (!found && fresh) {
        found = fresh.release();
        found->next = seats_.load(std::memory_order_relaxed);
        // Partner: the load in wake_all.
        seats_.store(found, std::memory_order_release);
      }
      if (!found) continue;
      found->taken = true;
      found->overtaken = false;
      found->at = end_position() - std::min<std::uint64_t>(options_.replayed, log_.size());
      join();
      return *found;
    }
  }

  void stand_up(seat& mine) noexcept {
    // First, for the seat may have another owner right after.
    mine.sleeper.withdraw();
    bool others_may_go_on = false;
    {
      const std::lock_guard hold(lock_);
      const bool had_room = room() != 0;
      mine.taken = false;
      others_may_go_on = !had_room && room() != 0;
    }
    if (others_may_go_on) wake_all();
    trim();
    release();
  }

  template <class Emit>
  step give(seat& mine, std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      item_buffer<T> items;
      switch (look(mine, items, std::min(demand, items.capacity))) {
        case outlook::items:
          demand -= items.items().size();
          emit_run(emit, items.items());
          break;
        case outlook::pull:
          pull_upstream(items, std::min(demand, items.capacity));
          break;
        case outlook::nothing:
          if (mine.sleeper.park(cx.wake().action(), [&] { return has_news(mine); })) return step::pending;
          break;
        case outlook::overtaken:
          return cx.fail(weir::fail(errc::too_large, "this subscriber is too far behind the others"));
        case outlook::ended:
          return how_ == step::failed ? cx.fail(failure_) : how_;
      }
    }
    return step::more;
  }

 private:
  enum class outlook : std::uint8_t { items, pull, nothing, overtaken, ended };

  // --- under the mutex -------------------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t end_position() const noexcept { return first_ + log_.size(); }

  /// The oldest item that somebody has not read; end_position() if there is none.
  [[nodiscard]] std::uint64_t slowest() const noexcept {
    std::uint64_t least = end_position();
    for (const seat* now = seats_.load(std::memory_order_relaxed); now; now = now->next) {
      if (now->taken && !now->overtaken) least = std::min(least, now->at);
    }
    return least;
  }

  /// How many items upstream may be asked for. When others are behind only from half of the lag on, so that who waits
  /// for them is not woken for each item.
  [[nodiscard]] std::size_t room() const noexcept {
    const std::size_t lag = options_.lag_items_max;
    if (options_.when_behind == slow_subscriber::fails) return lag;
    const auto unread = static_cast<std::size_t>(end_position() - slowest());
    const std::size_t held = std::min(lag + options_.replayed, unread);
    const std::size_t free = std::min(lag, lag + options_.replayed - held);
    return free >= lag - lag / 2 ? free : 0;
  }

  [[nodiscard]] bool may_pull() const noexcept { return !pulling_ && worth_pulling_ && room() != 0; }

  /// How many items at the front of the log everybody has read and nobody will get replayed.
  [[nodiscard]] std::size_t spent() const noexcept {
    const std::uint64_t replayed = end_position() - std::min<std::uint64_t>(options_.replayed, log_.size());
    return static_cast<std::size_t>(std::min(slowest(), replayed) - first_);
  }

  /// Takes the oldest items out of the log; into a buffer, for they are not destroyed under the mutex.
  void drop(std::size_t count, item_buffer<T>& gone) {
    typename item_buffer<T>::appender append(gone);
    for (; count != 0; --count) {
      append(std::move(log_.front()));
      log_.pop_front();
      ++first_;
    }
  }

  /// Puts items into the log. No more have to go for them than they are themselves: less than a buffer.
  void add(std::span<T> items, item_buffer<T>& gone) {
    const std::size_t kept_max = options_.lag_items_max + options_.replayed;
    const std::size_t wanted = log_.size() + items.size();
    drop(wanted - std::min(wanted, kept_max), gone);
    for (T& item : items) log_.push_back(std::move(item));
  }

  void mark_overtaken() noexcept {
    for (seat* now = seats_.load(std::memory_order_relaxed); now; now = now->next) {
      if (now->taken && now->at < first_) now->overtaken = true;
    }
  }

  // --- without it ------------------------------------------------------------------------------------------------

  /// What a subscriber can do; items are copied into the buffer.
  outlook look(seat& mine, item_buffer<T>& into, std::size_t max) {
    bool others_may_go_on = false;
    bool some_are_spent = false;
    {
      typename item_buffer<T>::appender append(into);
      const std::lock_guard hold(lock_);
      if (mine.overtaken) return outlook::overtaken;
      const auto unread = static_cast<std::size_t>(end_position() - mine.at);
      if (unread == 0) {
        if (is_final(how_)) return outlook::ended;
        if (!may_pull()) return outlook::nothing;
        pulling_ = true;
        worth_pulling_ = false;
        asked_max_ = room();
        return outlook::pull;
      }
      const auto begin = static_cast<std::size_t>(mine.at - first_);
      const std::size_t count = std::min(max, unread);
      for (std::size_t i = begin; i != begin + count; ++i) append(T(std::as_const(log_[i])));
      const bool had_room = room() != 0;
      mine.at += count;
      others_may_go_on = !had_room && room() != 0;
      some_are_spent = spent() != 0;
    }
    if (others_may_go_on) wake_all();
    if (some_are_spent) trim();
    return outlook::items;
  }

  [[nodiscard]] bool has_news(const seat& mine) {
    const std::lock_guard hold(lock_);
    return mine.overtaken || mine.at != end_position() || is_final(how_) || may_pull();
  }

  /// By whoever has set pulling_. `items` is empty.
  void pull_upstream(item_buffer<T>& items, std::size_t max) noexcept {
    error failure;
    step why;
    try {
      std::size_t demand = std::min(max, asked_max_);
      typename item_buffer<T>::appender append(items);
      context cx(waker(&shared_state::wake_upstream, this), failure);
      why = upstream_->pull(demand, append, cx);
    } catch (...) {
      failure = caught();
      why = step::failed;
    }
    // Who sees the end knows that upstream is gone.
    if (is_final(why)) upstream_.reset();
    bool tell = false;
    {
      item_buffer<T> gone;  // destroyed after the lock is let go
      const std::lock_guard hold(lock_);
      pulling_ = false;
      try {
        add(items.items(), gone);
      } catch (...) {
        // No memory for the log, or an item that cannot be moved: what came before it is given, and nothing after it.
        failure = caught();
        why = step::failed;
      }
      mark_overtaken();
      if (is_final(why)) {
        how_ = why;
        failure_ = std::move(failure);
      }
      worth_pulling_ = worth_pulling_ || why == step::more;
      tell = !items.items().empty() || is_final(why) || worth_pulling_;
    }
    items.clear();
    if (tell) wake_all();
    trim();
  }

  /// Destroys what is spent.
  void trim() noexcept {
    for (;;) {
      item_buffer<T> gone;  // destroyed after the lock is let go
      const std::lock_guard hold(lock_);
      const std::size_t count = std::min(spent(), gone.capacity);
      if (count == 0) return;
      try {
        drop(count, gone);
      } catch (...) {
        // An item that cannot be moved is destroyed with the log.
        return;
      }
    }
  }

  void wake_all() noexcept {
    // Partner: the store in sit_down. Who sits down later looks for itself before it sleeps.
    for (seat* now = seats_.load(std::memory_order_acquire); now; now = now->next) now->sleeper.notify();
  }

  static void wake_upstream(void* target) noexcept {
    auto& self = *static_cast<shared_state*>(target);
    {
      // The mutex orders this before or after whoever sits down, and so before its look or after its seat can be seen.
      const std::lock_guard hold(self.lock_);
      self.worth_pulling_ = true;
    }
    self.wake_all();
  }

  const share_options options_;
  std::atomic<int> parties_{1};
  std::atomic<seat*> seats_{nullptr};  // pushed under the mutex, walked without it

  std::mutex lock_;  // guards what follows, and what the seats say it does
  std::deque<T> log_;
  std::uint64_t first_ = 0;    // position of the first item in the log
  bool worth_pulling_ = true;  // upstream may have something, as far as it has said
  bool pulling_ = false;       // somebody is at upstream, which is that one's then
  std::size_t asked_max_ = 0;
  step how_ = step::more;  // written once; final then, as failure_
  error failure_;

  std::optional<any_flow<T>> upstream_;
};

template <class T>
class subscriber {
 public:
  using value_type = T;

  explicit subscriber(shared_state<T>& of) : state_(&of), mine_(&of.sit_down()) {}
  subscriber(subscriber&& other) noexcept : state_(std::exchange(other.state_, nullptr)), mine_(other.mine_) {}
  subscriber& operator=(subscriber&&) = delete;
  ~subscriber() {
    if (state_) state_->stand_up(*mine_);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    assert(state_);
    return state_->give(*mine_, demand, emit, cx);
  }

 private:
  shared_state<T>* state_;
  typename shared_state<T>::seat* mine_;
};

}  // namespace detail

/// A flow that any number of subscribers can have: `shared<T> hub = share(flow)`, or `flow | share()`; then
/// hub.subscribe() for each. Copies are the same hub.
///   Order    each subscriber gets the items from its subscription on, in order, preceded by the last `replayed` ones;
///            so who shall get all subscribes before anybody pulls.
///   Ends     all get the end, after the items before it; also who subscribes later. An exception upstream is a failure
///            of code `threw`.
///   Demand   upstream is pulled when a subscriber that has read everything is asked for more, for no more than that
///            one is, and never while another is pulling it.
///   Bounds   lag_items_max items wait for the slowest subscriber, and `replayed` are kept. One that is further behind
///            holds the others up, for ever if it is never pulled; or fails. Without subscribers nothing is pulled.
///   Owns     upstream, which is destroyed at its end, or with the last of hub and subscribers (ref_count in
///            ReactiveX), on that one's thread. It must be ready to be pulled on any subscriber's thread, one after
///            another.
///   Threads  shared: the hub; subscribers are flows, confined each to its consumer, on any thread.
///   Waits    for a mutex, while others copy items. No user's code runs under it but items' copies and moves.
///   Memory   allocates for the log as it grows, and once for each of the most subscribers that there are at a time.
///   Cost     a copy of each item for each subscriber; one lock for each batch of up to 256, and a look at all
///            subscribers. An integer costs one subscriber 5 ns; two, each on a thread, 18 ns, and 8 ns with a lag of
///            8192.
template <class T>
class shared {
  static_assert(std::is_copy_constructible_v<T>, "each subscriber gets a copy");

 public:
  using value_type = T;

  shared(any_flow<T> upstream, share_options options)
      : state_(new detail::shared_state<T>(std::move(upstream), options)) {}
  shared(const shared& other) noexcept : state_(other.state_) { state_->join(); }
  shared& operator=(const shared&) = delete;
  ~shared() { state_->release(); }

  /// A flow of the items from here on.
  [[nodiscard]] detail::subscriber<T> subscribe() const { return detail::subscriber<T>(*state_); }

 private:
  detail::shared_state<T>* state_;
};

/// Lets many have the items of one flow: see shared.
template <flow Source>
shared<value_of<Source>> share(Source from, share_options options = {}) {
  return {any_flow<value_of<Source>>(std::move(from)), options};
}
inline auto share(share_options options = {}) {
  return detail::make_closure([options]<flow Source>(Source from) { return share(std::move(from), options); });
}

}  // namespace weir::flow
