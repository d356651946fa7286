#include <weir/flow/thread_pool.h>

#include <algorithm>
#include <string>

namespace weir::flow {

thread_pool::thread_pool(std::size_t threads) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    threads_.emplace_back("weir-pool-" + std::to_string(i), [this] { work_until_stopped(); });
  }
}

thread_pool::~thread_pool() {
  {
    const std::lock_guard hold(lock_);
    stopping_ = true;
  }
  news_.notify_all();
  for (thread& one : threads_) one.join();
}

void thread_pool::post(task& work) noexcept {
  {
    const std::lock_guard hold(lock_);
    work.next = nullptr;
    (last_ ? last_->next : first_) = &work;
    last_ = &work;
  }
  news_.notify_all();
}

task* thread_pool::take() noexcept {
  task* const oldest = first_;
  if (oldest) {
    first_ = oldest->next;
    if (!first_) last_ = nullptr;
    ++running_;
  }
  return oldest;
}

void thread_pool::work_until_stopped() noexcept {
  for (;;) {
    task* work = nullptr;
    bool over = false;
    news_.await([&] {
      const std::lock_guard hold(lock_);
      work = take();
      over = !work && stopping_ && running_ == 0;
      return work || over;
    });
    if (over) return;
    work->run(work);
    bool last = false;
    {
      const std::lock_guard hold(lock_);
      --running_;
      last = stopping_ && running_ == 0 && !first_;
    }
    // The others wait for what this one might have posted.
    if (last) news_.notify_all();
  }
}

}  // namespace weir::flow
