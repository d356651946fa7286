#include <weir/flow/switch_map.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/two_inputs.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::event;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::test_consumer;

TEST(switch_on_next, conforms_as_an_operator_over_an_inner_flow) {
  const auto complaint = testing::conforms([](script from) { return switch_on_next(just(std::move(from))); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

// Flows of one item have their turn before the outer flow is asked for another.
TEST(switch_map, conforms_as_an_operator_over_its_outer_flow) {
  const auto complaint = testing::conforms(
      [](script from) { return std::move(from) | switch_map([](counted&& of) { return just(std::move(of)); }); },
      [](const std::vector<int>& numbers, step end) {
        return outcome{numbers, end};
      });
  EXPECT_EQ(complaint, "");
}

/// Gives scripts, one after the other, and is pending between them if told to, waking at once.
class with_pause {
 public:
  using value_type = script;
  with_pause(std::vector<script> flows, bool pauses) : flows_(std::move(flows)), pauses_(pauses) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    while (at_ != flows_.size()) {
      if (demand == 0) return step::more;
      if (pauses_ && std::exchange(paused_, !paused_) == false) {
        cx.wake()();
        return step::pending;
      }
      --demand;
      emit(std::move(flows_[at_++]));
    }
    return step::done;
  }

 private:
  std::vector<script> flows_;
  std::size_t at_ = 0;
  bool pauses_;
  bool paused_ = false;
};

TEST(switch_map, of_two_flows_gives_a_beginning_of_the_first_and_then_the_second) {
  for (const bool wait : {false, true}) {
    const auto complaint = testing::conforms_with_two_inputs(
        [=](script a, script b) {
          // The outer flow gives both at once, or is pending between them.
          std::vector<script> both;
          both.push_back(std::move(a));
          both.push_back(std::move(b));
          return switch_on_next(with_pause(std::move(both), wait));
        },
        [](testing::two_ends ends, const outcome& seen) {
          // The second may have come before the first had an item, or broke.
          std::size_t of_first = 0;
          while (of_first < seen.numbers.size() && seen.numbers[of_first] == static_cast<int>(of_first) + 1) ++of_first;
          const std::vector<int> rest(seen.numbers.begin() + static_cast<std::ptrdiff_t>(of_first), seen.numbers.end());
          if (rest == std::vector<int>{11, 12}) return seen.end == testing::end_of(ends.second);
          return rest.empty() && seen.end == testing::end_of(ends.first) && ends.first != event::kind::done;
        });
    EXPECT_EQ(complaint, "") << wait;
  }
}

TEST(switch_map, flows_that_are_ready_all_give_their_items) {
  EXPECT_EQ(*to_vector(range(0, 4) | switch_map([](int i) { return range(10 * i, 10 * i + 2); })),
            (std::vector<int>{0, 1, 10, 11, 20, 21, 30, 31}));
}

TEST(switch_map, takes_flows_whose_types_are_forgotten) {
  EXPECT_EQ(*to_vector(erase(erase(range(0, 2)) | switch_map([](int i) { return erase(just(i)); }))),
            (std::vector<int>{0, 1}));
}

TEST(switch_map, leaves_a_flow_that_waits_for_a_newer_one) {
  const life_balance lives;
  testing::stage on;
  int opened = 0;
  test_consumer seen(
      script({item(0), pending(), item(1)}, on) | switch_map([&](counted&&) {
        return script(++opened == 1 ? std::vector{item(1), pending(), item(2)} : std::vector{item(3)}, on);
      }));
  EXPECT_EQ(seen.request(10), step::pending);
  ASSERT_EQ(seen.items.size(), 1u);
  EXPECT_EQ(seen.items[0].number(), 1);
  on.fire();  // both are ready now; the outer flow is asked first
  EXPECT_EQ(seen.request(10), step::done);
  ASSERT_EQ(seen.items.size(), 2u);
  EXPECT_EQ(seen.items[1].number(), 3);
  EXPECT_EQ(seen.complaint(), "");
  EXPECT_EQ(on.complaint(), "");
  seen.leave();
  seen.items.clear();
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(switch_map, leaves_an_endless_flow_after_a_turn) {
  std::vector<std::size_t> of_each(3);
  test_consumer seen(range(0, 3) | switch_map([](int name) {
                       return generate([=, left = name == 2 ? 5 : -1]() mutable {
                         return left-- == 0 ? std::nullopt : std::optional(name);
                       });
                     }));
  EXPECT_EQ(seen.request_all(), step::done);
  for (const int name : seen.items) ++of_each[static_cast<std::size_t>(name)];
  EXPECT_EQ(of_each, (std::vector<std::size_t>{1024, 1024, 5}));
}

TEST(switch_map, ends_at_once_with_the_outer_flow_s_failure) {
  testing::stage on;
  test_consumer seen(script({item(0), pending(), event{event::kind::failed, 0}}, on) | switch_map([&](counted&&) {
                       return script({item(1), pending(), item(2)}, on);
                     }));
  EXPECT_EQ(seen.request(10), step::pending);
  on.fire();
  EXPECT_EQ(seen.request(10), step::failed);
  EXPECT_EQ(seen.items.size(), 1u);
}

TEST(switch_map, of_endless_flows_without_items_gives_up_its_turn) {
  const auto nothing = generate([]() -> std::optional<int> { return 0; });
  test_consumer seen(nothing | switch_map([](int) { return never<int>(); }));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
}

TEST(switch_map, asks_for_nothing_when_nothing_is_wanted) {
  int calls = 0;
  test_consumer seen(range(0, 9) | switch_map([&](int i) { return ++calls, just(i); }));
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace weir::flow
