#pragma once

#include <cstddef>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
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
    // A source that is asked for `demand` items gives at most that many, so no more can pass.
    std::size_t examined = 0;
    while (demand != 0) {
      std::size_t asked = demand;
      const std::size_t before = asked;
      const step why = source_.pull(
          asked,
          [&](value_type&& item) {
            if (!std::as_const(wanted_)(std::as_const(item))) return;
            --demand;
            emit(std::move(item));
          },
          cx);
      if (why != step::more) return why;
      examined += before - asked;
      if (demand != 0 && examined >= limits::run_items) {
        // However rarely an item passes, one pull does a bounded amount of work per item asked for.
        cx.wake()();
        return step::pending;
      }
    }
    return step::more;
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
