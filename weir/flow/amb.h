#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/flow/internal/common_flow.h>
#include <weir/flow/pipe.h>

namespace weir::flow {

namespace detail {

/// Takes the flows out of their container, each into a place from which it can go alone.
template <class Inner>
std::vector<std::optional<Inner>> places_of(std::vector<Inner> flows) {
  std::vector<std::optional<Inner>> places;
  places.reserve(flows.size());
  for (Inner& each : flows) places.emplace_back(std::move(each));
  return places;
}

// `inputs_` holds all of them until one has won, and then that one alone.
template <class Places>
class first_of_all {
  using inner = typename Places::value_type::value_type;
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

 public:
  using value_type = value_of<inner>;

  explicit first_of_all(Places inputs) : inputs_(std::move(inputs)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (winner_ != nobody) return inputs_[winner_]->pull(demand, emit, cx);
    if (inputs_.size() == 0) return step::done;
    if (demand == 0) return step::more;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const step why = inputs_[i]->pull(
          demand,
          [&](value_type&& item) {
            if (winner_ == nobody) wins(i);
            emit(std::move(item));
          },
          cx);
      if (is_final(why) && winner_ == nobody) wins(i);
      if (winner_ != nobody) return why;
    }
    return step::pending;
  }

 private:
  void wins(std::size_t place) noexcept {
    winner_ = place;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (i != place) inputs_[i].reset();
    }
  }

  Places inputs_;
  std::size_t winner_ = nobody;
};

}  // namespace detail

/// Gives the flow of a vector that is first to give an item or to end, and no other: `amb(flows)`. Of several that are ready
/// at the same time the one that is named first wins. A vector of no flows is done.
///   Ends     as the winner does: a failure wins as an item does.
///   Bounds   until one has won all are asked for what is wanted; the others are destroyed before the first item is given.
///   Memory   one allocation, for the flows' places, before the first pull.
///   Threads  confined; all flows wake the consumer.
template <flow Inner>
auto amb(std::vector<Inner> flows) {
  auto places = detail::places_of(std::move(flows));
  return detail::first_of_all<decltype(places)>(std::move(places));
}

/// The same for the flows named; their types may differ, their items' may not. `amb(a, b, c)`, or `a | amb_with(b, c)`.
///   Memory  none is allocated if the types are the same; else one block for each flow, before the first pull.
template <flow First, flow Second, flow... Rest>
  requires internal::alike<First, Second, Rest...>
auto amb(First first, Second second, Rest... rest) {
  using inner = internal::common_flow<First, Second, Rest...>;
  using places = std::array<std::optional<inner>, 2 + sizeof...(Rest)>;
  return detail::first_of_all<places>(
      places{inner(std::move(first)), inner(std::move(second)), inner(std::move(rest))...});
}
template <flow... Others>
  requires(sizeof...(Others) > 0)
auto amb_with(Others... others) {
  return detail::make_closure([... others = std::move(others)]<flow Source>(Source source) mutable {
    return amb(std::move(source), std::move(others)...);
  });
}

}  // namespace weir::flow
