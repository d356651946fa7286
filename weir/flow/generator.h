#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/coroutine_run.h>

namespace weir::flow {

/// A coroutine that is a flow.
///
///     generator<int> evens(any_flow<int> numbers) {
///       reader in(std::move(numbers));
///       for (;;) {
///         auto item = co_await next(in);                    // pending passes through
///         if (!item) co_await item.error();                 // ends as failed
///         if (!*item) co_return;                            // ends as done
///         if (**item % 2 == 0) co_yield std::move(**item);
///       }
///     }
///
///   co_yield item             gives one item: a temporary or a moved one is moved on, of a variable a copy
///   co_yield std::span<T>     gives its items in a row, moving from them; as many at a time as are asked for
///   co_await                  what next.h has, and asyncs; while they wait, the flow is pending
///   co_await error            ends the flow as failed, or as cancelled if that is its code; the coroutine is not
///            resumed
///   co_return, or the end     ends the flow as done; an exception passes out of pull (R6)
///
///   Compiler with g++ 12, no temporaries in braces behind co_yield and co_await: async.h.
///   Bounds   runs only when it is asked for an item, and no further than to the co_yield that gives it. After
///            limits::run_items items that it awaited without giving one it is pending for a turn.
///   Owns     its frame, one allocation, with its parameters and variables; destroyed with the flow, wherever it is.
///            Parameters that are references must outlive it.
///   Threads  confined, as any flow.
///   Cost     one resumption for each co_yield, some 5 ns; in spans of 256, 1 ns an item.
template <class T>
class [[nodiscard]] generator {
 public:
  using value_type = T;

  class promise_type final : public internal::coroutine_promise {
   public:
    generator get_return_object() noexcept {
      return generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

    /// An item stays where it is until the coroutine is resumed, which is when it has been given.
    class giving {
     public:
      giving(promise_type& of, std::span<T> items) noexcept { of.items_ = items; }
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      void await_resume() const noexcept {}
    };
    class giving_a_copy {
     public:
      giving_a_copy(promise_type& of, const T& item) : of_(of), copy_(item) {}
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) noexcept { of_.items_ = std::span<T>(&copy_, 1); }
      void await_resume() const noexcept {}

     private:
      promise_type& of_;
      T copy_;
    };
    giving yield_value(T&& item) noexcept { return {*this, std::span<T>(&item, 1)}; }
    giving_a_copy yield_value(const T& item)
      requires std::copy_constructible<T>
    {
      return {*this, item};
    }
    giving yield_value(std::span<T> items) noexcept { return {*this, items}; }

    using internal::coroutine_promise::await_transform;
    struct failing {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) const noexcept {}
      void await_resume() const noexcept {}
    };
    failing await_transform(error why) noexcept {
      failure_ = std::move(why);
      failed_ = true;
      return {};
    }

   private:
    friend class generator;

    internal::coroutine_run run_here_;
    std::span<T> items_;  // given up to here; what is left of the co_yield where it is suspended
    std::exception_ptr thrown_;
    error failure_;
    bool failed_ = false;
    bool waiting_ = false;  // in a co_await
  };

  generator(generator&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  generator& operator=(generator&&) = delete;
  ~generator() {
    if (frame_) frame_.destroy();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    assert(frame_);
    promise_type& now = frame_.promise();
    while (demand != 0) {
      if (!now.items_.empty()) {
        const std::span<T> run = now.items_.first(std::min(demand, now.items_.size()));
        now.items_ = now.items_.subspan(run.size());
        demand -= run.size();
        emit_run(emit, run);
        continue;
      }
      if (!now.waiting_) now.begin(now.run_here_, frame_, nullptr);
      now.waiting_ = !now.run_here_.run(cx.wake());
      if (now.waiting_) return step::pending;
      if (now.failed_) {
        return now.failure_.code == errc::cancelled ? step::cancelled : cx.fail(std::move(now.failure_));
      }
      if (frame_.done()) {
        if (now.thrown_) std::rethrow_exception(std::exchange(now.thrown_, nullptr));
        return step::done;
      }
    }
    return step::more;
  }

 private:
  explicit generator(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

}  // namespace weir::flow
