#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

struct distinct_options {
  /// Different keys that are remembered. The flow fails with the next one.
  std::size_t items_max = limits::distinct_items;
};

namespace detail {

/// The item as its own key.
struct itself {
  template <class T>
  const T& operator()(const T& item) const noexcept {
    return item;
  }
};

template <class Key, class T>
using key_of = std::remove_cvref_t<std::invoke_result_t<const Key&, const T&>>;

template <flow Source, class Key>
class made_distinct {
 public:
  using value_type = value_of<Source>;

  made_distinct(Source source, Key key, distinct_options options)
      : source_(std::move(source)), key_(std::move(key)), options_(options) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    // In pieces, so that a set which is full ends also an endless source that is asked for everything.
    while (demand != 0) {
      bool full = false;
      std::size_t asked = std::min(demand, limits::hop_quantum);
      const std::size_t before = asked;
      step why = step::done;
      try {
        why = source_.pull(
            asked,
            [&](value_type&& item) {
              if (full) return;
              switch (see(item)) {
                case sight::old:
                  return;
                case sight::too_many:
                  full = true;
                  return;
                case sight::first:
                  --demand;
                  emit(std::move(item));
              }
            },
            cx);
      } catch (...) {
        // What the source does behind the item that was one too many is nothing to its consumer.
        if (!full) throw;
      }
      if (full) {
        return cx.fail(weir::fail(errc::too_large, "distinct remembers at most " + std::to_string(options_.items_max) +
                                                       " different items, and there is one more"));
      }
      if (why != step::more) return why;
      now.spend(before);
      if (demand != 0 && now.over()) return internal::turn::give_up(cx);
    }
    return step::more;
  }

 private:
  enum class sight { first, old, too_many };

  sight see(const value_type& item) {
    if (seen_.size() < options_.items_max) {
      return seen_.insert(std::as_const(key_)(item)).second ? sight::first : sight::old;
    }
    return seen_.contains(std::as_const(key_)(item)) ? sight::old : sight::too_many;
  }

  Source source_;
  Key key_;
  distinct_options options_;
  std::unordered_set<key_of<Key, value_type>> seen_;
};

template <flow Source, class Key>
class changing {
 public:
  using value_type = value_of<Source>;

  changing(Source source, Key key) : source_(std::move(source)), key_(std::move(key)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return internal::pull_wanted(source_, demand, emit, cx, [this](const value_type& item) {
      decltype(auto) key = std::as_const(key_)(item);
      if (last_ && *last_ == key) return false;
      last_.emplace(std::forward<decltype(key)>(key));
      return true;
    });
  }

 private:
  Source source_;
  Key key_;
  std::optional<key_of<Key, value_type>> last_;
};

}  // namespace detail

/// Gives each item whose key has not come before: `distinct(flow)`, `distinct(flow, key)`, or after `|`. Keys are
/// compared by `==` and need a std::hash; the key of an item is by default the item itself, which then is copied.
///   Ends     as the flow does; or fails with `too_large` at the first new key after items_max different ones. What the
///            flow gave in one piece with that item, at most limits::hop_quantum items, is destroyed.
///   Memory   items_max keys, and one allocation for each.
///   Waits    it is pending now and then, and wakes its consumer at once, so that a long run of known items does not
///            hold up other flows.
template <flow Source, class Key>
  requires std::invocable<const Key&, const value_of<Source>&>
auto distinct(Source source, Key key, distinct_options options = {}) {
  return detail::made_distinct<Source, Key>(std::move(source), std::move(key), options);
}
template <flow Source>
auto distinct(Source source, distinct_options options = {}) {
  return distinct(std::move(source), detail::itself(), options);
}
template <class Key>
  requires(!flow<Key>)
auto distinct(Key key, distinct_options options = {}) {
  return detail::make_closure([key = std::move(key), options]<flow Source>(Source source) mutable {
    return distinct(std::move(source), std::move(key), options);
  });
}
inline auto distinct(distinct_options options = {}) { return distinct(detail::itself(), options); }

/// Gives each item whose key differs from that of the item before: `distinct_until_changed(flow)`, with a key as in
/// distinct, or after `|`. Keys are compared by `==`. Pending now and then, like distinct.
///   Memory  one key.
template <flow Source, class Key>
  requires std::invocable<const Key&, const value_of<Source>&>
auto distinct_until_changed(Source source, Key key) {
  return detail::changing<Source, Key>(std::move(source), std::move(key));
}
template <flow Source>
auto distinct_until_changed(Source source) {
  return distinct_until_changed(std::move(source), detail::itself());
}
template <class Key>
  requires(!flow<Key>)
auto distinct_until_changed(Key key) {
  return detail::make_closure([key = std::move(key)]<flow Source>(Source source) mutable {
    return distinct_until_changed(std::move(source), std::move(key));
  });
}
inline auto distinct_until_changed() { return distinct_until_changed(detail::itself()); }

}  // namespace weir::flow
