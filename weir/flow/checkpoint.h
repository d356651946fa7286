#pragma once

#include <cstddef>
#include <source_location>
#include <string>
#include <utility>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/pull_caught.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

template <flow Source>
class checked {
 public:
  using value_type = value_of<Source>;
  static constexpr bool never_pending = synchronous<Source>;

  checked(Source source, std::string name, std::source_location where)
      : source_(std::move(source)), name_(std::move(name)), where_(where) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    const step why = internal::pull_caught(source_, demand, emit, cx);
    if (why == step::failed) say_where(cx.failure().message);
    return why;
  }

 private:
  void say_where(std::string& message) const {
    message += "\n  in ";
    message += name_.empty() ? "a flow" : "'" + name_ + "'";
    message += " of ";
    message += where_.file_name();
    message += ':' + std::to_string(where_.line());
  }

  Source source_;
  std::string name_;
  std::source_location where_;
};

}  // namespace detail

/// Changes nothing until the flow fails; then it adds a line to the message that says where the flow was put together:
/// `checkpoint(flow, "orders")`, or `flow | checkpoint("orders")`. Several on the way of a failure are several lines, the nearest
/// to its source first:
///
///     malformed: 'x1' is not a number
///       in 'orders' of shop.cc:42
///       in 'report' of main.cc:10
///
///   name    for people; empty, only the place is told
///   Errors  code and system number stay. An exception of a function above becomes a failure of code `threw`, one from below passes
///   Cost    none for items; one text for a failure
///   Source  Reactor's checkpoint
template <flow Source>
auto checkpoint(Source source, std::string name = {}, std::source_location where = std::source_location::current()) {
  return detail::checked<Source>(std::move(source), std::move(name), where);
}
inline auto checkpoint(std::string name = {}, std::source_location where = std::source_location::current()) {
  return make_closure([name = std::move(name), where]<flow Source>(Source source) mutable {
    return checkpoint(std::move(source), std::move(name), where);
  });
}

}  // namespace weir::flow
