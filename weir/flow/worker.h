#pragma once

#include <string>

#include <weir/core/thread.h>
#include <weir/flow/executor.h>
#include <weir/flow/internal/task_list.h>
#include <weir/queue/park_point.h>

namespace weir::flow {

/// A serial executor with a thread of its own: tasks run one after another, in the order in which they were posted.
///   Threads  post from any thread. Whoever posts sees to it that the worker outlives the post.
///   Waits    the destructor runs everything that was posted, and what that posts in turn, and joins. post never waits
///            and never allocates; the thread spins for about 5 µs without work before it sleeps.
///   Cost     post: one compare-exchange; a system call only for the first task after a sleep.
class worker final : public executor {
 public:
  /// name  at most 15 characters, as the operating system shows it.
  explicit worker(std::string name = "weir-worker");
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  void post(task& work) noexcept override;

  /// Whether the caller runs on this worker.
  [[nodiscard]] bool is_this_thread() const noexcept { return thread_.is_this(); }

 private:
  struct stop_task : task {
    worker* of;
  };

  void run_until_stopped() noexcept;

  internal::task_list posted_;
  queue::park_point sleeper_;
  bool stopping_ = false;  // the worker's thread only
  stop_task stop_;
  thread thread_;  // last: begins when the rest is there
};

}  // namespace weir::flow
