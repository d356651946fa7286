#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source, class State, class Function>
class scanned {
 public:
  using value_type = State;
  static constexpr bool never_pending = synchronous<Source>;

  scanned(Source source, State seed, Function function)
      : source_(std::move(source)), state_(std::move(seed)), function_(std::move(function)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return source_.pull(
        demand,
        [&](value_of<Source>&& item) {
          state_ = function_(std::move(state_), std::move(item));
          emit(State(std::as_const(state_)));
        },
        cx);
  }

 private:
  Source source_;
  State state_;
  Function function_;
};

}  // namespace detail

/// Gives, for each item, what has been made of all items so far: `function(so_far, item)`, which starts from the seed.
/// `scan(flow, seed, function)`, or `flow | scan(seed, function)`. The seed itself is not given; who wants it first, as
/// in RxJava, adds `| start_with(seed)`.
///   function  `State(State, T)`; its result is kept, and a copy of it given, so State can be copied.
///   Ends      as the flow does; an exception from the function ends it as failed (R6).
template <flow Source, std::copyable State, class Function>
  requires std::invocable<Function&, State&&, value_of<Source>&&>
auto scan(Source source, State seed, Function function) {
  return detail::scanned<Source, State, Function>(std::move(source), std::move(seed), std::move(function));
}
template <std::copyable State, class Function>
auto scan(State seed, Function function) {
  return detail::make_closure(
      [seed = std::move(seed), function = std::move(function)]<flow Source>(Source source) mutable {
        return scan(std::move(source), std::move(seed), std::move(function));
      });
}

}  // namespace weir::flow
