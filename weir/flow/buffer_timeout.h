#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/pipe.h>
#include <weir/flow/timers.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class buffered_in_time {
  using item_type = value_of<Source>;

 public:
  using value_type = std::vector<item_type>;

  buffered_in_time(Source source, timers& on, std::size_t count, timers::duration wait)
      : alarm_(on), wait_(wait), count_(count), source_(std::move(source)) {
    assert(count > 0);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    for (;;) {
      if (demand == 0) return step::more;
      if (!open_.empty() && (ending_ || open_.size() == count_ || due_ <= alarm_.now())) {
        value_type full(std::move(open_));
        open_.clear();
        --demand;
        emit(std::move(full));
        continue;
      }
      if (ending_) return ending_.give(cx);
      if (fill(cx) != step::pending) continue;
      if (!open_.empty()) {
        if (due_ <= alarm_.now()) continue;
        alarm_.set(due_, cx.wake());
      }
      return step::pending;
    }
  }

 private:
  step fill(context& cx) {
    std::size_t asked = count_ - open_.size();
    try {
      const step why = source_.pull(
          asked,
          [&](item_type&& item) {
            if (open_.empty()) due_ = timers::after(alarm_.now(), wait_);
            open_.push_back(std::move(item));
          },
          cx);
      if (is_final(why)) ending_.keep(why, cx);
      return why;
    } catch (...) {
      ending_.keep_exception();
      return step::failed;
    }
  }

  alarm alarm_;
  timers::duration wait_;
  std::size_t count_;
  value_type open_;  // fewer than count_ between pulls
  timers::time_point due_{};
  internal::ending ending_;
  Source source_;
};

}  // namespace detail

/// Groups items into vectors of `count`, and closes one early when its first item has waited for so long:
/// `buffer_timeout(flow, count, wait, clock)`, or `flow | buffer_timeout(count, wait, clock)`. Where items should not wait
/// for company at all, use `chunks`.
///   count    above zero
///   Order    kept; each item is in one buffer, and no buffer is empty
///   Ends     as the flow does, after the buffer that was open then, if it holds items; after a failure too
///   Bounds   the flow is asked for what is missing of one buffer
///   Memory   `count` items, allocated as they come; one allocation at the first time that it is pending
///   Waits    up to `wait` for a buffer's items. The clock is looked at when the flow has nothing more ready, not between items
///   Source   Reactor's bufferTimeout; RxJava's buffer(timespan, unit, count), without its empty buffers
template <flow Source>
auto buffer_timeout(Source source, std::size_t count, timers::span wait, timers& on) {
  return detail::buffered_in_time<Source>(std::move(source), on, count, wait);
}
inline auto buffer_timeout(std::size_t count, timers::span wait, timers& on) {
  return detail::make_closure(
      [count, wait, &on]<flow Source>(Source source) { return buffer_timeout(std::move(source), count, wait, on); });
}

}  // namespace weir::flow
