#pragma once

#include <atomic>
#include <cstddef>

#include <weir/flow/executor.h>
#include <weir/flow/internal/task_list.h>
#include <weir/queue/spin.h>

namespace weir::flow {

/// A serial executor over one that is not: its tasks run on the other's threads, one after another, in the order in which they
/// were posted. Any number of strands share a pool.
///
///     thread_pool pool(4);
///     strand mine(pool);
///     mine.post(first), mine.post(second);
///
/// Flows do not need one: what runs them on an executor is one task each (thread_pool.h).
///   Threads  post from any thread. What a task did is visible to the next one.
///   Waits    the destructor, until everything that was posted has run; so not from inside one of its tasks. Else never, and
///            nothing is allocated. After each round of the tasks that were there, others of the pool have their turn.
///   Owns     nothing. Whoever posts sees to it that it outlives the post; it must be gone before the executor below.
///   Cost     post: two read-modify-writes, and a post below for the first task of a round.
class strand final : public executor {
 public:
  explicit strand(executor& below) noexcept : below_(below) {
    round_.of = this;
    round_.run = [](task* self) noexcept { static_cast<round_task*>(self)->of->run_round(); };
  }
  ~strand() {
    queue::spin wait;
    // Partner: the subtraction in run_round, after which the round does not touch the strand.
    while (waiting_.load(std::memory_order_acquire) != 0) wait.pause();
  }
  strand(const strand&) = delete;
  strand& operator=(const strand&) = delete;

  void post(task& work) noexcept override {
    // Counted before it is put in, so that no round takes more than was counted. Partner: the subtraction in run_round.
    const bool first = waiting_.fetch_add(1, std::memory_order_acq_rel) == 0;
    posted_.push(work);
    if (first) below_.post(round_);
  }

 private:
  struct round_task : task {
    strand* of = nullptr;
  };

  void run_round() noexcept {
    std::size_t count = 0;
    for (task* next = posted_.take_all(); next; ++count) {
      // Read before the run, which may post the task again or free it.
      task* const following = next->next;
      next->run(next);
      next = following;
    }
    // Partner: the additions in post. Whoever finds 0 after this posts the next round; else there are more, or one is on its way
    // into the list. The strand may be gone when this has made it 0.
    executor& below = below_;
    if (waiting_.fetch_sub(count, std::memory_order_acq_rel) != count) below.post(round_);
  }

  executor& below_;
  std::atomic<std::size_t> waiting_{0};  // tasks posted that have not run
  internal::task_list posted_;
  round_task round_;
};

}  // namespace weir::flow
