#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// Takes each item into the state with `add(state, item)`, and gives the state at the end.
template <flow Source, class State, class Add>
class reduced {
 public:
  using value_type = State;

  reduced(Source source, State seed, Add add)
      : source_(std::move(source)), state_(std::move(seed)), add_(std::move(add)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    internal::turn now;
    const step why = internal::pull_away(source_, unbounded, now, cx,
                                         [this](value_of<Source>&& item) { add_(state_, std::move(item)); });
    if (why == step::done) {
      --demand;
      emit(std::move(state_));
    }
    return why;
  }

 private:
  Source source_;
  State state_;
  Add add_;
};

}  // namespace detail

/// Puts every item into one container, or whatever the seed is, and gives that when the flow is done: one item.
/// `collect(flow, seed, add)`, or `flow | collect(seed, add)`.
///   add     `void(State&, T&&)`
///   Ends    as the flow does; if it fails or is cancelled there is no item. An exception from `add` passes (R6).
///   Memory  one State, which grows as `add` makes it grow.
///   Waits   it is pending now and then, and wakes its consumer at once, so that a long flow does not hold up others.
template <flow Source, std::movable State, class Add>
  requires std::invocable<Add&, State&, value_of<Source>&&>
auto collect(Source source, State seed, Add add) {
  return detail::reduced<Source, State, Add>(std::move(source), std::move(seed), std::move(add));
}
template <std::movable State, class Add>
auto collect(State seed, Add add) {
  return detail::make_closure([seed = std::move(seed), add = std::move(add)]<flow Source>(Source source) mutable {
    return collect(std::move(source), std::move(seed), std::move(add));
  });
}

/// Makes one item of all: `function(so_far, item)` for each, which starts from the seed, and gives the last result when
/// the flow is done; the seed if there were no items. `reduce(flow, seed, function)`, or
/// `flow | reduce(seed, function)`.
///   function  `State(State, T)`
///   Ends, Memory, Waits as collect.
template <flow Source, std::movable State, class Function>
  requires std::invocable<Function&, State&&, value_of<Source>&&>
auto reduce(Source source, State seed, Function function) {
  return collect(std::move(source), std::move(seed),
                 [function = std::move(function)](State& so_far, value_of<Source>&& item) mutable {
                   so_far = function(std::move(so_far), std::move(item));
                 });
}
template <std::movable State, class Function>
auto reduce(State seed, Function function) {
  return detail::make_closure(
      [seed = std::move(seed), function = std::move(function)]<flow Source>(Source source) mutable {
        return reduce(std::move(source), std::move(seed), std::move(function));
      });
}

}  // namespace weir::flow
