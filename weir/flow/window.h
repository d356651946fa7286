#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/group.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

struct window_options {
  /// Windows that consumers still hold, or that fill. Upstream waits while there are as many and another one would begin.
  /// It is raised to the number of windows that overlap.
  std::size_t windows_max = limits::windows_open;
};

namespace detail {

/// How windows lie on their source. Named, because two neighbouring counts are easily swapped.
struct window_form {
  std::size_t count;  // items of a window
  std::size_t skip;   // from the beginning of one to the beginning of the next
};

template <flow Source, bool Overlapping>
class window_trunk final : public trunk<std::size_t, value_of<Source>> {
  using T = value_of<Source>;
  using base = trunk<std::size_t, T>;
  using branch = typename base::branch;

 public:
  window_trunk(Source source, window_form form, window_options options)
      : form_(form),
        windows_max_(std::max(options.windows_max, (form.count - 1) / form.skip + 1)),
        source_(std::move(source)) {
    assert(form.count > 0 && form.skip > 0 && options.windows_max > 0);
  }

 private:
  /// A window that is not full. Also when nobody wants it any more: the next ones are counted from it.
  struct filling {
    branch* into;
    std::size_t left;
  };

  step pull_upstream(std::size_t& count, context& cx) override {
    return source_->pull(
        count, [this](T&& item) { place(std::move(item)); }, cx);
  }
  void drop_upstream() noexcept override { source_.reset(); }

  std::size_t room() noexcept override {
    if (this->outer_left()) return limits::hop_quantum;
    // Up to the beginning of the first window for which there is no place.
    const std::size_t windows = std::min(windows_max_ - this->open_count(), limits::hop_quantum);
    return std::min(until_next_, limits::hop_quantum) + std::min(form_.skip, limits::hop_quantum) * windows;
  }

  void forget(branch& gone) noexcept override {
    for (filling& each : filling_) {
      if (each.into == &gone) each.into = nullptr;
    }
  }

  void place(T&& item) {
    if (until_next_ == 0) {
      until_next_ = form_.skip;
      if (!this->outer_left()) filling_.push_back({&this->open(number_++), form_.count});
    }
    --until_next_;
    for (filling& each : filling_) {
      --each.left;
      if (!each.into) continue;
      if constexpr (Overlapping) {
        this->put(*each.into, T(std::as_const(item)));
      } else {
        this->put(*each.into, std::move(item));
      }
      if (each.left == 0) this->close(*each.into);
    }
    // They are full in the order in which they began.
    if (!filling_.empty() && filling_.front().left == 0) filling_.pop_front();
  }

  window_form form_;
  std::size_t windows_max_;
  std::size_t until_next_ = 0;  // items before the next window begins
  std::size_t number_ = 0;
  std::deque<filling> filling_;
  std::optional<Source> source_;  // last, so that it goes first
};

}  // namespace detail

/// Gives the items in windows of `count`, each a flow of its own (group.h) whose key is its number: `window(flow, count)`, or
/// `flow | window(count)`. For vectors in place of flows there is chunks.
///   Order    a window is given when its first item has come. It is done after `count` items.
///   Ends     as upstream does; the window that is not full then ends in the same way, after its items. There are no empty ones.
///   Windows  are pulled by their consumers, and whoever is pulled and has nothing pulls upstream for all. Upstream waits when
///            windows_max are held: so every window must be consumed, or destroyed.
///   Memory   windows_max times count items at the most, allocated as they come, and one block for the whole.
///   Threads  confined: the outer flow and all windows are pulled and destroyed on one thread. Upstream may wake from any.
template <flow Source>
auto window(Source source, std::size_t count, window_options options = {}) {
  return detail::groups_of<std::size_t, value_of<Source>>(
      new detail::window_trunk<Source, false>(std::move(source), {count, count}, options));
}
inline auto window(std::size_t count, window_options options = {}) {
  return detail::make_closure([=]<flow Source>(Source source) { return window(std::move(source), count, options); });
}

/// The same with a window that begins at every `skip` items: `window(flow, count, skip)`, or `flow | window(count, skip)`. With
/// a skip below the count windows overlap, and their items are copied; above it, the items between them are dropped.
template <flow Source>
  requires std::copy_constructible<value_of<Source>>
auto window(Source source, std::size_t count, std::size_t skip, window_options options = {}) {
  return detail::groups_of<std::size_t, value_of<Source>>(
      new detail::window_trunk<Source, true>(std::move(source), {count, skip}, options));
}
inline auto window(std::size_t count, std::size_t skip, window_options options = {}) {
  return detail::make_closure(
      [=]<flow Source>(Source source) { return window(std::move(source), count, skip, options); });
}

}  // namespace weir::flow
