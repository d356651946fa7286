#pragma once

#include <cassert>
#include <cstddef>
#include <optional>

#include <weir/flow/executor.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/timers.h>

namespace weir::flow::testing {

/// Timers and an executor whose time goes on when a test says so, on the test's thread: an hour takes no time, and every run is
/// the same. Time begins at zero.
///
///     virtual_time time;
///     test_consumer seen(interval(1h, time));
///     seen.request(1);                          // step::pending
///     time.advance_by(1h);                      // seen.wakes == 1
///
///   Threads  confined, but tasks are posted from any thread.
///   Source   RxJava's TestScheduler
class virtual_time final : public timers, public executor {
 public:
  [[nodiscard]] time_point now() const noexcept override { return now_; }
  /// The time since the beginning.
  [[nodiscard]] duration passed() const noexcept { return now_.time_since_epoch(); }

  void post(task& work) noexcept override { tasks_.post(work); }

  /// Runs the tasks that are posted, those that they post too, without letting time go on. Says how many.
  std::size_t run_all() { return tasks_.run_all(); }

  /// Lets so much time pass: each alarm goes off at its own time, and the tasks that it leads to are run before the next. Not
  /// from inside a task.
  void advance_by(duration wait) {
    assert(!advancing_ && "time is let pass by a task");
    advancing_ = true;
    const time_point until = after(now_, wait);
    run_all();
    for (std::optional<time_point> at = next(); at && *at <= until; at = next()) {
      // An alarm may have been set for a time that has passed.
      if (*at > now_) now_ = *at;
      fire_due(now_);
      run_all();
    }
    now_ = until;
    advancing_ = false;
  }

 private:
  void sooner() noexcept override {}

  manual_executor tasks_;
  time_point now_{};
  bool advancing_ = false;
};

}  // namespace weir::flow::testing
