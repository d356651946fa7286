#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source, class Predicate>
class filtered {
 public:
  using value_type = value_of<Source>;

  filtered(Source source, Predicate wanted) : source_(std::move(source)), wanted_(std::move(wanted)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return internal::pull_wanted(source_, demand, emit, cx,
                                 [this](const value_type& item) { return std::as_const(wanted_)(item); });
  }

 private:
  Source source_;
  Predicate wanted_;
};

}  // namespace detail

/// Gives the items for which the predicate is true: `filter(flow, predicate)`, or `flow | filter(predicate)`. It is pending
/// now and then, and wakes its consumer at once, so that a long run of unwanted items does not hold up other flows.
template <flow Source, class Predicate>
auto filter(Source source, Predicate wanted) {
  return detail::filtered<Source, Predicate>(std::move(source), std::move(wanted));
}
template <class Predicate>
auto filter(Predicate wanted) {
  return detail::make_closure([wanted = std::move(wanted)]<flow Source>(Source source) mutable {
    return detail::filtered<Source, Predicate>(std::move(source), std::move(wanted));
  });
}

}  // namespace weir::flow
