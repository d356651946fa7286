#include <weir/flow/timer_thread.h>

#include <algorithm>
#include <utility>

#include <weir/core/clock.h>

namespace weir::flow {

timer_thread::timer_thread(std::string name) : thread_(std::move(name), [this] { run_until_stopped(); }) {}

timer_thread::~timer_thread() {
  // Partner: the load in run_until_stopped; the wake carries it.
  stopping_.store(true, std::memory_order_relaxed);
  sleeper_.wake();
  thread_.join();
}

timers::time_point timer_thread::now() const noexcept {
  return time_point(duration(static_cast<duration::rep>(clock::system().steady_ns())));
}

void timer_thread::run_until_stopped() noexcept {
  // The end of time is more than the operating system can be asked to wait for.
  constexpr duration longest = std::chrono::hours(1);
  while (!stopping_.load(std::memory_order_relaxed)) {
    const time_point now = this->now();
    if (const auto next = fire_due(now)) {
      (void)sleeper_.wait_until(std::min(*next, now + longest));
    } else {
      sleeper_.wait();
    }
  }
}

}  // namespace weir::flow
