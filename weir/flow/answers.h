#pragma once

// Blocking drivers that make one answer of a flow. Like those of for_each.h they run on the calling thread, spin and
// sleep while the flow is pending, and give the error of a flow that fails, is cancelled, or throws.

#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

/// The last item, or none if the flow is done without any: `last(flow)`, or `flow | last()`.
template <flow Source>
result<std::optional<value_of<Source>>> last(Source from) {
  std::optional<value_of<Source>> item;
  auto outcome = detail::drive(
      std::move(from), unbounded, [&](value_of<Source>&& given) { item.emplace(std::move(given)); }, detail::never);
  if (!outcome) return std::move(outcome).error();
  return item;
}
inline auto last() {
  return detail::make_closure([]<flow Source>(Source from) { return last(std::move(from)); });
}

/// The only item; `not_found` if there is none, `too_large` if there is a second one, and no third is asked for.
template <flow Source>
result<value_of<Source>> single(Source from) {
  std::optional<value_of<Source>> item;
  bool several = false;
  auto outcome = detail::drive(
      std::move(from), 1,
      [&](value_of<Source>&& given) {
        if (item) {
          several = true;
        } else {
          item.emplace(std::move(given));
        }
      },
      [&] { return several; });
  if (!outcome) return std::move(outcome).error();
  if (several) return fail(errc::too_large, "the flow has more than the one item it may have");
  if (!item) return fail(errc::not_found, "the flow has no items");
  return *std::move(item);
}
inline auto single() {
  return detail::make_closure([]<flow Source>(Source from) { return single(std::move(from)); });
}

/// How many items the flow has.
template <flow Source>
result<std::size_t> count(Source from) {
  std::size_t items = 0;
  auto outcome = detail::drive(
      std::move(from), unbounded, [&](value_of<Source>&&) { ++items; }, detail::never);
  if (!outcome) return std::move(outcome).error();
  return items;
}
inline auto count() {
  return detail::make_closure([]<flow Source>(Source from) { return count(std::move(from)); });
}

/// Whether the predicate is true for some item; false if there are none. Ends with the first such item: the predicate
/// is not called again, and those that were asked for together with it, at most limits::hop_quantum, are destroyed.
/// `any(flow, predicate)`, or `flow | any(predicate)`; likewise `all` and `contains`.
template <flow Source, class Predicate>
  requires std::predicate<Predicate&, const value_of<Source>&>
result<bool> any(Source from, Predicate predicate) {
  bool found = false;
  auto outcome = detail::drive(
      std::move(from), limits::hop_quantum,
      [&](value_of<Source>&& item) {
        if (!found) found = predicate(std::as_const(item));
      },
      [&] { return found; });
  // What the flow does behind that item, in the same pull, is nothing to the question.
  if (!found && !outcome) return std::move(outcome).error();
  return found;
}
template <class Predicate>
auto any(Predicate predicate) {
  return detail::make_closure([predicate = std::move(predicate)]<flow Source>(Source from) mutable {
    return any(std::move(from), std::move(predicate));
  });
}

/// Whether the predicate is true for every item; true if there are none. Ends with the first for which it is false.
template <flow Source, class Predicate>
  requires std::predicate<Predicate&, const value_of<Source>&>
result<bool> all(Source from, Predicate predicate) {
  auto exception = any(std::move(from), [&](const value_of<Source>& item) { return !predicate(item); });
  if (!exception) return exception;
  return !*exception;
}
template <class Predicate>
auto all(Predicate predicate) {
  return detail::make_closure([predicate = std::move(predicate)]<flow Source>(Source from) mutable {
    return all(std::move(from), std::move(predicate));
  });
}

/// Whether some item is equal to `wanted`. Ends with the first one.
template <flow Source, std::equality_comparable_with<value_of<Source>> T>
result<bool> contains(Source from, T wanted) {
  return any(std::move(from), [&](const value_of<Source>& item) { return item == wanted; });
}
template <class T>
auto contains(T wanted) {
  return detail::make_closure([wanted = std::move(wanted)]<flow Source>(Source from) mutable {
    return contains(std::move(from), std::move(wanted));
  });
}

}  // namespace weir::flow
