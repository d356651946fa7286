#pragma once

#include <cassert>
#include <cstddef>

#include <weir/flow/executor.h>
#include <weir/flow/internal/task_list.h>

namespace weir::flow::testing {

/// An executor whose tasks run when a test says so, on the test's thread, one by one, in the order of posting.
///   Threads  post from any thread; the rest from one.
class manual_executor final : public executor {
 public:
  manual_executor() = default;
  manual_executor(const manual_executor&) = delete;
  manual_executor& operator=(const manual_executor&) = delete;
  /// Runs what is left, so that nothing that was posted is lost.
  ~manual_executor() { run_all(); }

  void post(task& work) noexcept override { posted_.push(work); }

  /// Runs the oldest task; false if there is none.
  bool run_one() {
    fetch();
    task* oldest = first_;
    if (!oldest) return false;
    first_ = oldest->next;
    if (!first_) last_ = nullptr;
    oldest->run(oldest);
    return true;
  }

  /// Runs tasks until there are none, also those that are posted meanwhile; says how many.
  std::size_t run_all() {
    std::size_t count = 0;
    while (run_one()) ++count;
    return count;
  }

  /// Whether there is nothing to run.
  [[nodiscard]] bool idle() {
    fetch();
    return first_ == nullptr;
  }

 private:
  void fetch() {
    task* more = posted_.take_all();
    if (!more) return;
    (last_ ? last_->next : first_) = more;
    while (more->next) more = more->next;
    last_ = more;
  }

  internal::task_list posted_;
  task* first_ = nullptr;
  task* last_ = nullptr;
};

}  // namespace weir::flow::testing
