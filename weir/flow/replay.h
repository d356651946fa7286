#pragma once

// Sharing with a memory: who subscribes later gets what was given before.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/flow/share.h>

namespace weir::flow {

namespace detail {

/// Fails when there is one item more than `left`.
template <flow Source>
class at_most {
 public:
  using value_type = value_of<Source>;

  at_most(Source source, std::size_t count) : source_(std::move(source)), left_(count) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      // One is asked for beyond the bound, to see whether there is one; it is not given.
      std::size_t asked = std::max<std::size_t>(std::min(demand, left_), 1);
      bool over = false;
      const step why = source_.pull(
          asked,
          [&](value_type&& item) {
            if (left_ == 0) {
              over = true;
              return;
            }
            --left_;
            --demand;
            emit(std::move(item));
          },
          cx);
      if (over) return cx.fail(weir::fail(errc::too_large, "there are more items than the cache may hold"));
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  Source source_;
  std::size_t left_;
};

}  // namespace detail

/// Shares a flow (share.h) and keeps its last `items`, which everybody gets first who subscribes later; with its end,
/// when that has come. `replay(flow, items)`, or `flow | replay(items)`.
template <flow Source>
shared<value_of<Source>> replay(Source from, std::size_t items, share_options options = {}) {
  options.replayed = items;
  return share(std::move(from), options);
}
inline auto replay(std::size_t items, share_options options = {}) {
  return detail::make_closure(
      [items, options]<flow Source>(Source from) { return replay(std::move(from), items, options); });
}

/// Shares a flow and keeps all of it, so that everybody gets everything, and upstream gives it once. It is not pulled
/// before somebody is. `cache(flow, items_max)`, or `flow | cache(items_max)`.
///   Bounds  a flow of more than items_max items fails with too_large after these. Memory grows with the items.
template <flow Source>
shared<value_of<Source>> cache(Source from, std::size_t items_max) {
  assert(items_max > 0);
  return replay(detail::at_most<Source>(std::move(from), items_max), items_max);
}
inline auto cache(std::size_t items_max) {
  return detail::make_closure([items_max]<flow Source>(Source from) { return cache(std::move(from), items_max); });
}

}  // namespace weir::flow
