#include <weir/flow/timers.h>

namespace weir::flow {

bool timers::by_time::operator()(const alarm* a, const alarm* b) const noexcept {
  return a->at_ != b->at_ ? a->at_ < b->at_ : a->order_ < b->order_;
}

void timers::set(alarm& which, time_point at, waker wake) {
  bool first = false;
  {
    const std::lock_guard guard(lock_);
    if (which.waiting_.load(std::memory_order_relaxed)) take_out(which);
    which.at_ = at;
    which.wake_ = wake;
    which.order_ = set_count_++;
    which.place_ = which.node_ ? waiting_.insert(std::move(which.node_)).position : waiting_.insert(&which).first;
    which.waiting_.store(true, std::memory_order_relaxed);
    first = which.place_ == waiting_.begin();
  }
  if (first) sooner();
}

void timers::clear(alarm& which) noexcept {
  const std::lock_guard guard(lock_);
  if (which.waiting_.load(std::memory_order_relaxed)) take_out(which);
}

std::optional<timers::time_point> timers::fire_due(time_point now) noexcept {
  for (;;) {
    const std::lock_guard guard(lock_);
    if (waiting_.empty()) return std::nullopt;
    alarm& earliest = **waiting_.begin();
    if (earliest.at_ > now) return earliest.at_;
    take_out(earliest);
    // Under the lock, so that clear() waits until it has returned.
    earliest.wake_();
  }
}

void timers::take_out(alarm& which) noexcept {
  which.node_ = waiting_.extract(which.place_);
  which.waiting_.store(false, std::memory_order_relaxed);
}

std::optional<timers::time_point> timers::next() noexcept {
  const std::lock_guard guard(lock_);
  return waiting_.empty() ? std::nullopt : std::optional((*waiting_.begin())->at_);
}

}  // namespace weir::flow
