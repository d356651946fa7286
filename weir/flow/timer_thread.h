#pragma once

#include <atomic>
#include <string>

#include <weir/core/thread.h>
#include <weir/flow/timers.h>
#include <weir/queue/park_point.h>

namespace weir::flow {

/// Timers with a thread of their own, which sleeps until the next alarm and calls wakers: no consumer runs on it. One serves a
/// whole program.
///
///     timer_thread clock;
///     auto once_a_second = interval(std::chrono::seconds(1), clock);
///
///   Threads  shared.
///   Waits    the destructor joins the thread. The flows that were given it are destroyed before it: declare it first, before
///            the executors too, since these may be the last to hold a flow.
///   Cost     an alarm is late by what the operating system takes to wake a thread, some 90 µs here.
class timer_thread final : public timers {
 public:
  /// name  at most 15 characters, as the operating system shows it.
  explicit timer_thread(std::string name = "weir-timers");
  ~timer_thread() override;

  /// The system's steady clock (core/clock.h).
  [[nodiscard]] time_point now() const noexcept override;

 private:
  void sooner() noexcept override { sleeper_.wake(); }
  void run_until_stopped() noexcept;

  queue::park_point sleeper_;
  std::atomic<bool> stopping_{false};
  thread thread_;  // last: begins when the rest is there
};

}  // namespace weir::flow
