#pragma once

// A task that is run again whenever somebody wakes it, never twice at a time and never posted twice.
//
//     word:  notified | running | over        (three bits)
//
//            wake: += notified, and post if the word was 0
//     0 ----------------------> notified (posted)
//     ^                            | run: word := running
//     |  run ends, not notified    v
//     +------------------------ running <--- wake: running + notified: run ends by posting again
//                                  |
//                                  `-- retire: over, for ever: wake does nothing any more
//
// Every change is a read-modify-write of the one word, so what a waker did before wake() is visible to a run that begins
// after it; a wake during a run leads to another run.

#include <atomic>
#include <cstdint>

#include <weir/flow/executor.h>
#include <weir/flow/flow.h>

namespace weir::flow::internal {

/// What a run wants next.
enum class then : std::uint8_t {
  wait,   ///< run again after a wake
  again,  ///< run again, after other tasks had their turn
  over    ///< do not touch this object any more; retire() was called, and it may be gone
};

/// See above. Derived has `then activate() noexcept`, which does the work of one run on the executor.
///   Threads  wake from any thread; the rest from within activate.
template <class Derived>
class activation : private task {
 public:
  void wake() noexcept {
    // Partner: the exchange and the compare-exchange in run_task.
    if (word_.fetch_or(notified, std::memory_order_acq_rel) == 0) on_->post(*this);
  }
  [[nodiscard]] waker as_waker() noexcept { return {&activation::wake_target, this}; }

 protected:
  explicit activation(executor& on) noexcept : on_(&on) { this->run = &activation::run_task; }
  activation(const activation&) = delete;
  activation& operator=(const activation&) = delete;
  ~activation() = default;

  /// Makes wake() do nothing from now on. Before the object may go.
  void retire() noexcept { word_.fetch_or(retired, std::memory_order_acq_rel); }

 private:
  static constexpr std::uint32_t notified = 1;
  static constexpr std::uint32_t running = 2;
  static constexpr std::uint32_t retired = 4;

  static void wake_target(void* target) noexcept { static_cast<activation*>(target)->wake(); }

  static void run_task(task* work) noexcept {
    auto& self = *static_cast<activation*>(work);
    self.word_.exchange(running, std::memory_order_acq_rel);
    switch (static_cast<Derived&>(self).activate()) {
      case then::over:
        return;
      case then::wait: {
        std::uint32_t expected = running;
        if (self.word_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_acquire)) {
          return;
        }
        [[fallthrough]];
      }
      case then::again:
        self.word_.exchange(notified, std::memory_order_acq_rel);
        self.on_->post(self);
    }
  }

  executor* on_;
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace weir::flow::internal
