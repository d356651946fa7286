#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/flow/caught.h>
#include <weir/flow/flow.h>

namespace weir::flow::internal {

/// Passes items on, counts those that arrived, and knows whether an exception comes from below or from above it.
///   Threads  confined to the pull.
template <class T, class Emit>
class passing {
 public:
  explicit passing(Emit& emit) noexcept : emit_(emit) {}

  void operator()(T&& item) {
    below_ = true;
    emit_(std::move(item));
    below_ = false;
    ++given_;
  }
  void run(std::span<T> items)
    requires requires(Emit& emit) { emit.run(items); }
  {
    below_ = true;
    emit_.run(items);
    below_ = false;
    given_ += items.size();
  }

  /// Whether the consumer is being called: what is thrown now is the consumer's.
  [[nodiscard]] bool below() const noexcept { return below_; }
  [[nodiscard]] std::size_t given() const noexcept { return given_; }

 private:
  Emit& emit_;
  std::size_t given_ = 0;
  bool below_ = false;
};

/// Pulls, and makes a failure of code `threw` of an exception from the source. One from `emit` passes: it is the
/// consumer that broke, and an operator that mends failures of its source must not mend that. After a failure `demand`
/// tells what was given, which a source that threw has not always taken off.
template <flow Source, class Emit>
step pull_caught(Source& source, std::size_t& demand, Emit&& emit, context& cx) {
  passing<value_of<Source>, std::remove_reference_t<Emit>> pass(emit);
  const std::size_t before = demand;
  try {
    return source.pull(demand, pass, cx);
  } catch (...) {
    if (pass.below()) throw;
    demand = before - pass.given();
    return cx.fail(caught());
  }
}

/// The same for an operator that gives something else than it gets: pulls with `take(item, pass)`, which gives what it has to
/// give, of type Given, to `pass(given)`. What take throws by itself is a failure, too.
template <class Given, flow Source, class Emit, class Take>
step pull_taking(Source& source, std::size_t& asked, Emit& emit, context& cx, Take&& take) {
  passing<Given, Emit> pass(emit);
  try {
    return source.pull(
        asked, [&](value_of<Source>&& item) { take(std::move(item), pass); }, cx);
  } catch (...) {
    if (pass.below()) throw;
    return cx.fail(caught());
  }
}

}  // namespace weir::flow::internal
