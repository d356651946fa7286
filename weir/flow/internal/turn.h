#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>

namespace weir::flow::internal {

/// What one pull may still examine without giving anything: limits::run_items, and then others have their turn.
///   Threads  confined to the pull.
class turn {
 public:
  [[nodiscard]] std::size_t left() const noexcept { return left_; }
  [[nodiscard]] bool over() const noexcept { return left_ == 0; }
  void spend(std::size_t examined) noexcept { left_ -= std::min(examined, left_); }

  /// Ends the pull, and asks for the next one: `return turn.give_up(cx);`
  static step give_up(context& cx) {
    cx.wake()();
    return step::pending;
  }

 private:
  std::size_t left_ = limits::run_items;
};

/// Pulls a flow of which only some items are given on: those for which `wanted(item)` is true, called once for each in
/// order. Never asks for more than may be given, and gives up its turn after limits::run_items items.
template <flow Source, class Emit, class Wanted>
step pull_wanted(Source& source, std::size_t& demand, Emit&& emit, context& cx, Wanted&& wanted) {
  turn now;
  while (demand != 0) {
    std::size_t asked = demand;
    const std::size_t before = asked;
    const step why = source.pull(
        asked,
        [&](value_of<Source>&& item) {
          if (!wanted(std::as_const(item))) return;
          --demand;
          emit(std::move(item));
        },
        cx);
    if (why != step::more) return why;
    now.spend(before - asked);
    if (demand != 0 && now.over()) return turn::give_up(cx);
  }
  return step::more;
}

/// Pulls a flow none of whose items is given on, until it is pending or ends, or the turn is over: `take(item)` has
/// them.
///   most  items to ask for at the most; when they have come, the answer is step::more
template <flow Source, class Take>
step pull_away(Source& source, std::size_t most, turn& now, context& cx, Take&& take) {
  while (most != 0) {
    if (now.over()) return turn::give_up(cx);
    std::size_t asked = std::min(most, now.left());
    const std::size_t before = asked;
    const step why = source.pull(asked, take, cx);
    if (why != step::more) return why;
    now.spend(before);
    if (most != unbounded) most -= before;
  }
  return step::more;
}

}  // namespace weir::flow::internal
