#pragma once

// Items on their way into and out of places, whatever their moves throw. Each function calls `done(count)` once, in the end
// and also when it throws, with how many items have made it.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/queue/ring_spans.h>

namespace weir::queue::internal {

template <class Done>
struct at_exit {
  Done done;
  std::size_t count = 0;
  ~at_exit() { done(count); }
};
template <class Done>
at_exit(Done) -> at_exit<Done>;

/// Constructs the items in the first places, as many as there are of both.
template <class T, class Done>
void move_in(std::span<T> items, const ring_spans<T>& places, Done done) {
  if constexpr (std::is_nothrow_move_constructible_v<T>) {
    std::uninitialized_move_n(items.begin(), places.first.size(), places.first.begin());
    std::uninitialized_move_n(items.begin() + static_cast<std::ptrdiff_t>(places.first.size()), places.second.size(),
                              places.second.begin());
    done(places.size());
  } else {
    at_exit moved{done};
    for (T& place : places) {
      std::construct_at(&place, std::move(items[moved.count]));
      ++moved.count;
    }
  }
}

/// Assigns the items to `into`, which has room for all of them. An item whose assignment throws has not made it.
template <class T, class Done>
void move_out(const ring_spans<T>& items, std::span<T> into, Done done) {
  if constexpr (std::is_nothrow_move_assignable_v<T>) {
    const auto rest = std::move(items.first.begin(), items.first.end(), into.begin());
    std::move(items.second.begin(), items.second.end(), rest);
    done(items.size());
  } else {
    at_exit moved{done};
    for (T& item : items) {
      into[moved.count] = std::move(item);
      ++moved.count;
    }
  }
}

/// Gives the items to `take` one by one. An item that `take` throws at has been given.
template <class T, class Take, class Done>
void give(const ring_spans<T>& items, Take& take, Done done) {
  at_exit given{done};
  for (const std::span<T> part : {items.first, items.second}) {
    for (T& item : part) {
      ++given.count;
      take(std::move(item));
    }
  }
}

}  // namespace weir::queue::internal
