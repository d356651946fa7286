#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/pipe.h>
#include <weir/flow/worker.h>

namespace weir::flow {

/// Stands for a thread that a flow has for itself: `flow | observe_on(new_thread())`, see there.
class new_thread {
 public:
  /// name  at most 15 characters, as the operating system shows it.
  explicit new_thread(std::string name = "weir-flow") : name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

namespace detail {

template <flow Source>
class threaded {
 public:
  using value_type = value_of<Source>;

  threaded(Source source, new_thread how, hop_options options)
      : source_(std::in_place, std::move(source)), how_(std::move(how)), options_(options) {}
  threaded(threaded&& other)
      : source_(std::move(other.source_)), how_(std::move(other.how_)), options_(other.options_) {
    assert(!other.hop_);
  }
  threaded& operator=(threaded&&) = delete;

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    if (!hop_) {
      if (!thread_) thread_ = std::make_unique<worker>(how_.name());
      hop_.emplace(std::move(*source_), *thread_, options_);
      source_.reset();
    }
    return hop_->pull(demand, emit, cx);
  }

 private:
  std::optional<Source> source_;  // until the first pull; then it is the hop's
  new_thread how_;
  hop_options options_;
  // In this order: the hop leaves first, and the worker then runs what is left of it before it joins.
  std::unique_ptr<worker> thread_;
  std::optional<hop<Source>> hop_;
};

}  // namespace detail

/// Moves the work above it to a thread of the flow's own: `flow | observe_on(new_thread())`, or subscribe_on. The
/// thread begins with the first pull and is joined by the flow's destructor, so it can be neither forgotten nor
/// outlived.
///
///     urls | flat_map([](auto url) { return fetch(url) | subscribe_on(new_thread("fetch")); }, {.concurrent_max = 8})
///
///   Bounds   one thread for each such flow that was pulled and is not destroyed: where flows come of items, as above,
///            concurrent_max bounds them. For many short flows a thread_pool with strands, or a few workers, cost less.
///   Owns     thread and upstream. What upstream refers to must live as long as the flow, and no longer.
///   Waits    the destructor, until the thread has ended what it is at: one pull of upstream, of at most
///            limits::hop_quantum items. Where that may take long, use observe_on with a worker that outlives the flow.
///   Errors   std::system_error out of the first pull if the system gives no thread: a failure of code `threw`.
///   Cost     beginning and joining a thread: some 25 µs. Else as observe_on, which also has the rest of the promises.
///   Source   Schedulers.newThread() of RxJava, observe_on_new_thread() of RxCpp
template <flow Source>
auto observe_on(Source source, new_thread how, hop_options options = {}) {
  return detail::threaded<Source>(std::move(source), std::move(how), options);
}
inline auto observe_on(new_thread how, hop_options options = {}) {
  return detail::make_closure([how = std::move(how), options]<flow Source>(Source source) mutable {
    return detail::threaded<Source>(std::move(source), std::move(how), options);
  });
}
template <flow Source>
auto subscribe_on(Source source, new_thread how, hop_options options = {}) {
  return observe_on(std::move(source), std::move(how), options);
}
inline auto subscribe_on(new_thread how, hop_options options = {}) { return observe_on(std::move(how), options); }

}  // namespace weir::flow
