#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// The weight of items where only their number counts.
struct weightless {
  template <class T>
  std::size_t operator()(const T&) const noexcept {
    return 0;
  }
};

/// How large a chunk grows. Named, because two neighbouring sizes are easily swapped.
struct chunk_bounds {
  std::size_t items_max;
  std::size_t weight_max = std::numeric_limits<std::size_t>::max();
};

// Invariant: between pulls no chunk is open. Whatever upstream has given was passed on (R4).
template <flow Source, class Weight>
class chunked {
  using item_type = value_of<Source>;
  static constexpr bool weighs = !std::same_as<Weight, weightless>;

 public:
  using value_type = std::vector<item_type>;

  chunked(Source source, chunk_bounds bounds, Weight weight)
      : source_(std::move(source)), bounds_(bounds), weight_(std::move(weight)) {
    assert(bounds.items_max > 0 && bounds.weight_max > 0);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    value_type open;
    std::size_t open_weight = 0;
    bool below = false;  // whether the consumer is being called
    const auto close = [&] {
      if (open.empty()) return;
      assert(demand > 0);
      --demand;
      open_weight = 0;
      below = true;
      emit(std::exchange(open, {}));
      below = false;
    };
    const auto add = [&](item_type&& item) {
      if constexpr (weighs) {
        // Saturates: weights come from callers.
        const std::size_t weight = std::as_const(weight_)(std::as_const(item));
        open_weight += std::min(weight, bounds_.weight_max - open_weight);
      }
      open.push_back(std::move(item));
      if (open.size() == bounds_.items_max || (weighs && open_weight >= bounds_.weight_max)) close();
    };
    for (;;) {
      step why;
      try {
        std::size_t asked = wanted(open.size(), demand);
        why = source_.pull(asked, add, cx);
      } catch (...) {
        if (below) throw;
        // The items that came before the exception come out before it; as a failure, for with them all that was asked for may
        // have been given, and then an exception must not come.
        const error failure = caught();
        close();
        return cx.fail(failure);
      }
      if (why != step::more) {
        close();
        return why;
      }
      if (demand == 0) return step::more;
    }
  }

 private:
  // So few that no chunk can close that was not asked for. By number, the chunks asked for bound the items; by weight,
  // every item may close one.
  std::size_t wanted(std::size_t open, std::size_t demand) const noexcept {
    const std::size_t room = bounds_.items_max - open;
    if constexpr (weighs) {
      return std::min(room, demand);
    } else {
      return room;
    }
  }

  Source source_;
  chunk_bounds bounds_;
  Weight weight_;
};

}  // namespace detail

/// Groups items into vectors. A chunk closes when it holds `items_max`, when the source has nothing more ready, and when
/// it ends: `chunks(flow, n)`, or `flow | chunks(n)`. Chunks are never empty, and no item waits for company.
template <flow Source>
auto chunks(Source source, std::size_t items_max) {
  return detail::chunked<Source, detail::weightless>(std::move(source), {items_max}, {});
}
inline auto chunks(std::size_t items_max) {
  return detail::make_closure([items_max]<flow Source>(Source source) { return chunks(std::move(source), items_max); });
}

/// The same, and a chunk also closes with the item that brings its weight to `weight_max` or above: so it weighs less than
/// weight_max and its last item together. `weight` gives the weight of an item, in octets for example.
template <flow Source, class Weight>
auto chunks(Source source, std::size_t items_max, std::size_t weight_max, Weight weight) {
  return detail::chunked<Source, Weight>(std::move(source), {items_max, weight_max}, std::move(weight));
}
template <class Weight>
auto chunks(std::size_t items_max, std::size_t weight_max, Weight weight) {
  return detail::make_closure([items_max, weight_max, weight = std::move(weight)]<flow Source>(Source source) mutable {
    return chunks(std::move(source), items_max, weight_max, std::move(weight));
  });
}

}  // namespace weir::flow
