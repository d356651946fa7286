#pragma once

// What runs a coroutine and those that it awaits, one within the other.
//
//     whoever runs it ----> run(waker) ----> resumes the innermost one, until it waits or the outermost stops
//
//     outermost --co_await--> async --co_await--> async --co_await--> awaited: a flow that is pending
//                                                                        ^
//                     run() asks it again after each wake ---------------'
//
// A coroutine never resumes another: it leaves a note of who is next, and run() resumes that. So the stack does not
// grow, whatever the compiler makes of a call at a function's end (g++ makes a tail call only when it optimises).
//
// What a coroutine waits for is asked with the waker of the run, and asked again at the next run; a coroutine is
// resumed only when there is something for it. There are no wakers of the coroutines' own, so destroying the frames,
// and with them the flows they hold, is all that cancelling takes (R7).
//
//   Threads  one run at a time, on any thread; whoever runs it sees to that (R8).

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>

namespace weir::flow::internal {

class awaited;

/// See above. Does not own the coroutines.
class coroutine_run {
 public:
  coroutine_run() = default;
  coroutine_run(const coroutine_run&) = delete;
  coroutine_run& operator=(const coroutine_run&) = delete;

  /// Says who is resumed when the one that is running has suspended.
  void resume_next(std::coroutine_handle<> next) noexcept { next_ = next; }

  /// True when a coroutine has suspended without saying who is next: at its end, or to give something. False when it is
  /// to be run again after a wake; it gives up its turn after limits::run_items items.
  bool run(const waker& wake);

 private:
  friend class awaited;

  std::coroutine_handle<> next_;
  awaited* waits_for_ = nullptr;  // what must be ready before next_ is resumed
  waker wake_;
  std::size_t turns_ = 0;
};

/// What a coroutine waits for. Derived has poll, and await_resume, which gives what came.
///   Ends  it lies in the frame of the coroutine that awaits it.
class awaited {
 public:
  awaited(const awaited&) = delete;
  awaited& operator=(const awaited&) = delete;

  void attach(coroutine_run& to) noexcept { run_ = &to; }

  /// Whether there is something for the coroutine; else the waker was handed over. Once true, it stays so.
  virtual bool poll(const waker& wake) noexcept = 0;

  // For the compiler. What is ready does not suspend, except that a coroutine must not run for ever.
  bool await_ready() noexcept {
    if (!poll(run_->wake_) || run_->turns_ == 0) return false;
    --run_->turns_;
    return true;
  }
  void await_suspend(std::coroutine_handle<> who) noexcept {
    run_->waits_for_ = this;
    run_->next_ = who;
  }

 protected:
  awaited() = default;
  awaited(awaited&&) = default;
  ~awaited() = default;

 private:
  coroutine_run* run_ = nullptr;
};

inline bool coroutine_run::run(const waker& wake) {
  wake_ = wake;
  turns_ = limits::run_items;
  for (;;) {
    if (waits_for_) {
      if (turns_ == 0) {
        wake_();
        return false;
      }
      if (!waits_for_->poll(wake_)) return false;
      waits_for_ = nullptr;
    }
    if (!next_) return true;
    std::exchange(next_, nullptr).resume();
  }
}

/// What the promises of all coroutines have: which run they belong to, and what they can await.
class coroutine_promise {
 public:
  /// Sees to it that the coroutine `self` is resumed next, and `then` once it has ended.
  void begin(coroutine_run& of, std::coroutine_handle<> self, std::coroutine_handle<> then) noexcept {
    run_ = &of;
    then_ = then;
    of.resume_next(self);
  }

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

  struct at_the_end {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      coroutine_promise& promise = self.promise();
      promise.run_->resume_next(promise.then_);
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] at_the_end final_suspend() const noexcept { return {}; }

  /// Flows: next(in), next_batch(in, into), for_each_await(flow, f).
  template <class Awaited>
    requires std::derived_from<Awaited, awaited> && (!std::is_const_v<Awaited>)
  Awaited&& await_transform(Awaited&& what) noexcept {
    what.attach(*run_);
    return std::move(what);
  }
  /// Other coroutines.
  template <class Coroutine>
    requires requires(Coroutine&& child, coroutine_run& run) { std::move(child).await_in(run); }
  auto await_transform(Coroutine&& child) noexcept {
    return std::move(child).await_in(*run_);
  }

 protected:
  ~coroutine_promise() = default;

  coroutine_run* run_ = nullptr;

 private:
  std::coroutine_handle<> then_;
};

}  // namespace weir::flow::internal
