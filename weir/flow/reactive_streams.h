#pragma once

// Flows at the border to code that pushes with credit, as Reactive Streams (https://www.reactive-streams.org, 1.0.4)
// has it: `request(n)` one way, on_next the other. The numbers in comments are that specification's rules.
//
//     publisher --on_next, any thread--> [ ring of the window ] --pull--> flow         from_publisher
//        ^                                                       |
//        `----- request(half of the window) ---------------------'   on the puller's thread
//
//     flow --pull, on an executor--> on_next --> subscriber                            to_publisher
//                  ^                                  |
//                  `---- a task <---- request(n) -----'   any thread
//
// Inside of Weir demand is an argument (docs/design/0002-pull-emit.md); here it is a number that both sides change,
// once.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/activation.h>
#include <weir/flow/pipe.h>
#include <weir/queue/parking.h>
#include <weir/queue/spsc_ring.h>

namespace weir::flow {

/// What the two sides of a border know of each other.
namespace reactive {

/// How a subscriber asks for items, and stops them.
///   Threads  one call at a time, from any thread (2.7).
///   Waits    never; items may come before request returns (3.10).
class subscription {
 public:
  virtual ~subscription() = default;
  /// Asks for `count` items more; below 1 the stream ends with invalid_argument (3.9). No effect after the end or
  /// cancel (3.6).
  virtual void request(std::int64_t count) noexcept = 0;
  /// Stops the items; some may still come (2.8). A second time it does nothing (3.7).
  virtual void cancel() noexcept = 0;
};

/// What is given items, never more than it has asked for.
///   Threads  one call at a time, each after what the one before did (1.3).
template <class T>
class subscriber {
 public:
  virtual ~subscriber() = default;
  /// The first call (1.9). Nothing comes before `by` is asked.
  virtual void on_subscribe(std::shared_ptr<subscription> by) = 0;
  virtual void on_next(T&& item) = 0;
  /// The last call: the stream broke.
  virtual void on_error(error why) = 0;
  /// The last call: all items have been given.
  virtual void on_complete() = 0;
};

/// Where items come from.
template <class T>
class publisher {
 public:
  virtual ~publisher() = default;
  virtual void subscribe(std::shared_ptr<subscriber<T>> to) = 0;
};

}  // namespace reactive

struct publisher_options {
  /// Items that are asked for and not yet taken, at most.
  std::size_t window = limits::subscriber_window;
};

namespace detail {

/// The subscriber side of a publisher. The publisher and the flow share it.
template <class T>
class receiving final : public reactive::subscriber<T> {
 public:
  explicit receiving(publisher_options options) : window_(options.window), ring_(options.window) {
    assert(options.window > 0);
  }

  // --- the publisher's calls ---------------------------------------------------------------------------------------

  void on_subscribe(std::shared_ptr<reactive::subscription> by) override {
    {
      const std::lock_guard hold(lock_);
      // A second one is refused (2.5), and one that comes too late stopped (2.6); else the flow asks it, so that all
      // calls of it come from one thread (2.7).
      if (!gone_ && !by_) {
        by_ = std::move(by);
        arrived_ = true;
      }
    }
    if (by) return by->cancel();
    items_.notify();
  }

  void on_next(T&& item) override {
    if (ring_.closed()) return;
    // Partner: the addition in ask_for.
    if (received_ == requested_.load(std::memory_order_acquire)) {
      return end(step::failed, weir::fail(errc::unexpected, "the publisher gave more than was requested"));
    }
    ++received_;
    try {
      // Never full: no more was requested than there are places. Cancelled if the flow is gone; the item goes, too
      // (2.8).
      (void)ring_.try_push(std::move(item));
    } catch (...) {
      return end(step::failed, caught());
    }
    items_.notify();
  }
  void on_error(error why) override {
    over_.store(true, std::memory_order_relaxed);
    end(step::failed, std::move(why));
  }
  void on_complete() override {
    over_.store(true, std::memory_order_relaxed);
    end(step::done, {});
  }

  // --- the flow's --------------------------------------------------------------------------------------------------

  template <class Emit>
  step give(std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      refill();
      const queue::ring_spans<T> items = ring_.readable(std::min(demand, limits::hop_quantum));
      const std::size_t count = items.size();
      if (count != 0) {
        demand -= count;
        // If emit throws, the items stay in the ring, given ones as husks, and are destroyed with it: the flow is over.
        emit_run(emit, items.first);
        if (!items.second.empty()) emit_run(emit, items.second);
        ring_.release(count);
        taken_ += count;
        refill();
        continue;
      }
      if (ring_.ended()) return end_ == step::failed ? cx.fail(std::move(failure_)) : end_;
      if (items_.park(cx.wake().action(), [this] { return ring_.has_items() || ring_.closed() || may_begin(); })) {
        return step::pending;
      }
    }
    return step::more;
  }

  void leave() noexcept {
    items_.withdraw();
    ring_.cancel();
    ring_.drop_all();
    std::shared_ptr<reactive::subscription> by;
    {
      const std::lock_guard hold(lock_);
      gone_ = true;
      by = std::exchange(by_, nullptr);
    }
    if (by && !over_.load(std::memory_order_relaxed)) by->cancel();
  }

 private:
  /// The first end counts; what the publisher says after it is not heard (1.7).
  void end(step how, error why) {
    if (ring_.closed()) return;
    end_ = how;
    failure_ = std::move(why);
    ring_.close();
    items_.notify();
  }

  [[nodiscard]] bool may_begin() {
    const std::lock_guard hold(lock_);
    return !begun_ && arrived_;
  }

  /// Asks for the window at first, then for what was taken, when that is half of it.
  void refill() {
    if (ring_.closed()) return;
    if (may_begin()) {
      begun_ = true;
      ask_for(window_);
    } else if (taken_ >= std::max<std::size_t>(window_ / 2, 1)) {
      ask_for(std::exchange(taken_, 0));
    }
  }
  void ask_for(std::size_t count) {
    // Partner: the load in on_next, which request may lead to at once.
    requested_.fetch_add(count, std::memory_order_release);
    by_->request(static_cast<std::int64_t>(count));  // by_ changes no more until leave()
  }

  const std::size_t window_;
  queue::spsc_ring<T> ring_;
  queue::parking items_;  // where the flow's consumer sleeps
  std::atomic<std::uint64_t> requested_{0};
  std::atomic<bool> over_{false};  // the publisher has said how it ended

  // The publisher's.
  std::uint64_t received_ = 0;
  step end_ = step::done;  // written before the ring is closed, read after
  error failure_;

  // The flow's.
  std::size_t taken_ = 0;  // since the last request
  bool begun_ = false;

  std::mutex lock_;  // guards what follows
  std::shared_ptr<reactive::subscription> by_;
  bool arrived_ = false;
  bool gone_ = false;
};

template <class T>
class received {
 public:
  using value_type = T;

  received(std::shared_ptr<reactive::publisher<T>> from, publisher_options options)
      : from_(std::move(from)), options_(options) {}
  received(received&&) noexcept = default;
  received& operator=(received&&) = delete;
  ~received() {
    if (to_) to_->leave();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    if (!to_) {
      to_ = std::make_shared<receiving<T>>(options_);
      std::exchange(from_, nullptr)->subscribe(to_);
    }
    return to_->give(demand, emit, cx);
  }

 private:
  std::shared_ptr<reactive::publisher<T>> from_;
  publisher_options options_;
  std::shared_ptr<receiving<T>> to_;
};

/// The publisher side of a flow: pulls it by tasks on an executor. The subscriber shares it as its subscription, and it
/// keeps itself until it has ended.
template <flow Source>
class relaying final : public reactive::subscription,
                       public std::enable_shared_from_this<relaying<Source>>,
                       public internal::activation<relaying<Source>> {
  using T = value_of<Source>;
  using base = internal::activation<relaying<Source>>;

 public:
  relaying(Source from, executor& on, std::shared_ptr<reactive::subscriber<T>> to) : base(on), to_(std::move(to)) {
    source_.emplace(std::move(from));
  }

  void start() {
    self_ = this->shared_from_this();
    this->wake();
  }

  void request(std::int64_t count) noexcept override {
    if (count < 1) {
      misused_.store(true, std::memory_order_relaxed);
    } else {
      std::int64_t before = requested_.load(std::memory_order_relaxed);
      std::int64_t after;
      do {
        after = count > everything - before ? everything : before + count;  // (3.17)
      } while (!requested_.compare_exchange_weak(before, after, std::memory_order_relaxed));
    }
    this->wake();  // makes it visible
  }
  void cancel() noexcept override {
    cancelled_.store(true, std::memory_order_relaxed);
    this->wake();
  }

  internal::then activate() noexcept {
    if (!greeted_) {
      greeted_ = true;
      tell([this] { to_->on_subscribe(this->shared_from_this()); });
    }
    if (cancelled()) return finish();
    if (misused_.load(std::memory_order_relaxed)) {
      return finish_with(weir::fail(errc::invalid_argument, "a request for less than one item (3.9)"));
    }
    const std::int64_t requested = requested_.load(std::memory_order_relaxed);
    auto demand = static_cast<std::size_t>(std::min<std::int64_t>(requested, limits::run_items));
    const std::size_t before = demand;
    error failure;
    step why;
    try {
      context cx(this->as_waker(), failure);
      // Also for no items: the flow may know already that there are none (1.5).
      why = source_->pull(
          demand,
          [this](T&& item) {
            if (!cancelled()) tell([&] { to_->on_next(std::move(item)); });
          },
          cx);
    } catch (...) {
      failure = caught();
      why = step::failed;
    }
    if (requested != everything) {
      requested_.fetch_sub(static_cast<std::int64_t>(before - demand), std::memory_order_relaxed);
    }
    if (cancelled()) return finish();
    switch (why) {
      case step::more:
        return requested_.load(std::memory_order_relaxed) == 0 ? internal::then::wait : internal::then::again;
      case step::pending:
        return internal::then::wait;
      case step::done:
        source_.reset();
        tell([this] { to_->on_complete(); });
        return finish();
      case step::failed:
        return finish_with(std::move(failure));
      case step::cancelled:
        break;
    }
    return finish_with(weir::fail(errc::cancelled, "the flow was cancelled"));
  }

 private:
  static constexpr std::int64_t everything = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }

  /// A subscriber that throws has cancelled (2.13).
  template <class Call>
  void tell(Call&& call) noexcept {
    try {
      call();
    } catch (...) {
      cancelled_.store(true, std::memory_order_relaxed);
    }
  }

  internal::then finish_with(error why) noexcept {
    source_.reset();
    tell([&] { to_->on_error(std::move(why)); });
    return finish();
  }
  internal::then finish() noexcept {
    source_.reset();
    to_.reset();  // (3.13)
    this->retire();
    self_.reset();
    return internal::then::over;
  }

  std::optional<Source> source_;
  std::shared_ptr<reactive::subscriber<T>> to_;
  std::shared_ptr<relaying> self_;
  bool greeted_ = false;
  std::atomic<std::int64_t> requested_{0};
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> misused_{false};
};

/// What somebody gets who comes too late to a publisher of one.
class no_subscription final : public reactive::subscription {
 public:
  void request(std::int64_t) noexcept override {}
  void cancel() noexcept override {}
};

template <flow Source>
class relayed final : public reactive::publisher<value_of<Source>> {
  using T = value_of<Source>;

 public:
  relayed(Source from, executor& on) : on_(on) { source_.emplace(std::move(from)); }

  void subscribe(std::shared_ptr<reactive::subscriber<T>> to) override {
    assert(to);
    std::shared_ptr<relaying<Source>> first;
    {
      const std::lock_guard hold(lock_);
      if (source_) {
        first = std::make_shared<relaying<Source>>(std::move(*source_), on_, to);
        source_.reset();
      }
    }
    if (first) return first->start();
    to->on_subscribe(std::make_shared<no_subscription>());
    to->on_error(weir::fail(errc::refused, "this publisher has had its one subscriber"));
  }

 private:
  executor& on_;
  std::mutex lock_;  // guards what follows
  std::optional<Source> source_;
};

}  // namespace detail

/// The items of a publisher, as a flow. It is subscribed to at the first pull that asks for an item.
///   Bounds   asks for a window of items at first, and for what was taken whenever that is half of it, so that no more
///            than the window is on its way or waiting. A publisher that gives more fails the flow with `unexpected`.
///   Ends     as the publisher says, after the items before it. Destroying the flow cancels the subscription.
///   Threads  the publisher may call from any thread, one call at a time. request and cancel are called on the thread
///            of whoever pulls, or destroys, the flow; items that come from inside request wait in the ring.
///   Memory   the window, rounded up to a power of two, in two allocations at the first pull.
///   Waits    for a mutex that is held for a few instructions.
///   Cost     half a window of items for each request, and a wake where the publisher is on another thread: from a
///            to_publisher on a worker 45 ns an item with a window of 128, 8 ns with 4096.
template <class T>
detail::received<T> from_publisher(std::shared_ptr<reactive::publisher<T>> from, publisher_options options = {}) {
  return {std::move(from), options};
}

/// A flow as a publisher, for one subscriber; share.h makes more flows of one. `to_publisher(flow, executor)`, or
/// `flow | to_publisher(executor)`.
///   Ends     on_complete when the flow is done, else on_error: its failure, `threw` for an exception, or `cancelled`.
///            An end that the flow learns of only when it is asked for an item comes with the next request. A second
///            subscriber gets on_error with `refused`. One that throws has cancelled.
///   Threads  everything, on_subscribe too, is called on the executor, one call at a time; it must outlive the flow; the flow is
///            pulled and destroyed there, or with the publisher if nobody has subscribed. request and cancel may come
///            from any thread and from inside on_next, and only post.
///   Bounds   gives up the executor after limits::run_items. Nothing is asked of the flow that was not requested.
///   Memory   two allocations; a subscriber that is let go of is not kept.
template <flow Source>
std::shared_ptr<reactive::publisher<value_of<Source>>> to_publisher(Source from, executor& on) {
  return std::make_shared<detail::relayed<Source>>(std::move(from), on);
}
inline auto to_publisher(executor& on) {
  return detail::make_closure([&on]<flow Source>(Source from) { return to_publisher(std::move(from), on); });
}

}  // namespace weir::flow
