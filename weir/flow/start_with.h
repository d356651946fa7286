#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source, std::size_t Count>
class begun_with {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  template <class... Items>
  explicit begun_with(Source source, Items&&... items)
      : source_(std::move(source)), items_{value_type(std::forward<Items>(items))...} {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    while (given_ != Count) {
      if (demand == 0) return step::more;
      --demand;
      emit(std::move(items_[given_++]));
    }
    return source_.pull(demand, emit, cx);
  }

 private:
  Source source_;
  std::array<value_type, Count> items_;
  std::size_t given_ = 0;
};

}  // namespace detail

/// Gives the items named, and then those of the flow, which is not pulled before: `start_with(flow, items...)`, or
/// `flow | start_with(items...)`.
///   Memory  the items, inside the operator; nothing is allocated.
template <flow Source, std::convertible_to<value_of<Source>>... Items>
  requires(sizeof...(Items) > 0)
auto start_with(Source source, Items... items) {
  return detail::begun_with<Source, sizeof...(Items)>(std::move(source), std::move(items)...);
}
template <class... Items>
  requires(sizeof...(Items) > 0)
auto start_with(Items... items) {
  return detail::make_closure([items = std::tuple(std::move(items)...)]<flow Source>(Source source) mutable {
    return std::apply(
        [&](Items&... each) {
          return detail::begun_with<Source, sizeof...(Items)>(std::move(source), std::move(each)...);
        },
        items);
  });
}

}  // namespace weir::flow
