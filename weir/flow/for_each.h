#pragma once

// The blocking drivers: they pull a flow on the calling thread until it ends, and sleep while it is pending.

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/queue/park_point.h>

namespace weir::flow {

namespace detail {

/// Pulls `from` in steps of `quantum` until it ends or `enough()` is true. Success means done, or enough.
template <flow Source, class Emit, class Enough>
result<void> drive(Source&& from, std::size_t quantum, Emit&& emit, Enough&& enough) {
  queue::park_point sleeper;
  // In this order, and so not left in the parameter, which is destroyed last: the flow goes before its waker's target (R7).
  std::remove_cvref_t<Source> source(std::move(from));
  error failure;
  context cx(waker(&queue::park_point::wake_target, &sleeper), failure);
  for (;;) {
    step why;
    try {
      std::size_t demand = quantum;
      why = source.pull(demand, emit, cx);
    } catch (...) {
      return caught();
    }
    if (enough()) return {};
    switch (why) {
      case step::more:
        break;
      case step::pending:
        sleeper.wait();
        break;
      case step::done:
        return {};
      case step::failed:
        return failure;
      case step::cancelled:
        return weir::fail(errc::cancelled, "the flow was cancelled");
    }
  }
}

inline constexpr auto never = [] { return false; };

}  // namespace detail

/// Gives every item to `consume` and returns when the flow has ended: success if it is done; its error if it failed;
/// `cancelled`; `threw` if a function in the flow, or `consume`, threw. `for_each(flow, f)`, or `flow | for_each(f)`.
///   consume  `void(T)`, or `result<void>(T)`: its first error ends the flow. The items that were asked for together with
///            that one, at most limits::hop_quantum, are destroyed and not given to it.
///   Threads  runs on the caller's; other threads may wake it.
///   Waits    while the flow is pending: spins for about 5 µs, then sleeps.
///   Stops    with cancel_on: `for_each(flow | cancel_on(token), f)`.
template <flow Source, class Function>
  requires std::invocable<Function&, value_of<Source>&&>
result<void> for_each(Source from, Function consume) {
  using answer = std::invoke_result_t<Function&, value_of<Source>&&>;
  if constexpr (std::is_void_v<answer>) {
    return detail::drive(
        std::move(from), unbounded, [&](value_of<Source>&& item) { consume(std::move(item)); }, detail::never);
  } else {
    static_assert(std::same_as<answer, result<void>>, "the function of for_each gives nothing, or a result<void>");
    result<void> outcome;
    auto driven = detail::drive(
        std::move(from), limits::hop_quantum,
        [&](value_of<Source>&& item) {
          if (outcome) outcome = consume(std::move(item));
        },
        [&] { return !outcome.ok(); });
    return outcome ? std::move(driven) : std::move(outcome);
  }
}
template <class Function>
auto for_each(Function consume) {
  return detail::make_closure([consume = std::move(consume)]<flow Source>(Source from) mutable {
    return for_each(std::move(from), std::move(consume));
  });
}

/// All items, or the error that kept some from coming. Unbounded, so only for flows that are known to be small.
template <flow Source>
result<std::vector<value_of<Source>>> to_vector(Source from) {
  std::vector<value_of<Source>> items;
  auto outcome = detail::drive(
      std::move(from), unbounded, [&](value_of<Source>&& item) { items.push_back(std::move(item)); }, detail::never);
  if (!outcome) return std::move(outcome).error();
  return items;
}
inline auto to_vector() {
  return detail::make_closure([]<flow Source>(Source from) { return to_vector(std::move(from)); });
}

/// The first item, or none if the flow is done without any. No second item is asked for.
template <flow Source>
result<std::optional<value_of<Source>>> first(Source from) {
  std::optional<value_of<Source>> item;
  auto outcome = detail::drive(
      std::move(from), 1, [&](value_of<Source>&& given) { item.emplace(std::move(given)); },
      [&] { return item.has_value(); });
  if (!outcome) return std::move(outcome).error();
  return item;
}
inline auto first() {
  return detail::make_closure([]<flow Source>(Source from) { return first(std::move(from)); });
}

}  // namespace weir::flow
