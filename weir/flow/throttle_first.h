#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>
#include <weir/flow/timers.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class throttled {
 public:
  using value_type = value_of<Source>;

  throttled(Source source, timers& on, timers::duration closed)
      : on_(&on), closed_(closed), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return internal::pull_wanted(source_, demand, emit, cx, [this](const value_type&) {
      const timers::time_point now = on_->now();
      if (opens_ && now < *opens_) return false;
      opens_ = timers::after(now, closed_);
      return true;
    });
  }

 private:
  timers* on_;
  timers::duration closed_;
  std::optional<timers::time_point> opens_;
  Source source_;
};

}  // namespace detail

/// Gives an item at once, and leaves out those that come within `closed` after it: `throttle_first(flow, closed, clock)`, or
/// `flow | throttle_first(closed, clock)`.
///   Ends     as the flow does
///   Bounds   the flow is asked for what is still wanted
///   Memory   none
///   Waits    it sets no alarm: it waits for the flow only. However fast that is, others have their turn
///   Cost     a look at the clock for each item, some 25 ns
template <flow Source>
auto throttle_first(Source source, timers::span closed, timers& on) {
  return detail::throttled<Source>(std::move(source), on, closed);
}
inline auto throttle_first(timers::span closed, timers& on) {
  return detail::make_closure(
      [closed, &on]<flow Source>(Source source) { return throttle_first(std::move(source), closed, on); });
}

}  // namespace weir::flow
