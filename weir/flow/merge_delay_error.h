#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/common_flow.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/pipe.h>
#include <weir/flow/sources.h>

namespace weir::flow {

namespace detail {

/// The failures that are told at the end.
///   Threads  confined.
class failures {
 public:
  void add(error why) {
    ++count_;
    if (kept_.size() < limits::delayed_errors) kept_.push_back(std::move(why));
  }
  [[nodiscard]] bool any() const noexcept { return count_ != 0; }

  /// One error for all of them; there must be one.
  error together() {
    assert(any());
    if (count_ == 1) return std::move(kept_.front());
    error whole = weir::fail(kept_.front().code, std::to_string(count_) + " flows failed", kept_.front().system);
    const char* before = ": ";
    for (const error& each : kept_) {
      whole.message += std::exchange(before, "; ") + each.message;
    }
    if (count_ > kept_.size()) whole.message += "; and " + std::to_string(count_ - kept_.size()) + " more";
    return whole;
  }

 private:
  std::vector<error> kept_;
  std::size_t count_ = 0;
};

/// Gives a flow, and is done where it fails: the failure is put aside.
template <flow Source>
class putting_aside {
 public:
  using value_type = value_of<Source>;

  putting_aside(Source source, failures& to) : source_(std::move(source)), to_(&to) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    const step why = internal::pull_caught(source_, demand, emit, cx);
    if (why != step::failed) return why;
    to_->add(std::move(cx.failure()));
    return step::done;
  }

 private:
  Source source_;
  failures* to_;
};

template <flow Merged>
class failing_last {
 public:
  using value_type = value_of<Merged>;

  failing_last(std::unique_ptr<failures> aside, Merged merged) : aside_(std::move(aside)), merged_(std::move(merged)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    const step why = merged_.pull(demand, emit, cx);
    return why == step::done && aside_->any() ? cx.fail(aside_->together()) : why;
  }

 private:
  std::unique_ptr<failures> aside_;  // the flows point to it
  Merged merged_;
};

}  // namespace detail

/// Merges the flows of a flow, and where one fails goes on with the others: `merge_delay_error(flow_of_flows)`, or
/// `flow_of_flows | merge_delay_error()`. The rest as merge.
///   Ends     when all flows have ended, the outer one too: done if none has failed, or else failed, with the error of the one
///            that did or, of several, with the code of the first and a message that lists up to limits::delayed_errors of
///            them. An exception from one of the flows is its failure, of code `threw`; one from the consumer passes (R6).
///            That a flow is cancelled ends everything at once, as in merge.
///   Memory   that of merge, one allocation, and the errors.
template <flow Outer>
  requires flow<value_of<Outer>>
auto merge_delay_error(Outer outer, merge_options options = {}) {
  auto aside = std::make_unique<detail::failures>();
  detail::failures& to = *aside;
  auto merged = merge(detail::putting_aside(map(std::move(outer),
                                                [&to](value_of<Outer>&& inner) {
                                                  return detail::putting_aside<value_of<Outer>>(std::move(inner), to);
                                                }),
                                            to),
                      options);
  return detail::failing_last<decltype(merged)>(std::move(aside), std::move(merged));
}
inline auto merge_delay_error(merge_options options = {}) {
  return detail::make_closure(
      [options]<flow Outer>(Outer outer) { return merge_delay_error(std::move(outer), options); });
}

/// The same for the flows of a vector, all of them at once.
template <flow Inner>
auto merge_delay_error(std::vector<Inner> flows) {
  const merge_options options{.concurrent_max = flows.empty() ? 1 : flows.size()};
  return merge_delay_error(from_range(std::move(flows)), options);
}

/// The same for the flows named; their types may differ, their items' may not.
template <flow First, flow Second, flow... Rest>
  requires internal::alike<First, Second, Rest...>
auto merge_delay_error(First first, Second second, Rest... rest) {
  using inner = internal::common_flow<First, Second, Rest...>;
  constexpr std::size_t count = 2 + sizeof...(Rest);
  return merge_delay_error(from_range(std::array<inner, count>{inner(std::move(first)), inner(std::move(second)),
                                                               inner(std::move(rest))...}),
                           merge_options{.concurrent_max = count});
}

}  // namespace weir::flow
