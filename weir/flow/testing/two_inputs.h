#pragma once

// The suite for operators of two inputs: what conformance.h checks, over two scripted sources at once.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/script.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow::testing {

/// What two scripted inputs give: the first one 1, 2, 3 and the second one 11, 12, and how each ends.
struct two_ends {
  event::kind first;
  event::kind second;

  /// Whether an input ends in the way of `done`.
  [[nodiscard]] bool both_done() const noexcept { return first == event::kind::done && second == event::kind::done; }
};

/// How a flow ends whose source ends in this way.
constexpr step end_of(event::kind how) noexcept {
  return how == event::kind::done ? step::done : how == event::kind::cancelled ? step::cancelled : step::failed;
}

/// The events, with a pending before each one whose bit is set.
inline std::vector<event> with_pendings(const std::vector<event>& events, unsigned where) {
  std::vector<event> all;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (where >> i & 1) all.push_back(pending());
    all.push_back(events[i]);
  }
  return all;
}

/// Runs an operator of two inputs over every placement of pendings, every pair of ends, small demands, patient or not, and
/// with a consumer that leaves after some pulls; gives the first complaint.
///   apply  `flow(script, script)`
///   right  `bool(two_ends, const outcome&)`: whether this may come out of them. Pendings only move things about.
template <class Apply, class Right>
std::string conforms_with_two_inputs(Apply apply, Right right) {
  using kind = event::kind;
  for (const kind first : {kind::done, kind::failed, kind::cancelled, kind::throws}) {
    for (const kind second : {kind::done, kind::failed, kind::cancelled, kind::throws}) {
      const two_ends ends{first, second};
      for (unsigned pendings = 0; pendings < 1u << 7; ++pendings) {
        const auto a = with_pendings({item(1), item(2), item(3), event{first, 0}}, pendings & 15);
        const auto b = with_pendings({item(11), item(12), event{second, 0}}, pendings >> 4);
        for (const std::size_t portion : {1u, 2u, 5u}) {
          for (const std::size_t pulls_max : {0u, 1u, 2u, 4u, 1000u, 1001u}) {
            const queue::testing::life_balance lives;
            stage on;
            const schedule how{std::vector<std::size_t>(900, portion), pulls_max < 1000 ? pulls_max : 1000,
                               pulls_max == 1001};
            const outcome seen = observe(apply(script(a, on), script(b, on)), how, on, [&] { on.fire(); });
            std::string wrong = on.complaint();
            if (wrong.empty() && lives.surplus() != 0) wrong = "items are left";
            if (wrong.empty() && pulls_max >= 1000 && !right(ends, seen)) wrong = "came " + describe(seen);
            if (wrong.empty()) continue;
            return wrong + "; ends " + std::to_string(static_cast<int>(first)) + " and " +
                   std::to_string(static_cast<int>(second)) + "; pendings " + std::to_string(pendings) +
                   "; portions of " + std::to_string(portion) + "; pulls " + std::to_string(pulls_max);
          }
        }
      }
    }
  }
  return {};
}

}  // namespace weir::flow::testing
