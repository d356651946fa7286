#pragma once

#include <concepts>
#include <type_traits>

#include <weir/flow/any_flow.h>
#include <weir/flow/flow.h>

namespace weir::flow::internal {

/// Flows whose items are of one type.
template <class First, class... Rest>
concept alike = flow<First> && (flow<Rest> && ...) && (std::same_as<value_of<First>, value_of<Rest>> && ...);

template <class First, class... Rest>
struct common {
  using type = std::conditional_t<(std::same_as<First, Rest> && ...), First, any_flow<value_of<First>>>;
};

/// One type for several flows that are alike: theirs if it is the same, or else one that forgets it.
template <class... Flows>
using common_flow = typename common<Flows...>::type;

}  // namespace weir::flow::internal
