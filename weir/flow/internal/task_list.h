#pragma once

#include <atomic>

#include <weir/flow/executor.h>

namespace weir::flow::internal {

/// Tasks on their way to the thread that runs them: many push, one takes all.
///   Threads  push from any thread, take_all from one at a time.
///   Waits    never; push tries again when another push was faster. Nothing is allocated.
class task_list {
 public:
  /// True if the list was empty: then, and only then, the taker may have to be woken.
  bool push(task& work) noexcept {
    task* newest = newest_.load(std::memory_order_relaxed);
    do {
      work.next = newest;
    } while (!newest_.compare_exchange_weak(newest, &work, std::memory_order_release, std::memory_order_relaxed));
    return newest == nullptr;
  }

  /// All tasks, oldest first, linked by `next`; null if there are none.
  [[nodiscard]] task* take_all() noexcept {
    if (newest_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    // Partner: the compare-exchange in push.
    task* newest = newest_.exchange(nullptr, std::memory_order_acquire);
    task* in_order = nullptr;
    while (newest) {
      task* following = newest->next;
      newest->next = in_order;
      in_order = newest;
      newest = following;
    }
    return in_order;
  }

 private:
  std::atomic<task*> newest_{nullptr};
};

}  // namespace weir::flow::internal
