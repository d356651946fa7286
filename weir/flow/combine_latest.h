#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/inputs.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

// Inputs take turns of one item. A combination is given in the very pull in which its newest item came (R4).
template <class Function, flow... Sources>
class latest_combined {
  static constexpr std::size_t count = sizeof...(Sources);

 public:
  using value_type = std::remove_cvref_t<std::invoke_result_t<Function&, const value_of<Sources>&...>>;

  explicit latest_combined(Function function, Sources... sources)
      : function_(std::move(function)), inputs_(internal::latest_of<Sources>(std::in_place, std::move(sources))...) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    std::size_t silent = 0;  // inputs in a row that gave nothing
    while (demand != 0) {
      if (open_ == 0) return step::done;
      // Everybody was asked: those that have not ended are pending.
      if (silent == count) return step::pending;
      if (now.over()) return internal::turn::give_up(cx);
      step why = step::more;
      internal::at(inputs_, next_, [&](auto& each) { why = turn_of(each, demand, emit, cx, now, silent); });
      if (is_final(why)) return why;
      next_ = next_ + 1 == count ? 0 : next_ + 1;
    }
    return open_ == 0 ? step::done : step::more;
  }

 private:
  /// Final only if the whole is over.
  template <class Input, class Emit>
  step turn_of(Input& of, std::size_t& demand, Emit&& emit, context& cx, internal::turn& now, std::size_t& silent) {
    ++silent;
    if (of.done()) return step::more;
    std::size_t one = 1;
    const bool first = !of.has_item();
    const step why = of.ask(one, cx, [&] {
      if (first) --lacking_;
      if (lacking_ != 0) return;
      --demand;
      emit(std::apply([&](const auto&... each) { return value_type(function_(each.item()...)); }, inputs_));
    });
    if (one == 0) {
      silent = 0;
      now.spend(lacking_ != 0 ? 1 : 0);
    }
    if (why == step::failed || why == step::cancelled) return why;
    if (why != step::done) return step::more;
    --open_;
    return of.has_item() ? step::more : step::done;
  }

  Function function_;
  std::tuple<internal::latest_of<Sources>...> inputs_;
  std::size_t next_ = 0;         // whose turn it is
  std::size_t lacking_ = count;  // inputs that have not given an item yet
  std::size_t open_ = count;     // inputs that are not done
};

}  // namespace detail

/// Gives, for each item of any of the flows, a tuple of the last items of all, once each has given one:
/// `combine_latest(a, b, c)`, or `a | combine_latest_with(b, c)`. Items are copied: the last one of a flow is used again.
///   Order    flows that are ready take turns of one item, in the order in which they are named. Until each has given its
///            first item, those that others give meanwhile only replace each other.
///   Ends     done when all flows are, or when one is done without having given an item; with the first failure or
///            cancellation, after the combinations of the items before it.
///   Bounds   asks one flow for one item at a time, when a combination is wanted.
///   Memory   the last item of each flow, inside the operator; nothing is allocated.
///   Threads  confined; all flows wake the consumer. After limits::run_items that only replaced each other it is pending
///            and wakes its consumer.
template <flow First, flow Second, flow... Rest>
auto combine_latest(First first, Second second, Rest... rest) {
  return detail::latest_combined<internal::make_tuple, First, Second, Rest...>({}, std::move(first), std::move(second),
                                                                               std::move(rest)...);
}

/// The same with a function of the last items, which it sees as constants, in place of the tuple:
/// `combine_latest(function, a, b)`, or `a | combine_latest_with(function, b)`. Nothing is copied then.
template <class Function, flow First, flow Second, flow... Rest>
  requires std::invocable<Function&, const value_of<First>&, const value_of<Second>&, const value_of<Rest>&...>
auto combine_latest(Function function, First first, Second second, Rest... rest) {
  return detail::latest_combined<Function, First, Second, Rest...>(std::move(function), std::move(first),
                                                                   std::move(second), std::move(rest)...);
}

template <flow... Others>
  requires(sizeof...(Others) > 0)
auto combine_latest_with(Others... others) {
  return detail::make_closure([... others = std::move(others)]<flow Source>(Source source) mutable {
    return combine_latest(std::move(source), std::move(others)...);
  });
}
template <class Function, flow... Others>
  requires(sizeof...(Others) > 0 && !flow<Function>)
auto combine_latest_with(Function function, Others... others) {
  return detail::make_closure(
      [function = std::move(function), ... others = std::move(others)]<flow Source>(Source source) mutable {
        return combine_latest(std::move(function), std::move(source), std::move(others)...);
      });
}

}  // namespace weir::flow
