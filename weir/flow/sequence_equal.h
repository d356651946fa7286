#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/inputs.h>
#include <weir/flow/internal/turn.h>

namespace weir::flow {

namespace detail {

template <flow First, flow Second, class Equal>
class compared {
 public:
  using value_type = bool;

  compared(First first, Second second, Equal equal)
      : equal_(std::move(equal)), inputs_(std::in_place, std::move(first), std::move(second)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!inputs_) return step::done;
    if (demand == 0) return step::more;
    internal::turn now;
    auto& [first, second] = *inputs_;
    for (;;) {
      first.want(cx);
      second.want(cx);
      if (broke(first)) return first.end(cx);
      if (broke(second)) return second.end(cx);
      const bool first_over = first.exhausted();
      const bool second_over = second.exhausted();
      if (first_over && second_over) return answer(true, demand, emit);
      if ((first_over && second.has_item()) || (second_over && first.has_item())) return answer(false, demand, emit);
      if (!first.has_item() || !second.has_item()) return step::pending;
      if (!equal_(first.item(), second.item())) return answer(false, demand, emit);
      first.drop();
      second.drop();
      now.spend(1);
      if (now.over()) return internal::turn::give_up(cx);
    }
  }

 private:
  template <class Input>
  static bool broke(const Input& of) noexcept {
    return of.exhausted() && !of.done();
  }

  template <class Emit>
  step answer(bool same, std::size_t& demand, Emit&& emit) {
    inputs_.reset();
    --demand;
    emit(bool(same));
    return step::done;
  }

  struct pair {
    pair(First of_first, Second of_second)
        : first(std::in_place, std::move(of_first)), second(std::in_place, std::move(of_second)) {}
    internal::input<First> first;
    internal::input<Second> second;
  };

  Equal equal_;
  std::optional<pair> inputs_;  // none any more when the answer is given
};

}  // namespace detail

/// Gives one item: whether two flows give equal items in the same order and are both done then.
/// `sequence_equal(a, b)`, or with a function of its own `sequence_equal(a, b, equal)`.
///   Ends     done with the answer, and with the first difference both flows are destroyed; with the first failure or
///            cancellation that comes before it.
///   Bounds   keeps at most one item of each flow. After limits::run_items equal ones it is pending and wakes its consumer.
///   Threads  confined; both flows wake the consumer.
template <flow First, flow Second, class Equal = std::equal_to<>>
  requires std::predicate<Equal&, const value_of<First>&, const value_of<Second>&>
auto sequence_equal(First first, Second second, Equal equal = {}) {
  return detail::compared<First, Second, Equal>(std::move(first), std::move(second), std::move(equal));
}

}  // namespace weir::flow
