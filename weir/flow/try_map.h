#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

/// The flow of `fn(item)` for each item, where `fn` gives a result: the first error ends the flow as failed, in its
/// place in the order. Items that upstream gives in the same pull after that one, at most
/// limits::hop_quantum, are destroyed and not passed on.
///   Cost  one branch an item more than map.
template <flow Source, class Fn>
class try_mapped {
 public:
  using value_type = typename std::invoke_result_t<Fn&, value_of<Source>>::value_type;

  try_mapped(Source source, Fn fn) : source_(std::move(source)), fn_(std::move(fn)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    // In pieces, so that a failure ends also an endless source that is asked for everything.
    while (demand != 0) {
      std::optional<error> failure;
      std::size_t asked = std::min(demand, limits::hop_quantum);
      const std::size_t before = asked;
      std::size_t given = 0;
      const step why = source_.pull(
          asked,
          [&](value_of<Source>&& item) {
            if (failure) return;
            if (auto mapped = fn_(std::move(item))) {
              ++given;
              emit(*std::move(mapped));
            } else {
              failure = std::move(mapped).error();
            }
          },
          cx);
      if (failure) {
        demand -= given;
        return cx.fail(*std::move(failure));
      }
      demand -= before - asked;
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  Source source_;
  Fn fn_;
};

/// Gives the flow of what `fn` makes of each item, up to the first error: `flow | try_map(fn)`, see try_mapped.
template <class Fn>
auto try_map(Fn fn) {
  return detail::make_closure([fn = std::move(fn)]<flow Source>(Source source) mutable {
    return try_mapped<Source, Fn>(std::move(source), std::move(fn));
  });
}

}  // namespace weir::flow
