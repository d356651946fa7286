#pragma once

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <weir/flow/flow.h>
#include <weir/flow/take.h>
#include <weir/flow/timers.h>

namespace weir::flow {

/// What becomes of ticks whose time came while nobody asked for them.
enum class late_ticks : std::uint8_t {
  catch_up,  ///< they are given when somebody asks, one after another: none is lost
  skip,      ///< of those only the last is given, with its number: how many were missed can be told from that
};

namespace detail {

// Invariant: when begun_, next_ is when the tick of number_ is due.
class ticking {
 public:
  using value_type = std::uint64_t;

  ticking(timers& on, timers::duration first, timers::duration period, late_ticks late)
      : alarm_(on), first_(first), period_(period), late_(late) {
    assert(period > timers::duration::zero());
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    const timers::time_point now = alarm_.now();
    if (!begun_) {
      begun_ = true;
      next_ = timers::after(now, first_);
    }
    if (late_ == late_ticks::skip && now > next_) advance((now - next_) / period_);
    while (demand != 0 && next_ <= now) {
      const std::uint64_t tick = number_;
      advance(1);
      --demand;
      emit(std::uint64_t(tick));
    }
    if (demand == 0) return step::more;
    alarm_.set(next_, cx.wake());
    return step::pending;
  }

 private:
  void advance(timers::duration::rep ticks) noexcept {
    number_ += static_cast<std::uint64_t>(ticks);
    // No overflow: more than one tick at a time leads to a time that has passed.
    next_ = timers::after(next_, ticks * period_);
  }

  alarm alarm_;
  timers::duration first_;
  timers::duration period_;
  late_ticks late_;
  bool begun_ = false;
  timers::time_point next_{};
  std::uint64_t number_ = 0;
};

}  // namespace detail

/// 0, 1, 2, ... one each `period`, counted from the first pull: the first comes when one period has passed. Without end:
/// `interval(1s, clock) | take(10)`.
///   period   above zero
///   late     ticks that nobody asked for in time; what is waited for is always the next one of the schedule, so a consumer
///            that is late now and then does not make the ticks drift
///   Threads  as `on` says
///   Waits    it is pending between ticks
///   Memory   one allocation, at the first time that it is pending
inline auto interval(timers::span period, timers& on, late_ticks late = late_ticks::catch_up) {
  return detail::ticking(on, period, period, late);
}

/// The same, but the first tick comes when `first` has passed; with zero, at once.
inline auto interval(timers::span first, timers::span period, timers& on, late_ticks late = late_ticks::catch_up) {
  return detail::ticking(on, first, period, late);
}

/// One item, a 0, when so much time has passed since the first pull; then it is done: `take_until(flow, timer(1min, clock))`.
inline auto timer(timers::span wait, timers& on) {
  return take(detail::ticking(on, wait, std::chrono::hours(1), late_ticks::catch_up), 1);
}

}  // namespace weir::flow
