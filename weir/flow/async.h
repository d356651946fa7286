#pragma once

// Coroutines that answer once, and what runs them: the calling thread (block_on) or an executor (spawn).
//
// g++ 12 destroys some temporaries twice that are written inside an expression with co_await or co_yield; clang does
// not. Give a name, on a line before, to
//   - an aggregate in braces with members that are made there:  row next{1, "text"};  co_yield std::move(next);
//   - a lambda that captures what has a destructor:  auto f = [text] {};  co_await for_each_await(in, std::move(f));
//   - either side of a ?: that has a co_await in it, or next to one: write an if.

#include <atomic>
#include <cassert>
#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/activation.h>
#include <weir/flow/internal/coroutine_run.h>
#include <weir/flow/start.h>
#include <weir/queue/park_point.h>

namespace weir::flow {

template <class T>
class async;

namespace detail {

/// Where a coroutine leaves its answer, or the exception that it ended with.
template <class T>
class async_answer : public internal::coroutine_promise {
 public:
  template <class Answer>
    requires std::constructible_from<T, Answer&&>
  void return_value(Answer&& answer) {
    answer_.emplace(std::forward<Answer>(answer));
  }
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

  T take() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    assert(answer_);
    return std::move(*answer_);
  }

 private:
  std::optional<T> answer_;
  std::exception_ptr thrown_;
};

template <>
class async_answer<void> : public internal::coroutine_promise {
 public:
  void return_void() noexcept {}
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

  void take() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  std::exception_ptr thrown_;
};

}  // namespace detail

/// A coroutine that answers a T, or ends with an exception. It begins when it is awaited, or run by block_on or spawn.
///
///     async<result<long>> sum(any_flow<int> numbers) {
///       reader in(std::move(numbers));
///       long total = 0;
///       for (;;) {
///         auto item = co_await next(in);
///         if (!item) co_return item.error();
///         if (!*item) co_return total;
///         total += **item;
///       }
///     }
///
///   Awaits   other asyncs, and what next.h has. Nothing else: what it awaits must not resume it from another thread.
///   Owns     its frame, one allocation, and with it its parameters, local variables and the asyncs that it awaits.
///            Parameters that are references must outlive it. Destroying it, begun or not, is how it is cancelled.
///   Threads  confined to whoever runs it, which is one thread at a time.
template <class T>
class [[nodiscard]] async {
  static_assert(!std::is_reference_v<T>, "an async answers a value");

 public:
  using value_type = T;

  class promise_type final : public detail::async_answer<T> {
   public:
    async get_return_object() noexcept { return async(std::coroutine_handle<promise_type>::from_promise(*this)); }
  };

  async(async&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  async& operator=(async&&) = delete;
  ~async() {
    if (frame_) frame_.destroy();
  }

  // --- for who runs or awaits it -------------------------------------------------------------------------------

  void begin(internal::coroutine_run& in, std::coroutine_handle<> then = nullptr) noexcept {
    assert(frame_ && !frame_.done());
    frame_.promise().begin(in, frame_, then);
  }
  /// What it answered, when it has ended. Throws what it threw.
  T take() { return frame_.promise().take(); }

  class awaiter {
   public:
    awaiter(async& child, internal::coroutine_run& run) noexcept : child_(child), run_(run) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> parent) const noexcept { child_.begin(run_, parent); }
    T await_resume() const { return child_.take(); }

   private:
    async& child_;
    internal::coroutine_run& run_;
  };
  awaiter await_in(internal::coroutine_run& run) && noexcept { return {*this, run}; }

 private:
  explicit async(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

/// Runs a coroutine on the calling thread and gives its answer, or throws what it threw.
///   Waits  while what it awaits is pending: spins for about 5 µs, then sleeps.
///   Owns   the coroutine, which is destroyed before it returns. Flows that it pulls must go with it (R7): give them to
///          it by value.
template <class T>
T block_on(async<T> work) {
  queue::park_point sleeper;
  // In this order, and so not left in the parameter, which is destroyed last: flows go before their waker's target
  // (R7).
  internal::coroutine_run run;
  async<T> running(std::move(work));
  running.begin(run);
  while (!run.run(waker(&queue::park_point::wake_target, &sleeper))) sleeper.wait();
  return running.take();
}

namespace detail {

/// What becomes of an async's answer when exceptions are errors.
template <class T>
struct async_outcome {
  using type = result<T>;
};
template <class T>
struct async_outcome<result<T>> {
  using type = result<T>;
};

/// Shared by two parties, as the driver of start.h: the running half and the subscription.
template <class T, class Function>
class spawned final : public started, public internal::activation<spawned<T, Function>> {
  using base = internal::activation<spawned<T, Function>>;
  using outcome = typename async_outcome<T>::type;

 public:
  spawned(async<T>&& work, executor& on, Function&& on_end) : base(on) {
    work_.emplace(std::move(on_end), std::move(work));
    work_->running.begin(run_);
  }

  /// The subscription leaves; *this may be gone when it has.
  void stop() noexcept override {
    stopping_.store(true, std::memory_order_relaxed);  // made visible by the wake
    this->wake();
    release();
  }

  internal::then activate() noexcept {
    if (stopping()) return finish();
    if (!run_.run(this->as_waker())) return stopping() ? finish() : internal::then::wait;
    if (stopping()) return finish();
    try {
      work_->on_end(answer());
    } catch (...) {
      // There is nobody left to tell.
    }
    return finish();
  }

 private:
  struct parts {
    parts(Function&& to, async<T>&& from) : on_end(std::move(to)), running(std::move(from)) {}
    Function on_end;
    async<T> running;  // destroyed first
  };

  outcome answer() {
    try {
      if constexpr (std::is_void_v<T>) {
        work_->running.take();
        return {};
      } else {
        return work_->running.take();
      }
    } catch (...) {
      return caught();
    }
  }

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

  internal::coroutine_run run_;
  std::optional<parts> work_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> parties_{2};
};

}  // namespace detail

/// Runs a coroutine by tasks on an executor, one at a time. It is stopped where it waits when the subscription goes.
///   on_end   called there with its answer, once, unless the subscription was cancelled before: `result<T>`, the same
///            for an async<result<T>>, and an exception is a failure of code `threw`.
///   Owns     the coroutine and on_end, in one allocation besides the frame. Both are destroyed on the executor, which
///            must outlive them.
///   Threads  the coroutine runs on the executor only. It gives up its turn after limits::run_items items.
///   Waits    never.
template <class T, class Function>
  requires std::invocable<Function&, typename detail::async_outcome<T>::type>
subscription spawn(async<T> work, executor& on, Function on_end) {
  auto* running = new detail::spawned<T, Function>(std::move(work), on, std::move(on_end));
  running->wake();
  return subscription(*running);
}

}  // namespace weir::flow
