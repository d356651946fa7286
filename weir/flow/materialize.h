#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

/// Something that a flow says, as a value: an item, or how it ended.
///   Errors   reading what it is not is a bug in the caller (asserted).
///   Threads  confined, like the item it holds.
template <class T>
class notification {
 public:
  using item_type = T;

  explicit notification(T item) : held_(std::in_place_index<0>, std::move(item)) {}
  static notification done() { return notification(ended(), step::done); }
  static notification cancelled() { return notification(ended(), step::cancelled); }
  static notification failed(error why) { return notification(ended(), std::move(why)); }

  [[nodiscard]] bool is_item() const noexcept { return held_.index() == 0; }
  [[nodiscard]] T& item() & { return assert(is_item()), *std::get_if<0>(&held_); }
  [[nodiscard]] const T& item() const& { return assert(is_item()), *std::get_if<0>(&held_); }
  [[nodiscard]] T&& item() && { return std::move(item()); }

  /// done, failed or cancelled.
  [[nodiscard]] step end() const {
    assert(!is_item());
    return held_.index() == 2 ? step::failed : *std::get_if<1>(&held_);
  }
  [[nodiscard]] const error& failure() const {
    assert(held_.index() == 2);
    return *std::get_if<2>(&held_);
  }

 private:
  struct ended {};  // so that an item may be a step or an error
  notification(ended, step why) : held_(std::in_place_index<1>, why) {}
  notification(ended, error why) : held_(std::in_place_index<2>, std::move(why)) {}

  std::variant<T, step, error> held_;
};

namespace detail {

template <flow Source>
class materialized {
 public:
  using value_type = notification<value_of<Source>>;
  static constexpr bool never_pending = synchronous<Source>;

  explicit materialized(Source source) : source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!end_) {
      const step why = internal::pull_caught(
          source_, demand, [&](value_of<Source>&& item) { emit(value_type(std::move(item))); }, cx);
      if (!is_final(why)) return why;
      end_.emplace(why == step::failed      ? value_type::failed(std::move(cx.failure()))
                   : why == step::cancelled ? value_type::cancelled()
                                            : value_type::done());
    }
    if (demand == 0) return step::more;
    --demand;
    emit(*std::move(end_));
    return step::done;
  }

 private:
  Source source_;
  std::optional<value_type> end_;  // how the source ended
};

template <class T>
struct notified;
template <class T>
struct notified<notification<T>> {
  using item = T;
};

template <flow Source>
class dematerialized {
 public:
  using value_type = typename notified<value_of<Source>>::item;
  static constexpr bool never_pending = synchronous<Source>;

  explicit dematerialized(Source source) : source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    // In pieces, so that a notification of an end ends also an endless source that is asked for everything.
    while (demand != 0) {
      std::optional<value_of<Source>> end;
      std::size_t asked = std::min(demand, limits::hop_quantum);
      step why = step::done;
      try {
        why = source_.pull(
            asked,
            [&](value_of<Source>&& what) {
              if (end) return;
              if (!what.is_item()) {
                end.emplace(std::move(what));
                return;
              }
              --demand;
              emit(std::move(what).item());
            },
            cx);
      } catch (...) {
        // What the source does behind the notification of an end is nothing to its consumer.
        if (!end) throw;
      }
      if (end) return end->end() == step::failed ? cx.fail(end->failure()) : end->end();
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  Source source_;
};

}  // namespace detail

/// Gives every item, and then how the flow ended, as values, and is done: `materialize(flow)`, or
/// `flow | materialize()`. An exception from a function in the flow is a failure of code `threw`.
template <flow Source>
auto materialize(Source source) {
  return detail::materialized<Source>(std::move(source));
}
inline auto materialize() {
  return detail::make_closure([]<flow Source>(Source source) { return materialize(std::move(source)); });
}

/// Makes a flow of its notifications: the items, and the end that the first other notification tells; what the flow
/// gave in one piece with that one, at most limits::hop_quantum notifications, is destroyed. A flow that ends without
/// such a notification ends this one in the same way. `dematerialize(flow)`, or `flow | dematerialize()`.
template <flow Source>
  requires requires { typename detail::notified<value_of<Source>>::item; }
auto dematerialize(Source source) {
  return detail::dematerialized<Source>(std::move(source));
}
inline auto dematerialize() {
  return detail::make_closure([]<flow Source>(Source source) { return dematerialize(std::move(source)); });
}

}  // namespace weir::flow
