#include <weir/flow/worker.h>

#include <utility>

namespace weir::flow {

worker::worker(std::string name) : thread_(std::move(name), [this] { run_until_stopped(); }) {
  stop_.of = this;
  stop_.run = [](task* self) noexcept { static_cast<stop_task*>(self)->of->stopping_ = true; };
}

worker::~worker() {
  post(stop_);
  thread_.join();
}

void worker::post(task& work) noexcept {
  // If the list was not empty, whoever made it so has woken the thread, or is about to.
  if (posted_.push(work)) sleeper_.wake();
}

void worker::run_until_stopped() noexcept {
  for (;;) {
    task* next = posted_.take_all();
    if (!next) {
      if (stopping_) return;
      sleeper_.wait();
      continue;
    }
    while (next) {
      // Read before the run, which may post the task again or free it.
      task* following = next->next;
      next->run(next);
      next = following;
    }
  }
}

}  // namespace weir::flow
