#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class taken {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  taken(Source source, std::size_t count) : source_(std::move(source)), left_(count) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (left_ == 0) return step::done;
    std::size_t asked = std::min(demand, left_);
    const std::size_t before = asked;
    const step why = source_.pull(asked, emit, cx);
    demand -= before - asked;
    left_ -= before - asked;
    return left_ == 0 ? step::done : why;
  }

 private:
  Source source_;
  std::size_t left_;
};

}  // namespace detail

/// Gives the first `count` items and is done then, without asking the source for one more: `take(flow, count)`, or
/// `flow | take(count)`.
template <flow Source>
auto take(Source source, std::size_t count) {
  return detail::taken<Source>(std::move(source), count);
}
inline auto take(std::size_t count) {
  return detail::make_closure(
      [count]<flow Source>(Source source) { return detail::taken<Source>(std::move(source), count); });
}

}  // namespace weir::flow
