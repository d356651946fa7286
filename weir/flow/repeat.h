#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/defer.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/place.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow_factory Factory>
class repeated {
 public:
  using value_type = value_of<made_by<Factory>>;

  repeated(Factory make, std::size_t count) : make_(std::move(make)), left_(count) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    // A loop, and a bounded one: however many flows have no items, the stack stays as it is and others have their turn.
    internal::turn now;
    for (;;) {
      if (!source_) {
        if (left_ == 0) return step::done;
        if (demand == 0) return step::more;
        if (now.over()) return internal::turn::give_up(cx);
        source_.fill(make_);
      }
      const step why = source_->pull(demand, emit, cx);
      if (why != step::done) return why;
      source_.clear();
      if (left_ != unbounded) --left_;
      now.spend(1);
    }
  }

 private:
  Factory make_;
  std::size_t left_;  // flows that have not ended yet
  internal::place<made_by<Factory>> source_;
};

}  // namespace detail

/// The flow that `make()` gives, `count` times one after the other; by default without end. `repeat(make, count)`, or
/// `defer(make) | repeat(count)`.
///   Order    a flow is destroyed when it is done, before the next one is made.
///   Ends     done after the last one; with the first that fails or is cancelled. An exception from `make` passes (R6).
///   Bounds   each flow is asked for what is still wanted. Asked for nothing, it makes no flow.
///   Memory   one flow at a time, inside the operator; the stack does not grow with their number.
///   Waits    after limits::run_items flows in one pull it is pending and wakes its consumer, so that others have their
///            turn.
template <detail::flow_factory Factory>
auto repeat(Factory make, std::size_t count = unbounded) {
  return detail::repeated<Factory>(std::move(make), count);
}
inline auto repeat(std::size_t count = unbounded) {
  return detail::with_factory(
      [count]<detail::flow_factory Factory>(Factory make) { return repeat(std::move(make), count); });
}

}  // namespace weir::flow
