#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class with_default {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  with_default(Source source, value_type item) : source_(std::move(source)), item_(std::move(item)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!empty_) {
      const std::size_t before = demand;
      const step why = source_.pull(demand, emit, cx);
      if (demand != before) given_ = true;
      if (why != step::done || given_) return why;
      empty_ = true;
    }
    if (demand == 0) return step::more;
    --demand;
    emit(std::move(item_));
    return step::done;
  }

 private:
  Source source_;
  value_type item_;
  bool given_ = false;
  bool empty_ = false;  // the source is done and gave nothing
};

template <flow Source>
class failing_if_empty {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  failing_if_empty(Source source, error why) : source_(std::move(source)), why_(std::move(why)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    const std::size_t before = demand;
    const step why = source_.pull(demand, emit, cx);
    if (demand != before) given_ = true;
    return why == step::done && !given_ ? cx.fail(std::move(why_)) : why;
  }

 private:
  Source source_;
  error why_;
  bool given_ = false;
};

}  // namespace detail

/// Gives the flow, or one item if it is done without any: `default_if_empty(flow, item)`, or
/// `flow | default_if_empty(item)`. A flow that fails or is cancelled without items gives none.
template <flow Source, std::convertible_to<value_of<Source>> Item>
auto default_if_empty(Source source, Item item) {
  return detail::with_default<Source>(std::move(source), value_of<Source>(std::move(item)));
}
template <class Item>
auto default_if_empty(Item item) {
  return detail::make_closure([item = std::move(item)]<flow Source>(Source source) mutable {
    return default_if_empty(std::move(source), std::move(item));
  });
}

/// Gives the flow, and fails if it is done without any items: `fail_if_empty(flow, error)`, or
/// `flow | fail_if_empty(error)`. By default the error is `not_found`.
template <flow Source>
auto fail_if_empty(Source source, error why = weir::fail(errc::not_found, "the flow has no items")) {
  return detail::failing_if_empty<Source>(std::move(source), std::move(why));
}
inline auto fail_if_empty(error why = weir::fail(errc::not_found, "the flow has no items")) {
  return detail::make_closure([why = std::move(why)]<flow Source>(Source source) mutable {
    return fail_if_empty(std::move(source), std::move(why));
  });
}

}  // namespace weir::flow
