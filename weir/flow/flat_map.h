#pragma once

#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

/// Makes a flow of each item and gives the items of all of them as they come: `flat_map(flow, function)`, or
/// `flow | flat_map(function)`. It is map and merge; order, ends and memory are those of merge.
///   Bounds   limits::merge_concurrent flows are open at once, or as many as the options say; the function is called for the
///            next item only when there are fewer. Where flows wait for each other, all of them must fit.
template <flow Source, class Function>
  requires flow<std::remove_cvref_t<std::invoke_result_t<Function&, value_of<Source>&&>>>
auto flat_map(Source source, Function function, merge_options options = {}) {
  return merge(map(std::move(source), std::move(function)), options);
}
template <class Function>
auto flat_map(Function function, merge_options options = {}) {
  return detail::make_closure([function = std::move(function), options]<flow Source>(Source source) mutable {
    return flat_map(std::move(source), std::move(function), options);
  });
}

}  // namespace weir::flow
