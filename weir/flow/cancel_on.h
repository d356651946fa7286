#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/queue/parking.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class cancellable {
 public:
  using value_type = value_of<Source>;

  cancellable(Source source, std::stop_token token, std::size_t every)
      : token_(std::move(token)), every_(every), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      if (token_.stop_requested()) return step::cancelled;
      std::size_t asked = std::min(demand, every_);
      const std::size_t before = asked;
      const step why = source_.pull(asked, emit, cx);
      demand -= before - asked;
      if (why == step::pending && !sleep(cx.wake())) return step::cancelled;
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  struct sleeper {
    explicit sleeper(const std::stop_token& token) : on_stop(token, waking{this}) {}
    struct waking {
      sleeper* of;
      void operator()() const noexcept { of->consumer.notify(); }
    };
    queue::parking consumer;
    // Last, so that its destructor, which waits for a call under way, comes before that of what the call uses.
    std::stop_callback<waking> on_stop;
  };

  /// Sees to it that a request to stop wakes the consumer; false if there was one already.
  bool sleep(const waker& consumer) {
    if (!token_.stop_possible()) return true;
    if (!sleeper_) sleeper_ = std::make_unique<sleeper>(token_);
    return sleeper_->consumer.park(consumer.action(), [this] { return token_.stop_requested(); });
  }

  std::stop_token token_;
  std::size_t every_;
  std::unique_ptr<sleeper> sleeper_;  // where the callback points: made at the first pending, does not move
  Source source_;
};

}  // namespace detail

/// Passes the flow on until stop is requested, and is cancelled then: `cancel_on(flow, token)`, or `flow | cancel_on(token)`.
/// A consumer that sleeps is woken.
///   every    items after which it looks at the token, at most; fewer where one item is long work
///   Threads  stop may be requested from any thread; a callback in the requesting thread only calls the waker.
///   Memory   one allocation, at the first time that upstream is pending and a stop is possible.
template <flow Source>
auto cancel_on(Source source, std::stop_token token, std::size_t every = limits::run_items) {
  return detail::cancellable<Source>(std::move(source), std::move(token), every);
}
inline auto cancel_on(std::stop_token token, std::size_t every = limits::run_items) {
  return detail::make_closure([token = std::move(token), every]<flow Source>(Source source) mutable {
    return cancel_on(std::move(source), std::move(token), every);
  });
}

}  // namespace weir::flow
