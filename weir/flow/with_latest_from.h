#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/inputs.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

// Before each item of the source, the others give what they have.
template <class Function, flow Source, flow... Others>
class with_latest_of {
 public:
  using value_type =
      std::remove_cvref_t<std::invoke_result_t<Function&, value_of<Source>&&, const value_of<Others>&...>>;

  explicit with_latest_of(Function function, Source source, Others... others)
      : function_(std::move(function)),
        source_(std::move(source)),
        others_(internal::latest_of<Others>(std::in_place, std::move(others))...) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    while (demand != 0) {
      step why = step::more;
      if (internal::any_of(others_, [&](auto& each) { return is_final(why = catch_up(each, cx)); })) return why;
      const bool complete = !internal::any_of(others_, [](auto& each) { return !each.has_item(); });
      std::size_t one = 1;
      why = source_.pull(
          one,
          [&](value_of<Source>&& item) {
            if (!complete) return;
            --demand;
            emit(std::apply([&](const auto&... each) { return value_type(function_(std::move(item), each.item()...)); },
                            others_));
          },
          cx);
      if (why != step::more) return why;
      if (!complete) now.spend(1);
      if (demand != 0 && now.over()) return internal::turn::give_up(cx);
    }
    return step::more;
  }

 private:
  /// Takes what another flow has now. Final if the whole is over with that.
  template <class Other>
  static step catch_up(Other& other, context& cx) {
    if (other.done()) return step::more;
    std::size_t most = limits::run_items;
    const step why = other.ask(most, cx, [] {});
    if (why == step::done && other.has_item()) return step::more;
    return is_final(why) ? why : step::more;
  }

  Function function_;
  Source source_;
  std::tuple<internal::latest_of<Others>...> others_;
};

}  // namespace detail

/// Gives for each item of the source a tuple of it and the last items of other flows: `with_latest(source, a, b)`, or
/// `source | with_latest_from(a, b)`. Items of the source that come before each other flow has given one are dropped.
///   Order    the source's. Before each of its items the others are asked for all they have, at most limits::run_items.
///   Ends     as the source does; done also when another flow is done without having given an item; with the first failure
///            or cancellation of another flow. When another one is done otherwise, its last item stays.
///   Bounds   the source is asked for one item at a time.
///   Memory   the last item of each other flow, inside the operator; copied for each tuple. Nothing is allocated.
///   Threads  confined; all flows wake the consumer. After limits::run_items that were dropped it is pending and wakes its
///            consumer.
template <flow Source, flow First, flow... Others>
auto with_latest(Source source, First first, Others... others) {
  return detail::with_latest_of<internal::make_tuple, Source, First, Others...>({}, std::move(source), std::move(first),
                                                                                std::move(others)...);
}

/// The same with a function in place of the tuple, which sees the others' items as constants: `with_latest(function, source,
/// a, b)`, or `source | with_latest_from(function, a, b)`.
template <class Function, flow Source, flow First, flow... Others>
  requires std::invocable<Function&, value_of<Source>&&, const value_of<First>&, const value_of<Others>&...>
auto with_latest(Function function, Source source, First first, Others... others) {
  return detail::with_latest_of<Function, Source, First, Others...>(std::move(function), std::move(source),
                                                                    std::move(first), std::move(others)...);
}

template <flow... Others>
  requires(sizeof...(Others) > 0)
auto with_latest_from(Others... others) {
  return detail::make_closure([... others = std::move(others)]<flow Source>(Source source) mutable {
    return with_latest(std::move(source), std::move(others)...);
  });
}
template <class Function, flow... Others>
  requires(sizeof...(Others) > 0 && !flow<Function>)
auto with_latest_from(Function function, Others... others) {
  return detail::make_closure(
      [function = std::move(function), ... others = std::move(others)]<flow Source>(Source source) mutable {
        return with_latest(std::move(function), std::move(source), std::move(others)...);
      });
}

}  // namespace weir::flow
