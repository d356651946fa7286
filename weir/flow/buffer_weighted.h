#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

// Invariant: weight_ is the sum over open_, at most weight_max_ unless open_ is one item.
template <flow Source, class Weigh>
class buffered_by_weight {
  using item_type = value_of<Source>;

 public:
  using value_type = std::vector<item_type>;

  buffered_by_weight(Source source, std::size_t weight_max, Weigh weigh)
      : weigh_(std::move(weigh)), weight_max_(weight_max), source_(std::move(source)) {
    assert(weight_max > 0);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    for (;;) {
      if (demand == 0) return step::more;
      if (!open_.empty() && (ending_ || weight_ >= weight_max_)) {
        give(demand, emit);
        continue;
      }
      if (ending_) return ending_.give(cx);
      const std::size_t demand_before = demand;
      // Each item closes at most the buffer before it.
      std::size_t asked = std::min(demand, now.left());
      const std::size_t before = asked;
      const step why = take(asked, demand, emit, cx);
      if (is_final(why)) {
        ending_.keep(why, cx);
        continue;
      }
      if (why == step::pending) {
        if (weight_ >= weight_max_) continue;
        return step::pending;
      }
      if (demand != demand_before) {
        now = {};
      } else {
        now.spend(before);
        if (now.over()) return internal::turn::give_up(cx);
      }
    }
  }

 private:
  template <class Emit>
  void give(std::size_t& demand, Emit&& emit) {
    value_type full(std::move(open_));
    open_.clear();
    weight_ = 0;
    --demand;
    emit(std::move(full));
  }

  template <class Emit>
  step take(std::size_t& asked, std::size_t& demand, Emit&& emit, context& cx) {
    return internal::pull_taking<value_type>(source_, asked, emit, cx, [&](item_type&& item, auto& pass) {
      const std::size_t weight = weigh_(std::as_const(item));
      // Not a sum, which could overflow.
      if (!open_.empty() && (weight_ >= weight_max_ || weight > weight_max_ - weight_)) give(demand, pass);
      open_.push_back(std::move(item));
      weight_ += weight;
    });
  }

  Weigh weigh_;
  std::size_t weight_max_;
  value_type open_;
  std::size_t weight_ = 0;
  internal::ending ending_;
  Source source_;
};

}  // namespace detail

/// Groups items into vectors whose weights together are at most `weight_max`, say octets of a message:
///
///     lines | buffer_weighted(64 * 1024, [](const std::string& line) { return line.size() + 1; })
///
///   weigh    `std::size_t(const item&)`, called once for each item. One that is heavier than `weight_max` is a buffer by itself
///   Order    kept; no buffer is empty
///   Ends     as the flow does, after the buffer that was open then; after a failure too. An exception of `weigh` is one
///   Bounds   the flow is asked for as many items at a time as buffers were asked for, since each may begin a new one
///   Memory   the items of one buffer, allocated as they come; their number is bounded only if their weights are above zero
///   Waits    until the buffer is full, or the next item does not fit. However many have no weight, others have their turn
///   Source   Akka's groupedWeighted
template <flow Source, class Weigh>
  requires std::convertible_to<std::invoke_result_t<Weigh&, const value_of<Source>&>, std::size_t>
auto buffer_weighted(Source source, std::size_t weight_max, Weigh weigh) {
  return detail::buffered_by_weight<Source, Weigh>(std::move(source), weight_max, std::move(weigh));
}
template <class Weigh>
auto buffer_weighted(std::size_t weight_max, Weigh weigh) {
  return make_closure([weight_max, weigh = std::move(weigh)]<flow Source>(Source source) mutable {
    return buffer_weighted(std::move(source), weight_max, std::move(weigh));
  });
}

}  // namespace weir::flow
