#pragma once

// Items of one flow that several rails work on at the same time.
//
//     consumer's thread                      executors                             consumer's thread
//
//                                     .-> rail 0: make(items) -> [ results ] -.
//     upstream --pull--> [ items ] ---+-> rail 1: make(items) -> [ results ] -+--pull--> downstream
//                           spmc      '-> rail 2: make(items) -> [ results ] -'
//                                                                   spsc
//
// Whoever pulls the whole pulls upstream, too, as long as there is room for items. A rail is a task that is run again
// whenever somebody wakes it (internal/activation.h), so it is serial over any executor. It claims a few items whenever
// it has none, so the faster rails do more. Each result is published when it is made: rails are for work that takes its
// time.
//
// Who sleeps where:
//   - the consumer at feed.consumer: for results, for the end of a rail, for room for items. Rails are the publishers.
//   - a rail's items at their seat: for items, or their end. The consumer is the publisher; `idle` spares it the look
//     at every seat when nobody sleeps.
//   - a rail at its `room`: for room for results. The consumer is the publisher.
//
// Who owns what:
//   - upstream is the consumer's, and gets the consumer's own waker.
//   - the state belongs to the consumer and the rails; the last one to leave frees it. A rail leaves when its flow has
//     ended, or when it sees that the consumer has left; its flow is destroyed before, on its executor.
//   - the feed belongs to the state, and to the items that make() was given: a rail may hand these on to another hop.
//
// Why all are woken who sleep, also for one item: the one that was chosen might stand in its executor's queue behind
// something slow, while another could have begun.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/limits.h>
#include <weir/flow/any_flow.h>
#include <weir/flow/caught.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/activation.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>
#include <weir/queue/parking.h>
#include <weir/queue/spmc_ring.h>
#include <weir/queue/spsc_ring.h>

namespace weir::flow {

struct parallel_options {
  /// Items that wait for a rail, rounded up to a power of two.
  std::size_t items_max = limits::rail_items;
  /// Results of one rail that wait for the consumer, rounded up to a power of two.
  std::size_t results_max = limits::rail_items;
  /// Items that a rail takes at once: all but one of them wait behind one that takes long. Fewer are taken when few are
  /// there.
  std::size_t claim_max = limits::rail_claim;
};

namespace detail {

/// What the rails take items from.
template <class T>
struct rail_feed {
  rail_feed(std::size_t rail_count, const parallel_options& options)
      : items(options.items_max), claim_max(options.claim_max), rails(rail_count), seats(rail_count) {
    assert(rail_count > 0 && options.items_max > 0 && options.results_max > 0 && options.claim_max > 0);
  }

  /// Consumer: wakes the rails that sleep, after there are items, or their end.
  void wake_rails() noexcept {
    // Partner: the addition in rail_items::sleeps. Whoever adds after this sees what was published before.
    if (idle.fetch_add(0, std::memory_order_acq_rel) == 0) return;
    for (queue::parking& seat : seats) seat.notify();
  }

  queue::spmc_ring<T> items;
  const std::size_t claim_max;
  const std::size_t rails;
  step end = step::done;  // with failure written before items are closed, read after
  error failure;
  std::atomic<bool> gone{false};  // the consumer has left: a hint, for the rails are woken and see it at their results
  std::atomic<std::size_t> idle{0};  // rails that sleep, or are about to
  std::vector<queue::parking> seats;
  queue::parking consumer;
};

/// The flow that a rail works on: those items that it gets.
///   Threads  confined to the rail, or to where the rail takes it.
template <class T>
class rail_items {
 public:
  using value_type = T;

  rail_items(std::shared_ptr<rail_feed<T>> from, std::size_t seat) noexcept : feed_(std::move(from)), seat_(seat) {}
  rail_items(rail_items&& other) noexcept : feed_(std::move(other.feed_)), seat_(other.seat_) {
    assert(!other.asleep_);
  }
  rail_items& operator=(rail_items&&) = delete;
  ~rail_items() {
    if (feed_) wake_up();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    wake_up();
    while (demand != 0) {
      if (feed_->gone.load(std::memory_order_relaxed)) return step::cancelled;
      item_buffer<T> mine;
      claim(mine, demand);
      if (const std::size_t count = mine.items().size(); count != 0) {
        feed_->consumer.notify();  // there is room
        demand -= count;
        emit_run(emit, mine.items());
      } else if (feed_->items.ended()) {
        return feed_->end == step::failed ? cx.fail(feed_->failure) : feed_->end;
      } else if (sleeps(cx)) {
        return step::pending;
      }
    }
    return step::more;
  }

 private:
  /// Takes its share out of the ring, so that its places are free while the items are worked on.
  void claim(item_buffer<T>& into, std::size_t demand) {
    const std::size_t share = std::clamp<std::size_t>(feed_->items.size() / feed_->rails, 1, feed_->claim_max);
    typename item_buffer<T>::appender append(into);
    for (T& item : feed_->items.claim(std::min({demand, share, into.capacity}))) append(std::move(item));
  }

  [[nodiscard]] bool sleeps(context& cx) noexcept {
    asleep_ = true;
    // Partner: the addition in wake_rails. Whoever publishes after this looks at the seat.
    feed_->idle.fetch_add(1, std::memory_order_acq_rel);
    const bool parked = feed_->seats[seat_].park(
        cx.wake().action(), [this]() noexcept { return feed_->items.has_items() || feed_->items.closed(); });
    if (!parked) wake_up();
    return parked;
  }
  void wake_up() noexcept {
    if (!asleep_) return;
    asleep_ = false;
    feed_->seats[seat_].withdraw();
    feed_->idle.fetch_sub(1, std::memory_order_acq_rel);
  }

  std::shared_ptr<rail_feed<T>> feed_;
  std::size_t seat_;
  bool asleep_ = false;
};

/// The consumer's half and the rails share one.
template <class T, flow Rail>
class rails_state {
 public:
  using value_type = value_of<Rail>;

  rails_state(std::size_t rails, const parallel_options& options)
      : options_(options), feed_(std::make_shared<rail_feed<T>>(rails, options)) {}
  rails_state(const rails_state&) = delete;
  rails_state& operator=(const rails_state&) = delete;

  // --- the consumer's half ---------------------------------------------------------------------------------------

  [[nodiscard]] rail_feed<T>& feed() noexcept { return *feed_; }

  template <class Make>
  void add(executor& on, Make& make) {
    rails_.emplace_back(*this, on, options_.results_max, make(rail_items<T>(feed_, rails_.size())));
  }

  void start() noexcept {
    parties_.store(rails_.size() + 1, std::memory_order_relaxed);  // made visible to the tasks by the posts
    for (rail& each : rails_) each.wake();
  }

  /// Gives results, some of each rail in turn, and notes which rails have ended.
  ///   broken  whether upstream broke: then a rail that breaks need not be the reason, and the others have their say
  template <class Emit>
  void give(std::size_t& demand, Emit&& emit, bool broken) {
    for (std::size_t i = 0; i < rails_.size() && demand != 0 && !over(broken); ++i) {
      rail& now = rails_[next_];
      next_ = (next_ + 1) % rails_.size();
      if (now.noted) continue;
      if (now.give(demand, emit) || !now.ended()) continue;
      now.noted = true;
      ++ended_;
      if (end_ == step::done) {
        end_ = now.end;
        failure_ = std::move(now.failure);
      }
    }
  }

  /// Whether nothing comes any more.
  [[nodiscard]] bool over(bool broken) const noexcept {
    return ended_ == rails_.size() || (end_ != step::done && !broken);
  }
  step end(context& cx) { return end_ == step::failed ? cx.fail(std::move(failure_)) : end_; }

  [[nodiscard]] bool has_news() noexcept {
    return std::any_of(rails_.begin(), rails_.end(), [](rail& each) { return !each.noted && each.has_news(); });
  }

  /// The consumer leaves; *this may be gone when it has.
  void leave() noexcept {
    feed_->gone.store(true, std::memory_order_relaxed);
    for (rail& each : rails_) each.leave();
    feed_->consumer.withdraw();
    release();
  }

 private:
  class rail : public internal::activation<rail> {
   public:
    rail(rails_state& of, executor& on, std::size_t results, Rail&& work)
        : internal::activation<rail>(on), of_(of), work_(std::move(work)), results_(results) {}

    // --- the consumer's half -------------------------------------------------------------------------------------

    template <class Emit>
    bool give(std::size_t& demand, Emit&& emit) {
      const queue::ring_spans<value_type> items = results_.readable(std::min(demand, limits::hop_quantum));
      const std::size_t count = items.size();
      if (count == 0) return false;
      demand -= count;
      // If emit throws, the items stay in the ring, given ones as husks, and are destroyed with it: the flow is over.
      emit_run(emit, items.first);
      if (!items.second.empty()) emit_run(emit, items.second);
      results_.release(count);
      room_.notify_if([this] { return half_free(results_.capacity() - results_.size()); });
      return true;
    }
    [[nodiscard]] bool ended() noexcept { return results_.ended(); }
    [[nodiscard]] bool has_news() noexcept { return results_.has_items() || results_.closed(); }
    void leave() noexcept {
      results_.cancel();
      this->wake();
    }

    bool noted = false;  // the consumer knows that it has ended

    // Written by the rail before it closes its results, read by the consumer after.
    step end = step::done;
    error failure;

    // --- the rail ------------------------------------------------------------------------------------------------

    internal::then activate() noexcept {
      if (results_.cancelled()) return finish(step::cancelled);
      const std::size_t wanted = std::min(limits::hop_quantum, (results_.capacity() + 1) / 2);
      if (results_.free_places(wanted) < wanted) {
        // The consumer asks half_free of what it sees; to sleep on a smaller room would be to sleep for ever.
        if (room_.park(this->as_waker().action(),
                       [this] { return half_free(results_.free_places(results_.capacity())); })) {
          return internal::then::wait;
        }
      }
      const step why = pull(std::min(results_.free_places(wanted), limits::hop_quantum));
      if (is_final(why)) return finish(why);
      return why == step::pending ? internal::then::wait : internal::then::again;
    }

   private:
    /// Puts results into the ring, where there is room for all that are asked for, unless the consumer has left.
    struct placer {
      rail& of;

      void operator()(value_type&& item) {
        if (of.results_.try_push(std::move(item)) == queue::push_outcome::pushed) of.of_.feed_->consumer.notify();
      }
      void run(std::span<value_type> items) {
        if (of.results_.try_push_n(items) != 0) of.of_.feed_->consumer.notify();
      }
    };

    step pull(std::size_t demand) noexcept {
      try {
        context cx(this->as_waker(), failure);
        return work_->pull(demand, placer{*this}, cx);
      } catch (...) {
        failure = caught();
        return step::failed;
      }
    }

    internal::then finish(step why) noexcept {
      // First the flow, so that who sees the end knows that it is gone, and that it calls our waker no more (R7).
      work_.reset();
      end = why;
      results_.close();  // makes end and failure visible to the consumer
      of_.feed_->consumer.notify();
      this->retire();
      of_.release();
      return internal::then::over;
    }

    [[nodiscard]] bool half_free(std::size_t places) const noexcept { return places >= (results_.capacity() + 1) / 2; }

    rails_state& of_;
    std::optional<Rail> work_;
    queue::spsc_ring<value_type> results_;
    queue::parking room_;
  };

  void release() noexcept {
    // Partner: the other parties' subtractions. The last one sees all that they did.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const parallel_options options_;
  const std::shared_ptr<rail_feed<T>> feed_;
  std::deque<rail> rails_;
  // The consumer's.
  std::size_t next_ = 0;   // whose turn it is
  std::size_t ended_ = 0;  // rails whose end is noted
  step end_ = step::done;  // of the first rail that broke, with its failure
  error failure_;
  std::atomic<std::size_t> parties_{1};
};

template <flow Source, class Make>
class paralleled {
  using item_type = value_of<Source>;
  using rail = std::remove_cvref_t<std::invoke_result_t<Make&, rail_items<item_type>>>;
  using state = rails_state<item_type, rail>;

 public:
  using value_type = value_of<rail>;

  paralleled(Source source, std::vector<executor*> on, Make make, parallel_options options)
      : source_(std::move(source)), make_(std::move(make)), on_(std::move(on)), options_(options) {
    assert(!on_.empty());
  }
  paralleled(paralleled&& other) noexcept(
      std::is_nothrow_move_constructible_v<Source>&& std::is_nothrow_move_constructible_v<Make>)
      : source_(std::move(other.source_)),
        make_(std::move(other.make_)),
        on_(std::move(other.on_)),
        options_(other.options_) {
    assert(!other.state_);
  }
  paralleled& operator=(paralleled&&) = delete;
  ~paralleled() {
    if (state_) state_->leave();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    if (!state_) start();
    internal::turn now;
    for (;;) {
      const std::size_t fed = feed(cx);
      const std::size_t before = demand;
      state_->give(demand, emit, broken_);
      if (state_->over(broken_)) return state_->end(cx);
      if (demand == 0) return step::more;
      now.spend(fed);
      if (now.over()) return internal::turn::give_up(cx);
      if (fed != 0 || demand != before) continue;
      if (state_->feed().consumer.park(cx.wake().action(), [this] { return state_->has_news() || worth_feeding(); })) {
        return step::pending;
      }
    }
  }

 private:
  /// Puts items of upstream where rails find them.
  struct filler {
    rail_feed<item_type>& feed;

    void operator()(item_type&& item) {
      [[maybe_unused]] const queue::push_outcome pushed = feed.items.try_relaxed_push(std::move(item));
      assert(pushed == queue::push_outcome::pushed);
      feed.wake_rails();
    }
    void run(std::span<item_type> items) {
      [[maybe_unused]] const std::size_t pushed = feed.items.try_push_n(items);
      assert(pushed == items.size());
      feed.wake_rails();
    }
  };

  void start() {
    auto fresh = std::make_unique<state>(on_.size(), options_);
    for (executor* on : on_) fresh->add(*on, make_);
    const std::size_t capacity = fresh->feed().items.capacity();
    portion_ = std::min(on_.size() * std::min(options_.claim_max, capacity), (capacity + 1) / 2);
    state_ = fresh.release();
    state_->start();
  }

  /// Whether upstream may be asked, and there is room for what is worth asking for.
  [[nodiscard]] bool worth_feeding() noexcept {
    return !ended_ && !waits_ && state_->feed().items.free_places(portion_) >= portion_;
  }

  /// Asks upstream for a portion of items; says how many came.
  std::size_t feed(context& cx) {
    waits_ = false;
    if (!worth_feeding()) return 0;
    rail_feed<item_type>& to = state_->feed();
    std::size_t asked = portion_;
    step why;
    try {
      why = source_.pull(asked, filler{to}, cx);
    } catch (...) {
      why = cx.fail(caught());
    }
    waits_ = why == step::pending;
    if (is_final(why)) {
      ended_ = true;
      broken_ = why != step::done;
      to.end = why;
      if (why == step::failed) to.failure = std::move(cx.failure());
      to.items.close();
      to.wake_rails();
    }
    return portion_ - asked;
  }

  Source source_;
  Make make_;
  std::vector<executor*> on_;
  parallel_options options_;
  state* state_ = nullptr;
  std::size_t portion_ = 0;  // items that upstream is asked for at once
  bool ended_ = false;       // upstream has
  bool broken_ = false;      // and otherwise than well
  bool waits_ = false;       // it was pending in this pull, and has the consumer's waker
};

}  // namespace detail

/// Lets several rails work on the items of a flow at the same time, and gives what comes of them:
/// `parallel(flow, executors, make)`, or `flow | parallel(executors, make)`.
///
///     thread_pool pool(4);
///     files | parallel(pool, 4, [](auto items) { return std::move(items) | map(digest) | filter(unknown); })
///
///   on       one rail for each entry, which runs there; an executor may stand there more than once. With one executor
///            and a number, that many rails run on it: at the same time on a thread_pool, without strands; in turns on
///            a serial one.
///   make     called for each rail at the first pull, in order, with a flow of the items that this rail gets, and gives
///            the rail's flow. Functions in it that share data must guard it: rails run at the same time.
///   Order    within a rail, of the items that it gets; between rails there is none. Whoever is free takes the next
///            items, so a slow item holds up those that its rail took together with it (claim_max - 1 at most) and no
///            others. Each result is to be had as soon as it is made.
///   Ends     done when all rails are; a rail that is done early leaves its items to the others. If upstream breaks,
///            each rail is told after the items before, may give more, and when all have ended the failure comes,
///            unless every rail has mended it. A rail that breaks otherwise ends the whole after its own results, and
///            those of others are dropped. An exception upstream or in a rail is a failure of code `threw`.
///   Bounds   upstream is ahead of the rails by items_max, and each rail ahead of the consumer by claim_max items and
///            results_max results; it is pulled by whoever pulls the whole, some claim_max items for each rail at a
///            time. A rail gives up its executor after limits::hop_quantum results.
///   Owns     upstream, destroyed with this flow. The rails' flows, which are destroyed on their executors. The
///            executors must outlive the flow, and run what was posted before they go. A consumer that leaves early
///            does not wait for the rails: they stop before they take more items, and what they refer to must live
///            until they have. A blocking driver (for_each.h) must not take a thread that the rails need.
///   Waits    never: the destructor only waits for a call of a waker under way (R7).
///   Memory   items_max × (sizeof item + 8), and results_max × sizeof result for each rail, allocated at the first
///            pull.
///   Cost     a read-modify-write or two for each item and for each result: it pays off from about
///            5 µs of work an item.
///   Source   ParallelFlowable of RxJava, whose rails get items in turn, whether they are free or not
template <flow Source, class Make>
auto parallel(Source source, std::vector<executor*> on, Make make, parallel_options options = {}) {
  return detail::paralleled<Source, Make>(std::move(source), std::move(on), std::move(make), options);
}
template <flow Source, class Make>
auto parallel(Source source, executor& on, std::size_t rails, Make make, parallel_options options = {}) {
  return parallel(std::move(source), std::vector<executor*>(rails, &on), std::move(make), options);
}
template <class Make>
auto parallel(std::vector<executor*> on, Make make, parallel_options options = {}) {
  return detail::make_closure(
      [on = std::move(on), make = std::move(make), options]<flow Source>(Source source) mutable {
        return parallel(std::move(source), std::move(on), std::move(make), options);
      });
}
template <class Make>
auto parallel(executor& on, std::size_t rails, Make make, parallel_options options = {}) {
  return parallel(std::vector<executor*>(rails, &on), std::move(make), options);
}

}  // namespace weir::flow
