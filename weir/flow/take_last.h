#pragma once

#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/last_items.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class taken_last {
 public:
  using value_type = value_of<Source>;

  taken_last(Source source, std::size_t count) : source_(std::move(source)), held_(count) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!over_) {
      if (demand == 0) return step::more;
      internal::turn now;
      const step why = internal::pull_away(source_, unbounded, now, cx, [this](value_type&& item) {
        if (held_.room() != 0) {
          held_.add(std::move(item));
        } else {
          held_.exchange(std::move(item));
        }
      });
      if (why != step::done) return why;
      over_ = true;
    }
    while (given_ != held_.size()) {
      if (demand == 0) return step::more;
      --demand;
      emit(std::move(held_[given_++]));
    }
    return step::done;
  }

 private:
  Source source_;
  internal::last_items<value_type> held_;
  std::size_t given_ = 0;
  bool over_ = false;  // the source is done
};

}  // namespace detail

/// Gives the last `count` items, when the flow is done: `take_last(flow, count)`, or `flow | take_last(count)`.
///   Ends    as the flow does. If it fails or is cancelled no items are given: its last ones have not come.
///   Memory  `count` items at most, allocated as they come, until the operator is destroyed. Items can be assigned by
///           move.
///   Waits   it is pending now and then, and wakes its consumer at once, so that a long flow does not hold up others.
template <flow Source>
auto take_last(Source source, std::size_t count) {
  return detail::taken_last<Source>(std::move(source), count);
}
inline auto take_last(std::size_t count) {
  return detail::make_closure([count]<flow Source>(Source source) { return take_last(std::move(source), count); });
}

}  // namespace weir::flow
