#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>

namespace weir::flow {

namespace detail {

/// Marks what may stand to the right of `|`, and brings the operator with it: found by argument-dependent lookup, so
/// flows of other namespaces need nothing.
struct pipeable {
  /// Gives the flow on the left to the operator on the right.
  template <class Flow, class Operator>
    requires flow<std::remove_cvref_t<Flow>> && std::derived_from<std::remove_cvref_t<Operator>, pipeable>
  friend auto operator|(Flow&& from, Operator&& to) {
    return std::forward<Operator>(to)(std::remove_cvref_t<Flow>(std::forward<Flow>(from)));
  }
};

/// An operator whose arguments are all there except the flow.
template <class Function>
struct closure : pipeable {
  explicit closure(Function apply) : apply_(std::move(apply)) {}

  template <class Flow>
  auto operator()(Flow from) && {
    return std::move(apply_)(std::move(from));
  }
  template <class Flow>
  auto operator()(Flow from) const& {
    return Function(apply_)(std::move(from));
  }

 private:
  Function apply_;
};

/// Makes `flow | make_closure(f)` mean `f(flow)`: an operator of your own returns it, so that it may stand behind `|`.
template <class Function>
closure<Function> make_closure(Function apply) {
  return closure<Function>(std::move(apply));
}

}  // namespace detail

using detail::make_closure;

}  // namespace weir::flow
