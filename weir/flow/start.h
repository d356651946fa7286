#pragma once

// A flow driven by tasks on an executor, without a thread that waits for it.
//
// The driver is shared by two parties, like a thread hop: the running half, which ends when the flow has ended or when it
// sees that it is to stop, and the subscription. The flow and the sink belong to the running half, and are destroyed by
// it on the executor's thread.

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/caught.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/activation.h>

namespace weir::flow {

/// What `start` gives items to.
template <class S, class T>
concept sink_for = std::move_constructible<S> && requires(S& sink, T&& item, step end, error why) {
  sink.on_item(std::move(item));
  sink.on_end(end, std::move(why));
};

namespace detail {

/// What a subscription knows of a driver.
class started {
 public:
  virtual void stop() noexcept = 0;

 protected:
  ~started() = default;
};

template <flow Source, class Sink>
class driver final : public started, public internal::activation<driver<Source, Sink>> {
  using base = internal::activation<driver<Source, Sink>>;

 public:
  driver(Source source, executor& on, Sink sink) : base(on) { work_.emplace(std::move(sink), std::move(source)); }

  /// The subscription leaves; *this may be gone when it has.
  void stop() noexcept override {
    stopping_.store(true, std::memory_order_relaxed);  // made visible by the wake
    this->wake();
    release();
  }

  internal::then activate() noexcept {
    if (stopping()) return finish();
    error failure;
    step why;
    try {
      std::size_t demand = limits::run_items;
      context cx(this->as_waker(), failure);
      why = work_->source.pull(
          demand,
          [this](value_of<Source>&& item) {
            if (!stopping()) work_->sink.on_item(std::move(item));
          },
          cx);
    } catch (...) {
      failure = caught();
      why = step::failed;
    }
    if (stopping()) return finish();
    if (why == step::pending) return internal::then::wait;
    if (why == step::more) return internal::then::again;
    try {
      work_->sink.on_end(why, std::move(failure));
    } catch (...) {
      // There is nobody left to tell.
    }
    return finish();
  }

 private:
  struct parts {
    parts(Sink&& to, Source&& from) : sink(std::move(to)), source(std::move(from)) {}
    Sink sink;
    Source source;  // destroyed first: its items may point into what the sink owns
  };

  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }

  internal::then finish() noexcept {
    work_.reset();
    this->retire();
    release();
    return internal::then::over;
  }

  void release() noexcept {
    // Partner: the other party's subtraction. The last one sees all that the first did.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::optional<parts> work_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> parties_{2};
};

}  // namespace detail

/// Keeps a started flow running; stops it when destroyed. Move-only; empty by default.
///   Threads  confined.
class [[nodiscard]] subscription {
 public:
  subscription() = default;
  explicit subscription(detail::started& running) noexcept : running_(&running) {}
  subscription(subscription&& other) noexcept : running_(std::exchange(other.running_, nullptr)) {}
  subscription& operator=(subscription&& other) noexcept {
    if (this != &other) {
      cancel();
      running_ = std::exchange(other.running_, nullptr);
    }
    return *this;
  }
  ~subscription() { cancel(); }

  /// Stops the flow if it has not ended. Called on the executor's thread, also from inside the sink, no call of the sink
  /// begins any more. From another thread, one call may be under way or just beginning; none comes after it.
  ///   Waits  never: flow and sink are destroyed by a task on the executor, which must still run what is posted to it.
  void cancel() noexcept {
    if (running_) std::exchange(running_, nullptr)->stop();
  }

 private:
  detail::started* running_ = nullptr;
};

/// Pulls a flow by tasks on an executor, limits::run_items items a run, and gives its items to a sink.
///   sink     has `on_item(T&&)` and `on_end(step end, error why)`; on_end is called once, as the last call, unless the
///            subscription was cancelled before; `why` says something only for `step::failed`. An exception from on_item
///            ends the flow as failed with `threw`.
///   Owns     flow and sink, in one allocation; both are destroyed on the executor, which must outlive them.
///   Threads  the sink is called on the executor only, one call at a time, also where the executor runs tasks side by side; what a
///            call did is visible to the next.
template <flow Source, class Sink>
  requires sink_for<Sink, value_of<Source>>
subscription start(Source from, executor& on, Sink sink) {
  auto* running = new detail::driver<Source, Sink>(std::move(from), on, std::move(sink));
  running->wake();
  return subscription(*running);
}

}  // namespace weir::flow
