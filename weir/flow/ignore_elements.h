#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class ignored {
 public:
  using value_type = value_of<Source>;

  explicit ignored(Source source) : source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&&, context& cx) {
    if (demand == 0) return step::more;
    internal::turn now;
    return internal::pull_away(source_, unbounded, now, cx, [](value_type&&) {});
  }

 private:
  Source source_;
};

}  // namespace detail

/// Gives no items, only the end of the flow: `ignore_elements(flow)`, or `flow | ignore_elements()`. Asked for nothing,
/// it does nothing. It is pending now and then, and wakes its consumer at once, so that a long flow does not hold up
/// others.
template <flow Source>
auto ignore_elements(Source source) {
  return detail::ignored<Source>(std::move(source));
}
inline auto ignore_elements() {
  return detail::make_closure([]<flow Source>(Source source) { return ignore_elements(std::move(source)); });
}

}  // namespace weir::flow
