#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/defer.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/made_again.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// Whether a flow that failed is made again: so many times.
struct retries_at_most {
  std::size_t count;
  bool operator()(const error&, std::size_t failures) const noexcept { return failures <= count; }
};

template <flow_factory Factory, class Again>
class retried {
 public:
  using value_type = value_of<made_by<Factory>>;

  retried(Factory make, Again again) : again_(std::move(again)), source_(std::move(make)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    // A loop, and a bounded one: however often the flow fails, the stack stays as it is and others have their turn.
    internal::turn now;
    for (;;) {
      if (!source_ && demand == 0) return step::more;
      const step why = source_.pull(demand, emit, cx);
      if (why != step::failed) return why;
      ++failures_;
      const auto again = [&] { return again_(std::as_const(cx.failure()), failures_); };
      if (!internal::worth_another(again, cx)) return step::failed;
      now.spend(1);
      if (now.over() && demand != 0) return internal::turn::give_up(cx);
    }
  }

 private:
  Again again_;
  std::size_t failures_ = 0;
  internal::made_again<Factory> source_;
};

}  // namespace detail

/// The flow that `make()` gives; if it fails, what make() gives then, and so on: `retry(make, again)`, or
/// `defer(make) | retry(again)`.
///   again    `bool(const error&, std::size_t failures)`: whether to try once more; failures counts from 1.
///   Order    what was given before a failure stays given, and what the next flow gives comes behind it. A flow that
///            failed is destroyed before the next one is made.
///   Ends     done or cancelled as a flow that does not fail; or failed with the error of the last one. An exception
///            from `make`, `again` or a function in the flow is a failure of code `threw`.
///   Bounds   each flow is asked for what is still wanted. Asked for nothing, it makes no flow.
///   Memory   one flow at a time, inside the operator; the stack does not grow with the failures.
///   Waits    after limits::run_items failures in one pull it is pending and wakes its consumer, so that others have
///            their turn. It does not wait between two flows.
template <detail::flow_factory Factory, class Again>
  requires std::predicate<Again&, const error&, std::size_t>
auto retry(Factory make, Again again) {
  return detail::retried<Factory, Again>(std::move(make), std::move(again));
}
template <class Again>
  requires std::predicate<Again&, const error&, std::size_t>
auto retry(Again again) {
  return detail::with_factory([again = std::move(again)]<detail::flow_factory Factory>(Factory make) mutable {
    return retry(std::move(make), std::move(again));
  });
}

/// The same, `count` times at most: `retry(make, 3)` makes up to four flows. By default without end.
template <detail::flow_factory Factory>
auto retry(Factory make, std::size_t count = unbounded) {
  return retry(std::move(make), detail::retries_at_most{count});
}
inline auto retry(std::size_t count = unbounded) { return retry(detail::retries_at_most{count}); }

}  // namespace weir::flow
