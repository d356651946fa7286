#pragma once

// Items on their way into and out of places, whatever their moves throw.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/queue/ring_spans.h>

namespace weir::queue::internal {

// The first three call `done(count)` once, in the end and also when they throw, with how many items have made it.

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
      std::construct_at(std::addressof(place), std::move(items[moved.count]));
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

// The others go through a queue by its spans, at most `part` places at a time: the other side is told of each part, and works
// at it while this side works at the next.

/// What try_push_n does.
template <class Queue, class T>
std::size_t push_parts(Queue& to, std::span<T> items, std::size_t part) {
  std::size_t pushed = 0;
  while (pushed < items.size()) {
    const ring_spans<T> places = to.prepare(std::min(items.size() - pushed, part));
    if (places.empty()) break;
    move_in(items.subspan(pushed), places, [&to](std::size_t count) { to.commit(count); });
    pushed += places.size();
  }
  return pushed;
}

/// What try_pop_n does.
template <class Queue, class T>
std::size_t pop_parts(Queue& from, std::span<T> into, std::size_t part) {
  std::size_t popped = 0;
  while (popped < into.size()) {
    const ring_spans<T> items = from.readable(std::min(into.size() - popped, part));
    if (items.empty()) break;
    move_out(items, into.subspan(popped), [&from](std::size_t count) { from.release(count); });
    popped += items.size();
  }
  return popped;
}

/// What consume does.
template <class Queue, class Take>
std::size_t consume_parts(Queue& from, std::size_t max, Take& take, std::size_t part) {
  std::size_t given = 0;
  while (given < max) {
    const auto items = from.readable(std::min(max - given, part));
    if (items.empty()) break;
    give(items, take, [&from](std::size_t count) { from.release(count); });
    given += items.size();
  }
  return given;
}

}  // namespace weir::queue::internal
