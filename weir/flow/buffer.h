#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>
#include <weir/flow/internal/turn.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// How many items a buffer has, and how many items after the beginning of one the next begins.
struct buffer_shape {
  std::size_t count;
  std::size_t skip;
};

// Invariant: window_ holds the items from the beginning of the oldest open buffer, fewer than count; or gap_ items are
// still to be left out before the next buffer begins, and then window_ is empty.
template <flow Source, bool Overlaps>
class buffered {
  using item_type = value_of<Source>;

 public:
  using value_type = std::vector<item_type>;

  buffered(Source source, buffer_shape shape) : source_(std::move(source)), shape_(shape) {
    assert(shape.count > 0 && shape.skip > 0);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (demand == 0) return step::more;
    if (!ending_) {
      const step why = fill(demand, emit, cx);
      if (!ending_) return why;
    }
    while (!window_.empty()) {
      if (demand == 0) return step::more;
      --demand;
      emit(next_buffer());
    }
    return ending_.give(cx);
  }

 private:
  template <class Emit>
  step fill(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    while (demand != 0) {
      const std::size_t demand_before = demand;
      std::size_t asked = std::min(wanted(demand), now.left());
      const std::size_t before = asked;
      bool below = false;  // what is thrown now is thrown by the consumer
      try {
        const step why = source_.pull(
            asked,
            [&](item_type&& item) {
              if (gap_ != 0) {
                --gap_;
                return;
              }
              window_.push_back(std::move(item));
              if (window_.size() < shape_.count) return;
              assert(demand > 0);
              --demand;
              value_type full = next_buffer();
              below = true;
              emit(std::move(full));
              below = false;
            },
            cx);
        if (is_final(why)) ending_.keep(why, cx);
        if (why != step::more) return why;
      } catch (...) {
        if (below) throw;
        ending_.keep_exception();
        return step::failed;
      }
      if (demand != demand_before) {
        now = {};
      } else {
        now.spend(before);
        if (now.over()) return internal::turn::give_up(cx);
      }
    }
    return step::more;
  }

  /// So many items that no more buffers can close than were asked for.
  [[nodiscard]] std::size_t wanted(std::size_t demand) const noexcept {
    const std::size_t first = gap_ + (shape_.count - window_.size());
    const std::size_t more = demand - 1;
    if (more != 0 && shape_.skip > (unbounded - first) / more) return unbounded;
    return first + more * shape_.skip;
  }

  /// Takes the oldest open buffer out, whether it is full or not, and with it the items that no other one has.
  value_type next_buffer() {
    if constexpr (Overlaps) {
      if (shape_.skip < window_.size()) {
        value_type copy(window_);
        window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(shape_.skip));
        return copy;
      }
    }
    if (shape_.skip > window_.size()) gap_ = shape_.skip - window_.size();
    return std::exchange(window_, {});
  }

  Source source_;
  buffer_shape shape_;
  value_type window_;
  std::size_t gap_ = 0;
  internal::ending ending_;
};

}  // namespace detail

/// Groups items into vectors of `count`; the last one may be shorter: `buffer(flow, count)`, or `flow | buffer(count)`.
/// A buffer waits until it is full. Where none should wait for company, use `chunks`, which closes a group also when
/// nothing more is ready.
///   Ends    as the flow does, after the buffer that was open then, if it holds items; after a failure too.
///   Memory  `count` items, allocated as they come.
///   Bounds  the flow is asked for so many items that no more buffers close than were asked for.
template <flow Source>
auto buffer(Source source, std::size_t count) {
  return detail::buffered<Source, false>(std::move(source), {count, count});
}
inline auto buffer(std::size_t count) {
  return detail::make_closure([count]<flow Source>(Source source) { return buffer(std::move(source), count); });
}

/// The same, where a buffer begins every `skip` items. With a skip below the count buffers overlap, and items are
/// copied; with one above it, the items between two buffers are left out. At the end come all buffers that are open,
/// each shorter than the one before.
///   Memory  `count` items, however many buffers overlap; and one buffer that is given.
template <flow Source>
  requires std::copy_constructible<value_of<Source>>
auto buffer(Source source, std::size_t count, std::size_t skip) {
  return detail::buffered<Source, true>(std::move(source), {count, skip});
}
inline auto buffer(std::size_t count, std::size_t skip) {
  return detail::make_closure(
      [count, skip]<flow Source>(Source source) { return buffer(std::move(source), count, skip); });
}

}  // namespace weir::flow
