#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <weir/core/result.h>
#include <weir/flow/flow.h>

namespace weir::flow::testing {

/// A consumer that pulls a flow when a test says so, and keeps what comes.
///   Threads  confined; wakes come on the test's thread.
template <flow Flow>
class by_hand {
 public:
  explicit by_hand(Flow from) : from_(std::move(from)) {}
  by_hand(by_hand&&) = delete;

  step pull(std::size_t demand) {
    context cx(waker(&by_hand::wake, this), failure);
    return from_.pull(
        demand, [this](value_of<Flow>&& item) { items.push_back(std::move(item)); }, cx);
  }

  std::vector<value_of<Flow>> items;  ///< what has come
  std::size_t wakes = 0;              ///< how often the waker was called
  error failure;                      ///< after step::failed

 private:
  static void wake(void* target) noexcept { ++static_cast<by_hand*>(target)->wakes; }

  Flow from_;
};

}  // namespace weir::flow::testing
