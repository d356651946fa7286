#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/flow/sources.h>
#include <weir/flow/timers.h>

namespace weir::flow {

namespace detail {

template <flow Source, flow Fallback>
class with_timeout {
 public:
  using value_type = value_of<Source>;

  with_timeout(Source source, timers& on, timers::duration limit, Fallback fallback)
      : alarm_(on), limit_(limit), fallback_(std::move(fallback)), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (source_) {
      const std::size_t before = demand;
      const step why = source_->pull(demand, emit, cx);
      if (why != step::pending) {
        deadline_.reset();
        return why;
      }
      if (demand == 0) {  // who does not ask is not kept waiting
        deadline_.reset();
        return step::more;
      }
      if (demand != before) {
        // Neither is who was just given something, and may take its time with that: the wait begins when it comes again.
        deadline_.reset();
        cx.wake()();
        return step::pending;
      }
      const timers::time_point now = alarm_.now();
      if (!deadline_) deadline_ = timers::after(now, limit_);
      if (now < *deadline_) {
        alarm_.set(*deadline_, cx.wake());
        return step::pending;
      }
      alarm_.clear();
      source_.reset();
    }
    return fallback_.pull(demand, emit, cx);
  }

 private:
  alarm alarm_;
  timers::duration limit_;
  std::optional<timers::time_point> deadline_;  // while a consumer that asks is kept waiting
  Fallback fallback_;
  std::optional<Source> source_;
};

inline error took_longer_than(timers::duration limit) {
  const auto ns = limit.count();
  return {errc::timed_out,
          "timeout: no item came within " +
              (ns % 1'000'000 == 0 ? std::to_string(ns / 1'000'000) + " ms" : std::to_string(ns) + " ns")};
}

}  // namespace detail

/// The flow, as long as it never keeps a consumer that asks waiting for more than `limit`; then it is destroyed, and
/// `fallback` goes on in its place: `timeout(flow, limit, clock, fallback)`, or `flow | timeout(limit, clock, fallback)`.
///   Order    the wait begins with a pull that finds nothing: what a consumer does with an item that it has got is not held
///            against the flow. So after items it is woken at once, to pull again
///   Ends     as the flow, or else as the fallback does
///   Waits    as the flow does, up to `limit`; zero allows none
///   Memory   one allocation, at the first time that the flow is pending
template <flow Source, flow Fallback>
  requires std::same_as<value_of<Source>, value_of<Fallback>>
auto timeout(Source source, timers::span limit, timers& on, Fallback fallback) {
  return detail::with_timeout<Source, Fallback>(std::move(source), on, limit, std::move(fallback));
}
template <flow Fallback>
auto timeout(timers::span limit, timers& on, Fallback fallback) {
  return detail::make_closure([limit, &on, fallback = std::move(fallback)]<flow Source>(Source source) mutable {
    return timeout(std::move(source), limit, on, std::move(fallback));
  });
}

/// The same, where the flow fails with code `timed_out`.
template <flow Source>
auto timeout(Source source, timers::span limit, timers& on) {
  return timeout(std::move(source), limit, on, fail<value_of<Source>>(detail::took_longer_than(limit)));
}
inline auto timeout(timers::span limit, timers& on) {
  return detail::make_closure(
      [limit, &on]<flow Source>(Source source) { return timeout(std::move(source), limit, on); });
}

}  // namespace weir::flow
