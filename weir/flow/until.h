#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// A flow of which only counts whether it has given an item or has ended.
template <flow Other>
class signal {
 public:
  signal(std::in_place_t, Other other) : other_(std::move(other)) {}

  [[nodiscard]] bool given() const noexcept { return !other_; }

  /// Looks whether it is given now. The answer is a failure, a cancellation, or step::more.
  step look(context& cx) {
    if (!other_) return step::more;
    std::size_t one = 1;
    const step why = other_->pull(
        one, [](value_of<Other>&&) {}, cx);
    // An item counts, whatever comes behind it.
    if (one != 0 && (why == step::failed || why == step::cancelled)) return why;
    if (one == 0 || why == step::done) other_.reset();
    return step::more;
  }

 private:
  std::optional<Other> other_;
};

template <flow Source, flow Other>
class taken_until {
 public:
  using value_type = value_of<Source>;

  taken_until(Source source, Other other) : stop_(std::in_place, std::move(other)), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      if (const step why = stop_.look(cx); is_final(why)) return why;
      if (stop_.given()) return step::done;
      std::size_t asked = std::min(demand, limits::hop_quantum);
      const std::size_t before = asked;
      const step why = source_.pull(asked, emit, cx);
      demand -= before - asked;
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  signal<Other> stop_;
  Source source_;
};

template <flow Source, flow Other>
class skipped_until {
 public:
  using value_type = value_of<Source>;

  skipped_until(Source source, Other other) : start_(std::in_place, std::move(other)), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    while (demand != 0 && !start_.given()) {
      if (const step why = start_.look(cx); is_final(why)) return why;
      if (start_.given()) break;
      std::size_t asked = limits::hop_quantum;
      const step why = source_.pull(
          asked, [](value_type&&) {}, cx);
      if (why != step::more) return why;
      now.spend(limits::hop_quantum);
      if (now.over()) return internal::turn::give_up(cx);
    }
    if (demand == 0) return step::more;
    return source_.pull(demand, emit, cx);
  }

 private:
  signal<Other> start_;
  Source source_;
};

}  // namespace detail

/// Gives the flow until another one gives an item or is done, and is done then: `take_until(flow, other)`, or
/// `flow | take_until(other)`.
///   Ends     as the flow does, if it ends before; with a failure or cancellation of the other one.
///   Bounds   the other flow is looked at in each pull, and after every limits::hop_quantum items. It is asked for one item.
///   Threads  confined; both wake the consumer.
template <flow Source, flow Other>
auto take_until(Source source, Other other) {
  return detail::taken_until<Source, Other>(std::move(source), std::move(other));
}
template <flow Other>
auto take_until(Other other) {
  return detail::make_closure([other = std::move(other)]<flow Source>(Source source) mutable {
    return take_until(std::move(source), std::move(other));
  });
}

/// Drops the items of a flow until another one gives an item or is done, and gives the rest: `skip_until(flow, other)`, or
/// `flow | skip_until(other)`. The other flow is destroyed then.
///   Ends     as the flow does, also while items are dropped; with a failure or cancellation of the other one, if that comes
///            before its item.
///   Bounds   the other flow is looked at in each pull, and after every limits::hop_quantum items. It is asked for one item.
///            Items are dropped only while one is wanted; after limits::run_items the flow is pending and wakes its consumer.
///   Threads  confined; both wake the consumer.
template <flow Source, flow Other>
auto skip_until(Source source, Other other) {
  return detail::skipped_until<Source, Other>(std::move(source), std::move(other));
}
template <flow Other>
auto skip_until(Other other) {
  return detail::make_closure([other = std::move(other)]<flow Source>(Source source) mutable {
    return skip_until(std::move(source), std::move(other));
  });
}

}  // namespace weir::flow
