#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/flow/internal/common_flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/internal/place.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/map.h>
#include <weir/flow/pipe.h>
#include <weir/flow/sources.h>

namespace weir::flow {

namespace detail {

// One inner flow at a time. The outer one is asked for the next when the one before is done and an item is wanted.
template <flow Outer>
  requires flow<value_of<Outer>>
class concatenated {
  using inner = value_of<Outer>;

 public:
  using value_type = value_of<inner>;

  // With a tag: a constructor of one argument, a flow, would be asked whether it can take this very object by way of an
  // any_flow, which needs the answer to know.
  concatenated(std::in_place_t, Outer outer) : outer_(std::move(outer)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    // A loop, and a bounded one: however many flows are empty, the stack stays as it is and others have their turn.
    internal::turn now;
    for (;;) {
      if (inner_) {
        const std::size_t before = demand;
        const step why = inner_->pull(demand, emit, cx);
        if (why != step::done) return why;
        inner_.clear();
        if (demand != before) now = {};
        now.spend(1);
      }
      if (ended_) return ended_.give(cx);
      if (demand == 0) return step::more;
      if (now.over()) return internal::turn::give_up(cx);
      if (open_next(cx) == step::pending && !inner_) return step::pending;
    }
  }

 private:
  step open_next(context& cx) {
    try {
      std::size_t one = 1;
      const step why = outer_.pull(
          one, [this](inner&& next) { inner_.fill([&]() -> inner&& { return std::move(next); }); }, cx);
      if (is_final(why)) ended_.keep(why, cx);
      return why;
    } catch (...) {
      if (!inner_) throw;
      ended_.keep_exception();  // behind the items of the flow that came before it
      return step::failed;
    }
  }

  Outer outer_;
  internal::ending ended_;  // of the outer flow
  internal::place<inner> inner_;
};

}  // namespace detail

/// Gives the items of the flows of a flow, one flow after the other: `concat(flow_of_flows)`, or `flow_of_flows | concat()`.
///   Order    all items of a flow before the first of the next. A flow is destroyed before the next one is asked for.
///   Ends     done when the outer flow and the last inner flow are; with the first failure or cancellation of an inner flow;
///            with that of the outer one, when the flow that came before it has ended.
///   Bounds   the outer flow is asked for one flow at a time, when an item is wanted, and not ahead.
///   Memory   one inner flow, inside the operator; the stack does not grow with their number.
///   Threads  after limits::run_items flows without an item it is pending and wakes its consumer.
template <flow Outer>
  requires flow<value_of<Outer>>
auto concat(Outer outer) {
  return detail::concatenated<Outer>(std::in_place, std::move(outer));
}
inline auto concat() {
  return detail::make_closure([]<flow Outer>(Outer outer) { return concat(std::move(outer)); });
}

/// Gives the flows of a vector one after the other. None of them is pulled, nor destroyed, before its turn has come.
template <flow Inner>
auto concat(std::vector<Inner> flows) {
  return concat(from_range(std::move(flows)));
}

/// Gives the flows named one after the other; their types may differ, their items' may not. `concat(a, b, c)`, or
/// `a | concat_with(b, c)`.
///   Memory  none is allocated if the types are the same; else one block for each flow, before the first pull.
template <flow First, flow Second, flow... Rest>
  requires internal::alike<First, Second, Rest...>
auto concat(First first, Second second, Rest... rest) {
  using inner = internal::common_flow<First, Second, Rest...>;
  return concat(from_range(std::array<inner, 2 + sizeof...(Rest)>{inner(std::move(first)), inner(std::move(second)),
                                                                  inner(std::move(rest))...}));
}
template <flow... Others>
  requires(sizeof...(Others) > 0)
auto concat_with(Others... others) {
  return detail::make_closure([... others = std::move(others)]<flow Source>(Source source) mutable {
    return concat(std::move(source), std::move(others)...);
  });
}

/// Makes a flow of each item and gives these one after the other: `concat_map(flow, function)`, or
/// `flow | concat_map(function)`. As concat; the function is called when the flow before is done and an item is wanted.
template <flow Source, class Function>
  requires flow<std::remove_cvref_t<std::invoke_result_t<Function&, value_of<Source>&&>>>
auto concat_map(Source source, Function function) {
  return concat(map(std::move(source), std::move(function)));
}
template <class Function>
auto concat_map(Function function) {
  return detail::make_closure([function = std::move(function)]<flow Source>(Source source) mutable {
    return concat_map(std::move(source), std::move(function));
  });
}

}  // namespace weir::flow
