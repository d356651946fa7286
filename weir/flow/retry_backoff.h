#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include <weir/core/random.h>
#include <weir/core/result.h>
#include <weir/flow/defer.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/made_again.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>
#include <weir/flow/timers.h>

namespace weir::flow {

/// How long to wait before a flow that failed is made again: `first`, then each time `factor` times as long, up to `longest`;
/// and how often. An item that comes begins the count anew, so a connection that held for a while is made again soon.
struct backoff {
  timers::span first = std::chrono::milliseconds(100);
  double factor = 2;  ///< at least 1
  timers::span longest = std::chrono::seconds(30);
  /// Which part of each wait is left to chance, so that those who failed together do not come back together: 0.5 waits between a
  /// half and the whole of it.
  double jitter = 0.5;
  /// Failures in a row after which the flow is made again; one that gives an item before each failure is made again without end.
  std::size_t count = unbounded;
  std::function<bool(const error&)> when =
      {};  ///< whether this failure is worth another try; if there is none, each is
};

namespace detail {

template <flow_factory Factory>
class retried_later {
 public:
  using value_type = value_of<made_by<Factory>>;

  retried_later(Factory make, backoff how, timers& on, randomness& chance)
      : how_(std::move(how)), chance_(&chance), alarm_(on), source_(std::move(make)) {
    assert(how_.factor >= 1 && how_.jitter >= 0 && how_.jitter <= 1);
    begin_anew();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;  // for waits that are none
    for (;;) {
      if (!source_) {
        if (demand == 0) return step::more;
        if (again_at_ && alarm_.now() < *again_at_) {
          alarm_.set(*again_at_, cx.wake());
          return step::pending;
        }
      }
      const std::size_t before = demand;
      const step why = source_.pull(demand, emit, cx);
      if (demand != before) begin_anew();
      if (why != step::failed) return why;
      const auto again = [&] { return !how_.when || how_.when(std::as_const(cx.failure())); };
      if (++failures_ > how_.count || !internal::worth_another(again, cx)) return step::failed;
      again_at_ = timers::after(alarm_.now(), wait());
      now.spend(1);
      if (now.over() && demand != 0) return internal::turn::give_up(cx);
    }
  }

 private:
  /// The wait that follows, and what the next one is measured by.
  timers::duration wait() {
    // An end of time that has no double of its own is not reached.
    const double whole = std::min({wait_, static_cast<double>(timers::duration(how_.longest).count()), 0x1p62});
    wait_ = whole == 0 ? 0 : whole * how_.factor;
    const double part = static_cast<double>(chance_->next() >> 11) * 0x1p-53;  // from 0 up to 1
    return timers::duration(static_cast<timers::duration::rep>(whole * (1 - how_.jitter * part)));
  }
  void begin_anew() noexcept {
    failures_ = 0;
    wait_ = static_cast<double>(timers::duration(how_.first).count());
  }

  backoff how_;
  randomness* chance_;
  alarm alarm_;
  std::size_t failures_ = 0;  // since the last item
  double wait_ = 0;           // in ns, before the bound and jitter
  std::optional<timers::time_point> again_at_;
  internal::made_again<Factory> source_;
};

}  // namespace detail

/// As retry(make, ...) does (retry.h), but waits before the flow is made again: `retry(make, backoff{...}, clock)`, or
/// `defer(make) | retry(backoff{...}, clock)`.
///   chance   where jitter comes from
///   Ends     done or cancelled as a flow that does not fail; or failed with the error of the last one. An exception from `make`,
///            `when` or a function in the flow is a failure of code `threw`
///   Waits    it is pending between a failure and the next try; the flow that failed is destroyed before that
///   Memory   one flow at a time, inside the operator; one allocation, at the first wait
///   Source   exponential backoff with jitter, as Reactor's Retry.backoff with transientErrors(true)
template <detail::flow_factory Factory>
auto retry(Factory make, backoff how, timers& on, randomness& chance = randomness::system()) {
  return detail::retried_later<Factory>(std::move(make), std::move(how), on, chance);
}
inline auto retry(backoff how, timers& on, randomness& chance = randomness::system()) {
  return detail::with_factory([how = std::move(how), &on, &chance]<detail::flow_factory Factory>(Factory make) mutable {
    return retry(std::move(make), std::move(how), on, chance);
  });
}

}  // namespace weir::flow
