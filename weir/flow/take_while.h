#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source, class Predicate>
class taken_while {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  taken_while(Source source, Predicate wanted, std::size_t ask_max)
      : source_(std::move(source)), wanted_(std::move(wanted)), ask_max_(ask_max) {
    assert(ask_max > 0);
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    // In pieces, so that also an endless source that is asked for everything comes to its end.
    while (demand != 0) {
      bool over = false;
      std::size_t asked = std::min(demand, ask_max_);
      step why = step::done;
      try {
        why = source_.pull(
            asked,
            [&](value_type&& item) {
              if (over) return;
              over = !std::as_const(wanted_)(std::as_const(item));
              if (over) return;
              --demand;
              emit(std::move(item));
            },
            cx);
      } catch (...) {
        // What the source does behind the last item is nothing to its consumer.
        if (!over) throw;
      }
      if (over) return step::done;
      if (why != step::more) return why;
    }
    return step::more;
  }

 private:
  Source source_;
  Predicate wanted_;
  std::size_t ask_max_;
};

}  // namespace detail

/// Gives the items before the first one for which the predicate is false, and is done then:
/// `take_while(flow, predicate)`, or `flow | take_while(predicate)`.
///   ask_max  items the flow is asked for at once. It is not known before which of them is the last one, so those
///            behind it have been made, and are destroyed; 1 where making an item does something that must not be done
///            then.
///   Ends     done at that item, also where the flow would fail after it.
template <flow Source, class Predicate>
auto take_while(Source source, Predicate wanted, std::size_t ask_max = limits::hop_quantum) {
  return detail::taken_while<Source, Predicate>(std::move(source), std::move(wanted), ask_max);
}
template <class Predicate>
auto take_while(Predicate wanted, std::size_t ask_max = limits::hop_quantum) {
  return detail::make_closure([wanted = std::move(wanted), ask_max]<flow Source>(Source source) mutable {
    return take_while(std::move(source), std::move(wanted), ask_max);
  });
}

}  // namespace weir::flow
