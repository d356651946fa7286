#pragma once

#include <utility>

#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>

namespace weir::flow::internal {

/// How a source ended, for an operator that still has items to give before it says so.
///   Threads  confined, like the operator.
class ending {
 public:
  /// Whether the source has ended.
  explicit operator bool() const noexcept { return why_ != step::more; }

  /// Keeps a final step, and the error that came with it.
  void keep(step why, context& cx) {
    if (why == step::failed) failure_ = std::move(cx.failure());
    why_ = why;
  }
  /// Keeps the exception that is being handled, as a failure of code `threw`: an exception may only come while items are
  /// asked for, and by then they may not be any more.
  void keep_exception() noexcept {
    failure_ = caught();
    why_ = step::failed;
  }

  /// Ends the operator's own flow in the same way: `return ending.give(cx);`
  step give(context& cx) { return why_ == step::failed ? cx.fail(std::move(failure_)) : why_; }

 private:
  step why_ = step::more;
  error failure_;
};

}  // namespace weir::flow::internal
