#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <deque>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/pipe.h>
#include <weir/flow/timers.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class delayed {
 public:
  using value_type = value_of<Source>;

  delayed(Source source, timers& on, timers::duration wait, std::size_t items_max)
      : alarm_(on), source_(std::move(source)), wait_(wait), items_max_(items_max) {
    assert(items_max > 0);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    for (;;) {
      give_due(demand, emit);
      if (demand == 0) return step::more;
      if (ending_ && held_.empty() && end_due_ <= alarm_.now()) return ending_.give(cx);
      if (!ending_ && held_.size() < items_max_) take_more(cx);
      const timers::time_point due = held_.empty() ? end_due_ : held_.front().due;
      if (ending_ || !held_.empty()) {
        if (due <= alarm_.now()) continue;
        alarm_.set(due, cx.wake());
      }
      return step::pending;
    }
  }

 private:
  struct held {
    timers::time_point due;
    value_type item;
  };

  template <class Emit>
  void give_due(std::size_t& demand, Emit&& emit) {
    const timers::time_point now = alarm_.now();
    while (demand != 0 && !held_.empty() && held_.front().due <= now) {
      value_type item(std::move(held_.front().item));
      held_.pop_front();
      --demand;
      emit(std::move(item));
    }
  }

  void take_more(context& cx) {
    std::size_t asked = items_max_ - held_.size();
    try {
      const step why = source_.pull(
          asked,
          [&](value_type&& item) {
            held_.push_back({timers::after(alarm_.now(), wait_), std::move(item)});
          },
          cx);
      if (is_final(why)) ending_.keep(why, cx);
    } catch (...) {
      ending_.keep_exception();
    }
    if (ending_) end_due_ = timers::after(alarm_.now(), wait_);
  }

  alarm alarm_;
  Source source_;
  timers::duration wait_;
  std::size_t items_max_;
  std::deque<held> held_;  // at most items_max_, the oldest first
  internal::ending ending_;
  timers::time_point end_due_{};
};

}  // namespace detail

/// Gives each item so much later than it came: `delay(flow, wait, clock)`, or `flow | delay(wait, clock)`. An item comes when
/// the flow is pulled, so behind a source that runs by itself the hop (observe_on) stands before the delay.
///   items_max  items that are on their way at once; while there are so many, the flow is not asked for more
///   Order      kept; the end, a failure too, comes as late as the items
///   Memory     up to items_max items, allocated as they come
///   Waits      it is pending until the oldest item is due
template <flow Source>
auto delay(Source source, timers::span wait, timers& on, std::size_t items_max = limits::delay_items) {
  return detail::delayed<Source>(std::move(source), on, wait, items_max);
}
inline auto delay(timers::span wait, timers& on, std::size_t items_max = limits::delay_items) {
  return detail::make_closure(
      [wait, &on, items_max]<flow Source>(Source source) { return delay(std::move(source), wait, on, items_max); });
}

}  // namespace weir::flow
