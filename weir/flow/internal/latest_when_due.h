#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/timers.h>

namespace weir::flow::internal {

/// Keeps the latest item until its time has come, and gives that: what debounce and sample have in common. `Due` tells when: it
/// has a member `begin(now)`, called at each pull, and `due(came)`. An item that is due is given before a newer one is
/// kept. What has not been given when the source ends comes before the end.
///   Threads  confined to the pull.
template <flow Source, class Due>
class latest_when_due {
 public:
  using value_type = value_of<Source>;

  latest_when_due(Source source, timers& on, Due due)
      : alarm_(on), due_of_(std::move(due)), source_(std::move(source)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    turn now;
    due_of_.begin(alarm_.now());
    for (;;) {
      if (demand == 0) return step::more;
      if (kept_ && (ending_ || due_ <= alarm_.now())) give(demand, emit);
      if (ending_) return ending_.give(cx);
      if (demand == 0) return step::more;
      // Each item lets at most the one before it go.
      std::size_t asked = std::min(demand, now.left());
      const std::size_t before = asked;
      const step why = take(asked, demand, emit, cx);
      if (is_final(why)) {
        ending_.keep(why, cx);
        continue;
      }
      if (why == step::pending) {
        if (kept_ && due_ <= alarm_.now()) continue;
        if (kept_) alarm_.set(due_, cx.wake());
        return step::pending;
      }
      now.spend(before);
      if (now.over()) return turn::give_up(cx);
    }
  }

 private:
  template <class Emit>
  void give(std::size_t& demand, Emit&& emit) {
    value_type item(std::move(*kept_));
    kept_.reset();
    --demand;
    emit(std::move(item));
  }

  template <class Emit>
  step take(std::size_t& asked, std::size_t& demand, Emit&& emit, context& cx) {
    return pull_taking<value_type>(source_, asked, emit, cx, [&](value_type&& item, auto& pass) {
      const timers::time_point came = alarm_.now();
      if (kept_ && due_ <= came) give(demand, pass);
      due_ = due_of_(came);
      kept_.emplace(std::move(item));
    });
  }

  alarm alarm_;
  Due due_of_;
  std::optional<value_type> kept_;
  timers::time_point due_{};  // of what is kept
  ending ending_;
  Source source_;
};

}  // namespace weir::flow::internal
