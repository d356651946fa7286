#pragma once

// Operators that change nothing and tell somebody what passes.

#include <cstddef>
#include <type_traits>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source, class Function>
class telling_items {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  telling_items(Source source, Function tell) : source_(std::move(source)), tell_(std::move(tell)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return source_.pull(
        demand,
        [&](value_type&& item) {
          tell_(std::as_const(item));
          emit(std::move(item));
        },
        cx);
  }

 private:
  Source source_;
  Function tell_;
};

template <flow Source, class Function>
class telling_begin {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  telling_begin(Source source, Function tell) : source_(std::move(source)), tell_(std::move(tell)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!begun_) {
      begun_ = true;
      tell_();
    }
    return source_.pull(demand, emit, cx);
  }

 private:
  Source source_;
  Function tell_;
  bool begun_ = false;
};

template <flow Source, class Function>
class telling_done {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  telling_done(Source source, Function tell) : source_(std::move(source)), tell_(std::move(tell)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    const step why = source_.pull(demand, emit, cx);
    if (why == step::done) tell_();
    return why;
  }

 private:
  Source source_;
  Function tell_;
};

template <flow Source, class Function>
class telling_failure {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  telling_failure(Source source, Function tell) : source_(std::move(source)), tell_(std::move(tell)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::passing<value_type, std::remove_reference_t<Emit>> pass(emit);
    step why;
    try {
      why = source_.pull(demand, pass, cx);
    } catch (...) {
      if (pass.below()) throw;
      const error thrown = caught();
      tell_(thrown);
      throw;
    }
    if (why == step::failed) tell_(std::as_const(cx.failure()));
    return why;
  }

 private:
  Source source_;
  Function tell_;
};

/// Calls a function when it is destroyed, if it was armed and not disarmed since. Moved only while it is not armed.
template <class Function>
class last_call {
 public:
  explicit last_call(Function call) : call_(std::move(call)) {}
  last_call(last_call&& other) : call_(std::move(other.call_)) {}
  last_call& operator=(last_call&&) = delete;
  ~last_call() { now(); }

  void arm() noexcept { armed_ = true; }
  void disarm() noexcept { armed_ = false; }
  void now() noexcept {
    if (std::exchange(armed_, false)) call_();
  }

 private:
  Function call_;
  bool armed_ = false;
};

template <flow Source, class Function>
class telling_cancel {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  telling_cancel(Source source, Function tell) : source_(std::move(source)), tell_(std::move(tell)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::passing<value_type, std::remove_reference_t<Emit>> pass(emit);
    tell_.arm();
    step why;
    try {
      why = source_.pull(demand, pass, cx);
    } catch (...) {
      if (!pass.below()) tell_.disarm();
      throw;
    }
    if (why == step::cancelled) tell_.now();
    if (is_final(why)) tell_.disarm();
    return why;
  }

 private:
  Source source_;
  last_call<Function> tell_;  // behind the source: told before the source is destroyed
};

template <flow Source, class Function>
class finally {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  finally(Source source, Function last) : last_(std::move(last)), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    last_.arm();
    const step why = source_.pull(demand, emit, cx);
    if (is_final(why)) last_.now();
    return why;
  }

 private:
  last_call<Function> last_;  // before the source: called when the source is destroyed
  Source source_;
};

/// `flow | on(function)` for an operator of those above.
template <template <class, class> class Operator, class Function>
auto telling(Function function) {
  return make_closure([function = std::move(function)]<flow Source>(Source source) mutable {
    return Operator<Source, Function>(std::move(source), std::move(function));
  });
}

}  // namespace detail

// In all of these an exception from the function ends the flow as failed (R6), unless it says otherwise.

/// Calls `tell(item)` for each item before it is given: `do_on_item(flow, tell)`, or `flow | do_on_item(tell)`.
///   tell  `void(const T&)`
template <flow Source, class Function>
auto do_on_item(Source source, Function tell) {
  return detail::telling_items<Source, Function>(std::move(source), std::move(tell));
}
template <class Function>
auto do_on_item(Function tell) {
  return detail::telling<detail::telling_items>(std::move(tell));
}

/// Calls `tell()` at the first pull, before the flow is pulled: `do_on_subscribe(flow, tell)`, or after `|`.
template <flow Source, class Function>
auto do_on_subscribe(Source source, Function tell) {
  return detail::telling_begin<Source, Function>(std::move(source), std::move(tell));
}
template <class Function>
auto do_on_subscribe(Function tell) {
  return detail::telling<detail::telling_begin>(std::move(tell));
}

/// Calls `tell()` when the flow is done: `do_on_done(flow, tell)`, or after `|`. Not when it failed or was cancelled.
template <flow Source, class Function>
auto do_on_done(Source source, Function tell) {
  return detail::telling_done<Source, Function>(std::move(source), std::move(tell));
}
template <class Function>
auto do_on_done(Function tell) {
  return detail::telling<detail::telling_done>(std::move(tell));
}

/// Calls `tell(error)` when the flow fails, also by an exception, which then has code `threw`, and passes on.
/// Exceptions of the consumer are none of the flow. `do_on_error(flow, tell)`, or after `|`.
///   tell  `void(const error&)`
template <flow Source, class Function>
auto do_on_error(Source source, Function tell) {
  return detail::telling_failure<Source, Function>(std::move(source), std::move(tell));
}
template <class Function>
auto do_on_error(Function tell) {
  return detail::telling<detail::telling_failure>(std::move(tell));
}

/// Calls `tell()` when the flow is cancelled: it says so, or it is destroyed between its first pull and its end, as
/// when the consumer has enough or throws. `do_on_cancel(flow, tell)`, or after `|`.
///   tell  must not throw; it may be called by the destructor, before the flow is destroyed.
template <flow Source, class Function>
auto do_on_cancel(Source source, Function tell) {
  return detail::telling_cancel<Source, Function>(std::move(source), std::move(tell));
}
template <class Function>
auto do_on_cancel(Function tell) {
  return detail::telling<detail::telling_cancel>(std::move(tell));
}

/// Calls `last()` once for a flow that was pulled, however it ends: when it is done, failed or cancelled, before that
/// is passed on; or else when it is destroyed, after it. `do_finally(flow, last)`, or after `|`.
///   last  must not throw; it may be called by the destructor.
template <flow Source, class Function>
auto do_finally(Source source, Function last) {
  return detail::finally<Source, Function>(std::move(source), std::move(last));
}
template <class Function>
auto do_finally(Function last) {
  return detail::telling<detail::finally>(std::move(last));
}

}  // namespace weir::flow
