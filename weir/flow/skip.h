#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/last_items.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class skipped {
 public:
  using value_type = value_of<Source>;

  skipped(Source source, std::size_t count) : source_(std::move(source)), left_(count) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (left_ != 0) {
      if (demand == 0) return step::more;
      internal::turn now;
      // As many as are left, so that the last of them does not bring the first wanted one along.
      const step why = internal::pull_away(source_, left_, now, cx, [this](value_type&&) { --left_; });
      if (why != step::more) return why;
    }
    return source_.pull(demand, emit, cx);
  }

 private:
  Source source_;
  std::size_t left_;
};

template <flow Source, class Predicate>
class skipped_while {
 public:
  using value_type = value_of<Source>;

  skipped_while(Source source, Predicate unwanted) : source_(std::move(source)), unwanted_(std::move(unwanted)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (passing_) return source_.pull(demand, emit, cx);
    return internal::pull_wanted(source_, demand, emit, cx, [this](const value_type& item) {
      if (!passing_) passing_ = !std::as_const(unwanted_)(item);
      return passing_;
    });
  }

 private:
  Source source_;
  Predicate unwanted_;
  bool passing_ = false;
};

// Invariant: the last items that came, up to `count`, are held; each one more lets the oldest of them out.
template <flow Source>
class without_last {
 public:
  using value_type = value_of<Source>;

  without_last(Source source, std::size_t count) : source_(std::move(source)), held_(count) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (held_.room() != 0) {
      if (demand == 0) return step::more;
      internal::turn now;
      const step why = internal::pull_away(source_, held_.room(), now, cx,
                                           [this](value_type&& item) { held_.add(std::move(item)); });
      if (why != step::more) return why;
    }
    return source_.pull(
        demand, [&](value_type&& item) { emit(held_.exchange(std::move(item))); }, cx);
  }

 private:
  Source source_;
  internal::last_items<value_type> held_;
};

}  // namespace detail

/// Gives all but the first `count` items: `skip(flow, count)`, or `flow | skip(count)`. It is pending now and then
/// while it skips, and wakes its consumer at once, so that others have their turn.
template <flow Source>
auto skip(Source source, std::size_t count) {
  return detail::skipped<Source>(std::move(source), count);
}
inline auto skip(std::size_t count) {
  return detail::make_closure([count]<flow Source>(Source source) { return skip(std::move(source), count); });
}

/// Gives all items from the first one for which the predicate is false, that one included; the predicate is not called
/// any more then. `skip_while(flow, predicate)`, or `flow | skip_while(predicate)`. Pending now and then, like skip.
template <flow Source, class Predicate>
auto skip_while(Source source, Predicate unwanted) {
  return detail::skipped_while<Source, Predicate>(std::move(source), std::move(unwanted));
}
template <class Predicate>
auto skip_while(Predicate unwanted) {
  return detail::make_closure([unwanted = std::move(unwanted)]<flow Source>(Source source) mutable {
    return skip_while(std::move(source), std::move(unwanted));
  });
}

/// Gives all but the last `count` items, each one when the `count` that follow it have come: `skip_last(flow, count)`,
/// or `flow | skip_last(count)`.
///   Ends    as the flow does. The items that are held then are destroyed, after a failure too: whether they are among
///           the last is not known.
///   Memory  `count` items at most, allocated as they come. Items can be assigned by move.
template <flow Source>
auto skip_last(Source source, std::size_t count) {
  return detail::without_last<Source>(std::move(source), count);
}
inline auto skip_last(std::size_t count) {
  return detail::make_closure([count]<flow Source>(Source source) { return skip_last(std::move(source), count); });
}

}  // namespace weir::flow
