#pragma once

#include <cassert>
#include <optional>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/latest_when_due.h>
#include <weir/flow/pipe.h>
#include <weir/flow/timers.h>

namespace weir::flow {

namespace detail {

/// The end of the period in which an item came.
class at_next_tick {
 public:
  explicit at_next_tick(timers::duration period) noexcept : period_(period) {
    assert(period > timers::duration::zero());
  }
  void begin(timers::time_point now) noexcept {
    if (!begin_) begin_ = now;
  }
  timers::time_point operator()(timers::time_point came) const noexcept {
    return timers::after(came, period_ - (came - *begin_) % period_);
  }

 private:
  timers::duration period_;
  std::optional<timers::time_point> begin_;
};

}  // namespace detail

/// Divides time into periods, from the first pull on, and gives the last item of each when the period is over; nothing for one
/// without items. `sample(flow, period, clock)`, or `flow | sample(period, clock)`; ReactiveX says throttle_last too.
///   period   above zero
///   Ends     as the flow does, after the last item of the period that was not over; after a failure too
///   Bounds   the flow is asked again and again, for at most as many at a time as the consumer asked for
///   Memory   one item
///   Waits    until the period is over. It is woken only for periods that have items
///   Cost     a look at the clock for each item, some 25 ns
template <flow Source>
auto sample(Source source, timers::span period, timers& on) {
  return internal::latest_when_due(std::move(source), on, detail::at_next_tick(period));
}
inline auto sample(timers::span period, timers& on) {
  return detail::make_closure(
      [period, &on]<flow Source>(Source source) { return sample(std::move(source), period, on); });
}

/// Another name of sample, beside throttle_first.
template <flow Source>
auto throttle_last(Source source, timers::span period, timers& on) {
  return sample(std::move(source), period, on);
}
inline auto throttle_last(timers::span period, timers& on) { return sample(period, on); }

}  // namespace weir::flow
