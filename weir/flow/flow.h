#pragma once

// The contract between a flow and whoever pulls it.
//
// A flow is an object with a member
//
//     step pull(std::size_t& demand, Emit&& emit, context& cx);
//
// that gives at most `demand` items to `emit`, takes their number off `demand`, and says why it stopped. Demand is the
// caller's local variable: it can be neither lost nor doubled, and no operator has credit to account for.
//
//   step::more       demand is used up; there may be more. Only with demand == 0.
//   step::pending    nothing more is ready. The flow has kept cx.wake() and will call it at least once when it is worth
//                    pulling again. After it returns pending the callee is not touched by that pull any more.
//   step::done       all items have been given.
//   step::failed     the flow broke; cx.failure() says how.
//   step::cancelled  somebody asked the flow to stop before its end.
//
// The last three are final: the flow is not pulled again, only destroyed. Destroying a flow at any moment between
// pulls is how a consumer cancels; items that the flow holds are then destroyed with it.
//
// Rules that every flow keeps, and may rely on:
//   R1  Items and ends come only inside pull, on the puller's thread, with no lock held. A pull does not wait for what
//       is not ready: it says pending, and others on its thread have their turn. A source that can be read only by waiting
//       goes through one_by_one.h, pulled on a thread that may wait, or through an inbox that a thread fills (docs/flows.md).
//   R2  A waker posts; it never runs the consumer inline. Wakes may be spurious. A waker that was handed over with
//       `pending` is called at least once, perhaps already before pull returns, or the flow is destroyed first.
//   R3  pending may be spurious; a lost wake may not.
//   R4  What upstream gave is passed on before pull returns: nothing waits for company.
//   R5  A flow is moved only before its first pull.
//   R6  An exception out of pull (from a caller's function) ends the flow as `failed` does; drivers catch it. It comes while
//       an item is being made that is asked for, and so not after the last one of those.
//   R7  When the destructor of a flow has returned, no waker that the flow was given is called any more, by any thread;
//       until then every one of them may be. So whoever gives a waker destroys the flow first and the waker's target
//       after it. A flow that hands wakers to another thread withdraws them in its destructor (queue/parking.h); an
//       operator that hands its own wakers to inputs destroys the inputs before its own state.
//   R8  Pulls of one flow never overlap: a wake that comes while a pull is running leads to another pull after it.
//
// Source: docs/design/0002-pull-emit.md

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/core/result.h>
#include <weir/queue/wake_action.h>

namespace weir::flow {

enum class step : std::uint8_t { more, pending, done, failed, cancelled };

/// Whether this step is an end.
constexpr bool is_final(step s) noexcept { return s >= step::done; }

/// Demand that never runs out.
inline constexpr std::size_t unbounded = static_cast<std::size_t>(-1);

/// How a sleeping consumer is told to pull again. Two words, copied freely; calling it is cheap, takes no caller's lock
/// and never runs the consumer inline. The target outlives every flow that was given the waker (R7).
class waker {
 public:
  waker() = default;
  waker(void (*function)(void*) noexcept, void* target) noexcept : function_(function), target_(target) {}
  void operator()() const noexcept {
    if (function_) function_(target_);
  }
  explicit operator bool() const noexcept { return function_ != nullptr; }
  bool operator==(const waker&) const = default;

  /// The same, for queue::parking.
  [[nodiscard]] queue::wake_action action() const noexcept { return {function_, target_}; }

 private:
  void (*function_)(void*) noexcept = nullptr;
  void* target_ = nullptr;
};

/// What a pull carries down to the flow: how to wake the consumer, and where to write why it failed.
///   Threads  confined to the pull.
class context {
 public:
  context(waker wake, error& failure) noexcept : wake_(wake), failure_(&failure) {}

  [[nodiscard]] const waker& wake() const noexcept { return wake_; }

  /// Ends the flow: `return cx.fail({...});`
  step fail(error why) {
    *failure_ = std::move(why);
    return step::failed;
  }
  /// The error of a pull that returned step::failed.
  [[nodiscard]] error& failure() const noexcept { return *failure_; }

  /// The same context with another waker, for an operator that tells its inputs apart.
  [[nodiscard]] context with(waker other) const noexcept { return {other, *failure_}; }

 private:
  waker wake_;
  error* failure_;
};

namespace detail {
template <class T>
struct any_emit {
  void operator()(T&&) const noexcept {}
};

/// What can be pulled. Apart from `flow`, because any_flow must not ask whether what it is made of can be moved: types that
/// are made of an any_flow would be asked about themselves.
template <class F>
concept pullable = requires(F& f, std::size_t& demand, any_emit<typename F::value_type>& emit, context& cx) {
  typename F::value_type;
  { f.pull(demand, emit, cx) } -> std::same_as<step>;
};
}  // namespace detail

/// A type that keeps the contract above; its items are `typename F::value_type`.
template <class F>
concept flow = std::move_constructible<F> && detail::pullable<F>;

/// A flow that is never pending, and whose pull has to do with no other flow's than those it owns: it says so by a member
/// `static constexpr bool never_pending = true`. Who has many such flows may spare what waiting for them would take.
template <class F>
concept synchronous = flow<F> && requires { requires F::never_pending; };

template <class F>
using value_of = typename std::remove_cvref_t<F>::value_type;

/// Gives a run of items to `emit` at once where it takes runs (a member `run(std::span<T>)`, whose items it may move
/// from), else one by one. A source that has its items side by side calls this; an emitter that can copy runs offers it.
template <class T, class Emit>
void emit_run(Emit&& emit, std::span<T> items) {
  if constexpr (requires { emit.run(items); }) {
    emit.run(items);
  } else {
    for (T& item : items) emit(std::move(item));
  }
}

}  // namespace weir::flow
