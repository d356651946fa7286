#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include <weir/core/thread.h>
#include <weir/flow/executor.h>
#include <weir/queue/event_count.h>

namespace weir::flow {

/// A fixed number of threads that share the tasks posted to them. Tasks begin in the order in which they were posted and run at
/// the same time. A hop, start, spawn and to_publisher have one task each, which never runs twice at a time, so they are given the
/// pool as it is. Tasks of your own that need one after another take a strand over it.
///   Threads  post from any thread, also from inside a task.
///   Waits    the destructor, until everything that was posted has run, and what that posts in turn; then it joins. post takes
///            a mutex that is held for a few instructions, and never allocates. A thread without work spins for about
///            5 µs before it sleeps.
///   Cost     post: a mutex and a read-modify-write, and a system call if a thread sleeps.
class thread_pool final : public executor {
 public:
  /// threads  at least 1.
  explicit thread_pool(std::size_t threads);
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  void post(task& work) noexcept override;

  [[nodiscard]] std::size_t size() const noexcept { return threads_.size(); }

 private:
  void work_until_stopped() noexcept;
  /// The oldest task; null if there is none.
  task* take() noexcept;

  std::mutex lock_;  // guards what follows
  task* first_ = nullptr;
  task* last_ = nullptr;
  std::size_t running_ = 0;  // tasks that were taken and have not ended: they may post more
  bool stopping_ = false;

  queue::event_count news_;
  std::deque<thread> threads_;  // last: begin when the rest is there
};

}  // namespace weir::flow
