#pragma once

namespace weir::flow {

/// Something to run once, owned by whoever posts it: an intrusive node, so that posting never allocates.
///   Threads  between post and run it belongs to the executor; run may post it again.
struct task {
  void (*run)(task*) noexcept = nullptr;
  task* next = nullptr;
};

/// Runs tasks later, never inside post. Tasks posted to one executor that is serial run one after another.
///   Threads  post from any thread.
class executor {
 public:
  virtual void post(task& work) noexcept = 0;

 protected:
  ~executor() = default;
};

}  // namespace weir::flow
