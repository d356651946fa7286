#pragma once

#include <atomic>

#include <weir/flow/executor.h>

namespace weir::net::internal {

/// Tasks in the order they came. Owns nothing: the nodes are the tasks.
///   Threads  confined.
class task_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push(flow::task& work) noexcept {
    work.next = nullptr;
    (first_ ? last_->next : first_) = &work;
    last_ = &work;
  }

  /// The first task, which then belongs to the caller; null when there is none.
  flow::task* pop() noexcept {
    flow::task* const work = first_;
    if (work) first_ = work->next;
    return work;
  }

 private:
  flow::task* first_ = nullptr;
  flow::task* last_ = nullptr;  // means something only while first_ is not null
};

/// Where other threads leave tasks for the loop. Whoever finds it empty must wake the loop: one wake for any number of
/// tasks that come before the loop looks.
///   Threads  push from any thread, take from one.
class task_inbox {
 public:
  /// Returns whether the inbox was empty.
  ///   Progress  lock-free: a push repeats only when another one succeeded.
  bool push(flow::task& work) noexcept {
    flow::task* top = top_.load(std::memory_order_relaxed);
    do {
      work.next = top;
      // Release: `take` sees the task's fields. Acquire: whoever finds it empty comes after all that the loop did before
      // the take that emptied it, and so may use the wake's memory again.
    } while (!top_.compare_exchange_weak(top, &work, std::memory_order_acq_rel, std::memory_order_relaxed));
    return top == nullptr;
  }

  /// Moves all tasks to the queue's end, in the order they were pushed.
  void take_all(task_queue& to) noexcept {
    // Pairs with the compare-exchange in push, both ways.
    flow::task* top = top_.exchange(nullptr, std::memory_order_acq_rel);
    flow::task* oldest = nullptr;
    while (top) {
      flow::task* const next = top->next;
      top->next = oldest;
      oldest = top;
      top = next;
    }
    while (oldest) {
      flow::task* const next = oldest->next;
      to.push(*oldest);
      oldest = next;
    }
  }

 private:
  std::atomic<flow::task*> top_ = nullptr;
};

}  // namespace weir::net::internal
