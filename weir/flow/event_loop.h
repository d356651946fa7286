#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>

#include <weir/flow/executor.h>
#include <weir/flow/internal/task_list.h>
#include <weir/queue/park_point.h>

namespace weir::flow {

/// A serial executor on a thread that you have: tasks run inside run() or run_ready(), one after another, in the order in
/// which they were posted.
///
///     event_loop loop;
///     auto running = start(numbers, loop, sink_that_calls_stop_at_the_end);
///     loop.run();
///
///   Threads  post and stop from any thread. run and run_ready from one thread at a time, and not from inside a task.
///   Waits    run, when there is nothing to do: it spins for about 5 µs, then sleeps. post never waits or allocates.
///   Ends     the destructor runs what was posted, and what that posts in turn. Whoever posts sees to it that the loop
///            outlives the post.
///   Cost     post: one compare-exchange; a system call only for the first task after a sleep.
class event_loop final : public executor {
 public:
  event_loop() = default;
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;
  ~event_loop() {
    while (run_ready() != 0) {
    }
  }

  void post(task& work) noexcept override {
    // If the list was not empty, whoever made it so has woken the loop, or is about to.
    if (posted_.push(work)) sleeper_.wake();
  }

  /// Runs tasks until stop() is called; then those that were posted before it, and returns. It can be run again.
  void run() noexcept {
    for (;;) {
      // Partner: the exchange in stop, which makes visible what was posted before it.
      const bool stopping = stopping_.exchange(false, std::memory_order_acquire);
      const std::size_t count = run_ready();
      if (stopping) return;
      if (count == 0 && !stopping_.load(std::memory_order_relaxed)) sleeper_.wait();
    }
  }

  /// Runs the tasks that are posted now, and says how many; those that they post are left for the next time.
  std::size_t run_ready() noexcept {
    assert(!running_);
    running_ = true;
    std::size_t count = 0;
    for (task* next = posted_.take_all(); next; ++count) {
      // Read before the run, which may post the task again or free it.
      task* const following = next->next;
      next->run(next);
      next = following;
    }
    running_ = false;
    return count;
  }

  /// Lets run() return, or the next call of it.
  void stop() noexcept {
    stopping_.exchange(true, std::memory_order_release);
    sleeper_.wake();
  }

 private:
  internal::task_list posted_;
  queue::park_point sleeper_;
  std::atomic<bool> stopping_{false};
  bool running_ = false;  // the running thread's
};

}  // namespace weir::flow
