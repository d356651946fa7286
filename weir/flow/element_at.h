#pragma once

// Flows of one item of another flow, or of none. The drivers that wait for such an item and return it are in for_each.h
// and answers.h.

#include <cstddef>
#include <optional>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/flow/skip.h>
#include <weir/flow/take.h>
#include <weir/flow/take_last.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class only_element {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  explicit only_element(Source source) : source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    // Two items are enough to know that there is not only one.
    std::size_t asked = item_ ? 1 : 2;
    bool several = false;
    const step why = source_.pull(
        asked,
        [&](value_type&& item) {
          if (item_) {
            several = true;
          } else {
            item_.emplace(std::move(item));
          }
        },
        cx);
    if (several) return cx.fail(weir::fail(errc::too_large, "the flow has more than the one item it may have"));
    if (why == step::done && item_) {
      --demand;
      emit(*std::move(item_));
    }
    return why;
  }

 private:
  Source source_;
  std::optional<value_type> item_;
};

}  // namespace detail

/// Gives item number `index`, counted from 0, and is done; no item behind it is asked for. A flow that is done before
/// gives none: add `| default_if_empty(item)` or `| fail_if_empty()`. `element_at(flow, index)`, or
/// `flow | element_at(index)`.
template <flow Source>
auto element_at(Source source, std::size_t index) {
  return take(skip(std::move(source), index), 1);
}
inline auto element_at(std::size_t index) {
  return detail::make_closure([index]<flow Source>(Source source) { return element_at(std::move(source), index); });
}

/// Gives the first item and is done; no second one is asked for. None if the flow has none.
template <flow Source>
auto first_element(Source source) {
  return take(std::move(source), 1);
}
inline auto first_element() { return take(1); }

/// Gives the last item when the flow is done. None if the flow has none; none if it fails.
template <flow Source>
auto last_element(Source source) {
  return take_last(std::move(source), 1);
}
inline auto last_element() { return take_last(1); }

/// Gives the only item when the flow is done; none if it has none, and fails with `too_large` if there is a second one,
/// which is the last that is asked for. If the flow fails, the item is not given: whether it is the only one is not
/// known.
template <flow Source>
auto single_element(Source source) {
  return detail::only_element<Source>(std::move(source));
}
inline auto single_element() {
  return detail::make_closure([]<flow Source>(Source source) { return single_element(std::move(source)); });
}

}  // namespace weir::flow
