#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class one_by_one_flow {
 public:
  using value_type = value_of<Source>;

  one_by_one_flow(std::in_place_t, Source source) : source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    std::size_t one = 1;
    const step why = source_.pull(one, emit, cx);
    demand -= 1 - one;
    if (why != step::more || demand == 0) return why;
    return internal::turn::give_up(cx);
  }

 private:
  Source source_;
};

}  // namespace detail

/// For a source that waits inside pull, such as one that reads from a file, a socket or a sensor: asks it for one item, gives it,
/// and, if more were asked for, is pending then and wakes its consumer at once: `one_by_one(flow)`, or `flow | one_by_one()`. It
/// stands right before the hop: `generate(read_line) | one_by_one() | observe_on(worker)`. So each item goes on at once, and does
/// not wait for the source to have made as many as were asked for; and a consumer that leaves is noticed after one item.
/// Operators of several flows and `share` look again, within a pull, at a flow that woke them in it: behind them a pull goes on
/// until all has come that was asked for. Put them below the hop.
///   Order  as the flow's; ends as it does.
///   Cost   a pull for each item: for flows that are slow. An inbox, filled by a thread that waits, costs less.
template <flow Source>
auto one_by_one(Source source) {
  return detail::one_by_one_flow<Source>(std::in_place, std::move(source));
}
inline auto one_by_one() {
  return detail::make_closure([]<flow Source>(Source source) { return one_by_one(std::move(source)); });
}

}  // namespace weir::flow
