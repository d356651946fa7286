#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/place.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// What makes a flow each time it is called.
template <class Factory>
concept flow_factory = std::move_constructible<Factory> && requires(Factory& make) {
  { make() } -> flow;
};

template <class Factory>
using made_by = std::remove_cvref_t<std::invoke_result_t<Factory&>>;

template <flow_factory Factory>
class deferred {
 public:
  using value_type = value_of<made_by<Factory>>;
  static constexpr bool never_pending = synchronous<made_by<Factory>>;

  explicit deferred(Factory make) : make_(std::move(make)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!source_) {
      if (demand == 0) return step::more;
      source_.fill(make_);
    }
    return source_->pull(demand, emit, cx);
  }

  /// For operators that make the flow more than once.
  Factory factory() && { return std::move(make_); }

 private:
  Factory make_;
  internal::place<made_by<Factory>> source_;
};

/// Makes `deferred | operator`: of the flow only what makes it is used, as often as the operator wants.
template <class Apply>
auto with_factory(Apply apply) {
  return make_closure([apply = std::move(apply)]<flow_factory Factory>(deferred<Factory> source) mutable {
    return apply(std::move(source).factory());
  });
}

}  // namespace detail

/// The flow that `make()` gives, which is called when an item is first asked for: `defer(make)`. Flows can be had only
/// once; one that is to be had again, by retry or repeat, is told by how it is made: `defer(make) | retry(3)`.
///   Ends  as that flow does. An exception from `make` passes (R6).
template <detail::flow_factory Factory>
auto defer(Factory make) {
  return detail::deferred<Factory>(std::move(make));
}

}  // namespace weir::flow
