#pragma once

// Where flows take the time from, and who wakes them when it has come.
//
// A flow that waits for a moment is pending as for anything else: it sets an alarm with its consumer's waker and says so.
// Only pulls give items, so a time that has come while nobody pulls is noticed at the next pull, and no clock is asked more
// often than that says.

#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <weir/flow/flow.h>

namespace weir::flow {

class alarm;

/// A clock that calls wakers: `timer_thread` (timer_thread.h), or `testing::virtual_time`. To make flows wait on timers of
/// your own, say of your event loop, derive from it: tell the time, and see to it that fire_due is called when it has come.
///   Threads  shared. Alarms are set and cleared from any thread.
///   Waits    for the length of other threads' calls, and while fire_due calls a waker, which is cheap and never runs a consumer.
///   Ends     outlives every flow that was given it: declare it before the executors that flows run on, which destroy them.
class timers {
 public:
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

  timers() = default;
  timers(const timers&) = delete;
  timers& operator=(const timers&) = delete;

  /// The time: never goes back.
  [[nodiscard]] virtual time_point now() const noexcept = 0;

  /// A length of time as flows take it: any of std::chrono's durations, also one in floating point. One that is too long is the
  /// longest there is, some 292 years: `timeout(flow, std::chrono::hours::max(), clock)` waits for ever.
  class span {
   public:
    template <class Rep, class Period>
    constexpr span(const std::chrono::duration<Rep, Period>& given) noexcept : length_(bounded(given)) {}  // NOLINT
    constexpr operator duration() const noexcept { return length_; }                                       // NOLINT

   private:
    template <class Rep, class Period>
    static constexpr duration bounded(const std::chrono::duration<Rep, Period>& given) noexcept {
      // Compared as a double, which holds what a conversion to nanoseconds would overflow by.
      const std::chrono::duration<double, std::nano> ns(given);
      if (ns.count() >= 0x1p63) return duration::max();
      if (ns.count() < -0x1p63) return duration::min();
      return std::chrono::duration_cast<duration>(given);
    }

    duration length_;
  };

  /// A moment so much after another one, at most the end of time. A negative wait is none.
  static time_point after(time_point begin, duration wait) noexcept {
    if (wait <= duration::zero()) return begin;
    return begin > time_point::max() - wait ? time_point::max() : begin + wait;
  }

 protected:
  virtual ~timers() { assert(waiting_.empty() && "a flow outlives the timers that it waits on"); }

  /// Calls the wakers that are due, the earliest first and of one moment in the order in which they were set. Gives the
  /// moment of the next. Between two wakers others may set and clear alarms.
  std::optional<time_point> fire_due(time_point now) noexcept;

  /// The moment of the earliest alarm, if there is one.
  [[nodiscard]] std::optional<time_point> next() noexcept;

 private:
  friend class alarm;

  /// Called when an alarm was set that comes before all others: whoever sleeps until the next one sleeps too long.
  virtual void sooner() noexcept = 0;

  struct by_time {
    bool operator()(const alarm* a, const alarm* b) const noexcept;
  };
  using waiting_set = std::set<alarm*, by_time>;

  void set(alarm& which, time_point at, waker wake);
  void clear(alarm& which) noexcept;
  void take_out(alarm& which) noexcept;

  std::mutex lock_;  // guards what follows, and the alarms' parts in it; held while a waker is called
  waiting_set waiting_;
  std::uint64_t set_count_ = 0;
};

/// One moment at which one waker is called, once. The last member to wait for: an operator keeps it beside its source, and
/// sets it when it is pending.
///   Threads  confined. It is moved only before it is first set, like the flow that it is in (R5).
///   Waits    in set, clear and the destructor while a waker of the same timers is called: when they return, the waker that was
///            set before is not running and is not called any more (R7).
///   Memory   one node of a tree, allocated when it is first set.
///   Cost     a lock, and the logarithm of how many alarms wait. To set it again to what it is set to costs nothing.
class alarm {
 public:
  explicit alarm(timers& on) noexcept : on_(&on) {}
  alarm(alarm&& other) noexcept : on_(other.on_) { assert(!other.set_ && !other.node_); }
  alarm& operator=(alarm&&) = delete;
  ~alarm() { clear(); }

  [[nodiscard]] timers::time_point now() const noexcept { return on_->now(); }

  /// Has `wake` called at that time, or as soon as the timers run if it has passed; in place of what was set before.
  void set(timers::time_point at, waker wake) {
    // If it goes off after this look, that is a call of this very waker.
    if (waiting_.load(std::memory_order_relaxed) && at == at_ && wake == wake_) return;
    on_->set(*this, at, wake);
    set_ = true;
  }

  /// Has nothing called.
  void clear() noexcept {
    if (!set_) return;
    on_->clear(*this);
    set_ = false;
  }

 private:
  friend class timers;

  timers* on_;
  bool set_ = false;  // and perhaps called since
  timers::time_point at_;
  waker wake_;
  // Written under the timers' lock.
  std::atomic<bool> waiting_{false};
  std::uint64_t order_ = 0;
  timers::waiting_set::iterator place_;
  timers::waiting_set::node_type node_;  // when it does not wait: kept, so that only the first set allocates
};

}  // namespace weir::flow
