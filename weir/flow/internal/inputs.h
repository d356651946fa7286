#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weir/flow/flow.h>
#include <weir/flow/internal/ending.h>

namespace weir::flow::internal {

/// An input of an operator that has several: the flow, and at most one item of it.
///   Threads  confined, like the operator.
template <flow Source>
class input {
 public:
  using value_type = value_of<Source>;

  // With a tag: a constructor of one argument, a flow, would be asked whether it can take this very object by way of an
  // any_flow, which needs the answer to know.
  input(std::in_place_t, Source source) : source_(std::move(source)) {}

  [[nodiscard]] bool has_item() const noexcept { return item_.has_value(); }
  /// The input has ended and its last item was taken: nothing comes any more.
  [[nodiscard]] bool exhausted() const noexcept { return ended_ && !item_; }

  /// Asks for an item if there is none. Items that come together with an end are before it.
  void want(context& cx) {
    if (item_ || ended_) return;
    try {
      std::size_t one = 1;
      const step why = source_.pull(
          one, [this](value_type&& item) { item_.emplace(std::move(item)); }, cx);
      if (is_final(why)) ended_.keep(why, cx);
      done_ = why == step::done;
    } catch (...) {
      if (!item_) throw;
      ended_.keep_exception();
    }
  }

  [[nodiscard]] const value_type& item() const noexcept { return *item_; }
  value_type&& take() noexcept { return std::move(*item_); }
  void drop() noexcept { item_.reset(); }

  /// Whether it has ended well.
  [[nodiscard]] bool done() const noexcept { return done_; }
  /// Ends the operator as this input has ended.
  step end(context& cx) { return ended_.give(cx); }

 private:
  Source source_;
  ending ended_;
  bool done_ = false;
  std::optional<value_type> item_;
};

/// An input of which only the last item counts.
///   Threads  confined, like the operator.
template <flow Source>
class latest_of {
 public:
  using value_type = value_of<Source>;

  latest_of(std::in_place_t, Source source) : source_(std::move(source)) {}

  [[nodiscard]] bool has_item() const noexcept { return item_.has_value(); }
  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] const value_type& item() const noexcept { return *item_; }

  /// Asks for at most so many items, which are lowered by what came, keeps the last one, and calls `changed()` for each.
  /// After `done` it is not asked again.
  template <class Changed>
  step ask(std::size_t& count, context& cx, Changed&& changed) {
    const step why = source_.pull(
        count,
        [&](value_type&& item) {
          // Not assigned: an item need not be assignable.
          item_.reset();
          item_.emplace(std::move(item));
          changed();
        },
        cx);
    if (why == step::done) done_ = true;
    return why;
  }

 private:
  Source source_;
  bool done_ = false;
  std::optional<value_type> item_;
};

/// Calls `use(input)` for each, in order, until one answers true; says whether one did.
template <class... Inputs, class Use>
bool any_of(std::tuple<Inputs...>& inputs, Use&& use) {
  return std::apply([&](Inputs&... each) { return (use(each) || ...); }, inputs);
}

/// Calls `use(input)` for the input at a place.
template <class... Inputs, class Use>
void at(std::tuple<Inputs...>& inputs, std::size_t place, Use&& use) {
  std::size_t now = 0;
  any_of(inputs, [&](auto& each) { return now++ == place ? (use(each), true) : false; });
}

/// Makes a tuple of what it is given.
struct make_tuple {
  template <class... Items>
  std::tuple<std::remove_cvref_t<Items>...> operator()(Items&&... items) const {
    return {std::forward<Items>(items)...};
  }
};

}  // namespace weir::flow::internal
