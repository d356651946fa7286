#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/place.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/pipe.h>
#include <weir/flow/sources.h>

namespace weir::flow {

namespace detail {

// At any time there is the source, or the flow that came in its place; both only inside the function's call.
template <flow Source, class Function>
class resumed {
  using other = std::remove_cvref_t<std::invoke_result_t<Function&, error>>;

 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source> && synchronous<other>;
  static_assert(std::same_as<value_of<other>, value_type>, "the flow that goes on must have items of the same type");

  resumed(Source source, Function function) : source_(std::move(source)), function_(std::move(function)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (source_) {
      const step why = internal::pull_caught(*source_, demand, emit, cx);
      if (why != step::failed) return why;
      source_.reset();
      try {
        other_.fill([&] { return function_(std::move(cx.failure())); });
      } catch (...) {
        // Not passed on: the last item that was asked for may have been given (R6).
        return cx.fail(caught());
      }
    }
    return other_->pull(demand, emit, cx);
  }

 private:
  std::optional<Source> source_;
  internal::place<other> other_;
  Function function_;
};

}  // namespace detail

/// Gives the flow and, where it fails, goes on with the flow that `function(error)` gives:
/// `on_error_resume(flow, function)`, or `flow | on_error_resume(function)`. An exception from a function in the flow
/// is a failure of code `threw`.
///   Order   what the flow gave before its failure stays given; the failed flow is destroyed before the function is
///           called.
///   Ends    as the flow does, if it does not fail, or else as the other one does: its failure is not mended again.
///           That a flow is cancelled is no failure. An exception from the function is one of code `threw`.
///   Memory  both flows, one at a time, inside the operator.
template <flow Source, class Function>
  requires flow<std::remove_cvref_t<std::invoke_result_t<Function&, error>>>
auto on_error_resume(Source source, Function function) {
  return detail::resumed<Source, Function>(std::move(source), std::move(function));
}
template <class Function>
auto on_error_resume(Function function) {
  return detail::make_closure([function = std::move(function)]<flow Source>(Source source) mutable {
    return on_error_resume(std::move(source), std::move(function));
  });
}

/// Gives the flow and, where it fails, one more item, `function(error)`, and is done:
/// `on_error_return(flow, function)`, or `flow | on_error_return(function)`. The rest as on_error_resume.
template <flow Source, class Function>
  requires std::convertible_to<std::invoke_result_t<Function&, error>, value_of<Source>>
auto on_error_return(Source source, Function function) {
  return on_error_resume(std::move(source), [function = std::move(function)](error why) mutable {
    return just(value_of<Source>(function(std::move(why))));
  });
}
template <class Function>
auto on_error_return(Function function) {
  return detail::make_closure([function = std::move(function)]<flow Source>(Source source) mutable {
    return on_error_return(std::move(source), std::move(function));
  });
}

}  // namespace weir::flow
