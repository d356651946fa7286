#pragma once

#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/latest_when_due.h>
#include <weir/flow/pipe.h>
#include <weir/flow/timers.h>

namespace weir::flow {

namespace detail {

struct after_quiet {
  timers::duration quiet;
  void begin(timers::time_point) const noexcept {}
  timers::time_point operator()(timers::time_point came) const noexcept { return timers::after(came, quiet); }
};

}  // namespace detail

/// Gives an item when none has come after it for so long, and leaves out the others: of a burst, the last.
/// `debounce(flow, quiet, clock)`, or `flow | debounce(quiet, clock)`.
///   Order    an item comes when the flow is pulled; if the consumer pulls late, an item whose time was over by then is given
///            before newer ones are looked at
///   Ends     as the flow does, after the last item, whose time is then over; after a failure too
///   Bounds   the flow is asked again and again, so that only the latest is kept: behind a consumer that asks for n, for at
///            most n at a time
///   Memory   one item
///   Waits    until the flow has been quiet. However fast it is, others have their turn
///   Cost     a look at the clock for each item, some 25 ns
template <flow Source>
auto debounce(Source source, timers::span quiet, timers& on) {
  return internal::latest_when_due(std::move(source), on, detail::after_quiet{quiet});
}
inline auto debounce(timers::span quiet, timers& on) {
  return detail::make_closure(
      [quiet, &on]<flow Source>(Source source) { return debounce(std::move(source), quiet, on); });
}

}  // namespace weir::flow
