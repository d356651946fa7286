#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/inputs.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

// Every input is asked for an item whenever it has none, also while others are pending, so that they work side by side.
template <class Function, flow... Sources>
class zipped {
 public:
  using value_type = std::remove_cvref_t<std::invoke_result_t<Function&, value_of<Sources>&&...>>;

  explicit zipped(Function function, Sources... sources)
      : function_(std::move(function)), inputs_(internal::input<Sources>(std::in_place, std::move(sources))...) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    for (;;) {
      step end = step::more;
      const bool over = internal::any_of(inputs_, [&](auto& each) {
        if (demand != 0) each.want(cx);
        if (!each.exhausted()) return false;
        end = each.end(cx);
        return true;
      });
      if (over) return end;
      if (demand == 0) return step::more;
      if (internal::any_of(inputs_, [](auto& each) { return !each.has_item(); })) return step::pending;
      --demand;
      std::apply(
          [&](auto&... each) {
            value_type whole(function_(each.take()...));
            (each.drop(), ...);
            emit(std::move(whole));
          },
          inputs_);
    }
  }

 private:
  Function function_;
  std::tuple<internal::input<Sources>...> inputs_;
};

}  // namespace detail

/// Gives tuples of the first items of all flows, of the second ones, and so on: `zip(a, b, c)`, or `a | zip_with(b, c)`.
///   Order    the n-th item is made of the n-th items.
///   Ends     with the first flow that ends and whose items have all been used, in the way in which that one ended: no item
///            can come any more. What the others have given beyond that, an item each at most, is destroyed.
///   Bounds   keeps at most one item of each flow, and asks each for one when it has none and an item is wanted.
///   Memory   the items, inside the operator; nothing is allocated. Items are moved.
///   Threads  confined; all flows wake the consumer.
template <flow First, flow Second, flow... Rest>
auto zip(First first, Second second, Rest... rest) {
  return detail::zipped<internal::make_tuple, First, Second, Rest...>({}, std::move(first), std::move(second),
                                                                      std::move(rest)...);
}

/// The same with a function of the items in place of the tuple: `zip(function, a, b, c)`, or `a | zip_with(function, b, c)`.
/// An exception from it ends the flow (R6).
template <class Function, flow First, flow Second, flow... Rest>
  requires std::invocable<Function&, value_of<First>&&, value_of<Second>&&, value_of<Rest>&&...>
auto zip(Function function, First first, Second second, Rest... rest) {
  return detail::zipped<Function, First, Second, Rest...>(std::move(function), std::move(first), std::move(second),
                                                          std::move(rest)...);
}

template <flow... Others>
  requires(sizeof...(Others) > 0)
auto zip_with(Others... others) {
  return detail::make_closure([... others = std::move(others)]<flow Source>(Source source) mutable {
    return zip(std::move(source), std::move(others)...);
  });
}
template <class Function, flow... Others>
  requires(sizeof...(Others) > 0 && !flow<Function>)
auto zip_with(Function function, Others... others) {
  return detail::make_closure(
      [function = std::move(function), ... others = std::move(others)]<flow Source>(Source source) mutable {
        return zip(std::move(function), std::move(source), std::move(others)...);
      });
}

}  // namespace weir::flow
