#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source, class Function>
class mapped {
 public:
  using value_type = std::remove_cvref_t<std::invoke_result_t<Function&, value_of<Source>&&>>;
  static_assert(!std::is_void_v<value_type>, "the function of map must give a value");
  static constexpr bool never_pending = synchronous<Source>;

  mapped(Source source, Function function) : source_(std::move(source)), function_(std::move(function)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return source_.pull(
        demand, [&](value_of<Source>&& item) { emit(value_type(function_(std::move(item)))); }, cx);
  }

 private:
  Source source_;
  Function function_;
};

}  // namespace detail

/// Gives `function(item)` for each item: `map(flow, function)`, or `flow | map(function)`. The function is called when the
/// result is asked for, in order, on the puller's thread; an exception from it ends the flow as failed (R6).
template <flow Source, class Function>
auto map(Source source, Function function) {
  return detail::mapped<Source, Function>(std::move(source), std::move(function));
}
template <class Function>
auto map(Function function) {
  return detail::make_closure([function = std::move(function)]<flow Source>(Source source) mutable {
    return detail::mapped<Source, Function>(std::move(source), std::move(function));
  });
}

}  // namespace weir::flow
