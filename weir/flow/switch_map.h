#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/internal/place.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/map.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

// Between two turns of the inner flow the outer one is asked for a newer. Both sleep on the consumer's own waker.
template <flow Outer>
  requires flow<value_of<Outer>>
class switched {
  using inner = value_of<Outer>;

 public:
  using value_type = value_of<inner>;

  switched(std::in_place_t, Outer outer) : outer_(std::move(outer)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    while (demand != 0) {
      const bool newer = ask_for_newer(cx);
      if (newer) now.spend(1);
      if (outer_broke_ && !newer) return break_off(cx);
      bool waits = true;
      if (inner_) {
        std::size_t asked = std::min(demand, limits::merge_quantum);
        const std::size_t before = asked;
        const step why = inner_->pull(asked, emit, cx);
        demand -= before - asked;
        if (asked != before) now = {};
        if (is_final(why)) inner_.clear();
        if (why == step::failed || why == step::cancelled) return why;
        waits = why != step::more;
      }
      if (outer_broke_) return break_off(cx);
      if (outer_ended_ && !inner_) return step::done;
      if (!newer && waits) return step::pending;
      if (demand != 0 && now.over()) return internal::turn::give_up(cx);
    }
    return outer_ended_ && !inner_ && !outer_broke_ ? step::done : step::more;
  }

 private:
  /// Whether the outer flow gave another one, which is then in the place of the one before.
  bool ask_for_newer(context& cx) {
    if (outer_ended_) return false;
    bool newer = false;
    try {
      std::size_t one = 1;
      const step why = outer_.pull(
          one,
          [&](inner&& next) {
            inner_.clear();
            inner_.fill([&]() -> inner&& { return std::move(next); });
            newer = true;
          },
          cx);
      if (is_final(why)) {
        outer_ended_ = true;
        outer_broke_ = why != step::done;
        ending_.keep(why, cx);
      }
    } catch (...) {
      if (!newer) throw;
      outer_ended_ = outer_broke_ = true;
      ending_.keep_exception();
    }
    return newer;
  }

  step break_off(context& cx) {
    inner_.clear();
    return ending_.give(cx);
  }

  Outer outer_;
  bool outer_ended_ = false;
  bool outer_broke_ = false;  // ended otherwise than well; what it gave with that has one turn yet
  internal::ending ending_;
  internal::place<inner> inner_;
};

}  // namespace detail

/// Gives the items of the newest flow of a flow: `switch_on_next(flow_of_flows)`, or `flow_of_flows | switch_on_next()`. When
/// the outer flow has another one, the flow before is destroyed, whatever it still had.
///   Order    that of each flow. A flow has a turn of at most limits::merge_quantum items when it comes, and then after each
///            time that the outer flow had nothing newer: so flows that are ready at once all have their first turn.
///   Ends     done when the outer flow and the last inner flow are; with the first failure or cancellation of an inner flow
///            that is not yet replaced; at once with that of the outer one, except that the flow that came together with it
///            has its turn.
///   Bounds   the outer flow is asked for one flow at a time, and only when an item is wanted.
///   Memory   one inner flow, inside the operator.
///   Threads  after limits::run_items flows without an item it is pending and wakes its consumer.
template <flow Outer>
  requires flow<value_of<Outer>>
auto switch_on_next(Outer outer) {
  return detail::switched<Outer>(std::in_place, std::move(outer));
}
inline auto switch_on_next() {
  return detail::make_closure([]<flow Outer>(Outer outer) { return switch_on_next(std::move(outer)); });
}

/// Makes a flow of each item and gives the items of the newest: `switch_map(flow, function)`, or
/// `flow | switch_map(function)`. As switch_on_next.
template <flow Source, class Function>
  requires flow<std::remove_cvref_t<std::invoke_result_t<Function&, value_of<Source>&&>>>
auto switch_map(Source source, Function function) {
  return switch_on_next(map(std::move(source), std::move(function)));
}
template <class Function>
auto switch_map(Function function) {
  return detail::make_closure([function = std::move(function)]<flow Source>(Source source) mutable {
    return switch_map(std::move(source), std::move(function));
  });
}

}  // namespace weir::flow
