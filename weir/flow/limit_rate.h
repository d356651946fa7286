#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class rate_limited {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  rate_limited(Source source, std::size_t most) : source_(std::move(source)), most_(most) { assert(most > 0); }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    do {
      std::size_t asked = std::min(demand, most_);
      const std::size_t before = asked;
      const step why = source_.pull(asked, emit, cx);
      demand -= before - asked;
      if (why != step::more) return why;
    } while (demand != 0);
    return step::more;
  }

 private:
  Source source_;
  std::size_t most_;
};

}  // namespace detail

/// Asks upstream for at most `most` items at a time, however many are asked for here: `limit_rate(flow, most)`, or
/// `flow | limit_rate(most)`. It asks again as soon as they have come, so all items come, and none later.
///   most     items, at least 1
///   For      what takes demand for the size of its work: a source that fetches as many rows as it is asked for, an
///            operator that gathers before it gives (any_flow gathers 256), a flow that looks at something once a pull.
///            Smaller batches give the first items sooner, and cost a call each.
///   Not for  holding items back in time (`interval` and its like do), and not for bounding memory: nothing is fetched
///            ahead of demand here, so there is no queue, and no low mark at which it would be filled again.
///   Order    as upstream gives them; every end at once.
///   Threads  confined, as upstream is. Where a hop is above, it limits what is taken out of the hop's ring at a time,
///            and where one is below, what the executor asks for.
template <flow Source>
auto limit_rate(Source source, std::size_t most) {
  return detail::rate_limited<Source>(std::move(source), most);
}
inline auto limit_rate(std::size_t most) {
  return detail::make_closure([most]<flow Source>(Source source) { return limit_rate(std::move(source), most); });
}

}  // namespace weir::flow
