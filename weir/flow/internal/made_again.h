#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/caught.h>
#include <weir/flow/defer.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/place.h>
#include <weir/flow/internal/pull_caught.h>

namespace weir::flow::internal {

/// A flow that is made when it is pulled, and again after it has failed: what retry does with and without waits.
///   Threads  confined, like the operator.
template <detail::flow_factory Factory>
class made_again {
 public:
  explicit made_again(Factory make) : make_(std::move(make)) {}

  /// Whether there is a flow now.
  explicit operator bool() const noexcept { return static_cast<bool>(source_); }

  /// Pulls the flow, which is made if there is none. One that failed is destroyed; exceptions from it or its making are failures
  /// of code `threw`.
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!source_) {
      try {
        source_.fill(make_);
      } catch (...) {
        return cx.fail(caught());
      }
    }
    const step why = pull_caught(*source_, demand, emit, cx);
    if (why == step::failed) source_.clear();
    return why;
  }

 private:
  Factory make_;
  place<detail::made_by<Factory>> source_;
};

/// What `again()` says of a failure; an exception from it is a no, and the failure then. It is not passed on, because the last
/// item that was asked for may have been given (R6).
template <class Again>
bool worth_another(Again&& again, context& cx) {
  try {
    return again();
  } catch (...) {
    cx.fail(caught());
    return false;
  }
}

}  // namespace weir::flow::internal
