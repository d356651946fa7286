#include <weir/flow/merge.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/filter.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/two_inputs.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;
using testing::event;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::with_pendings;

// --- as an operator over its outer flow -------------------------------------------------------------------------

// The outer flow is the scripted one; each of its numbers becomes a flow of that number and its tenfold. With one slot the
// order is the outer flow's, whatever is asked for.
TEST(merge, conforms_as_an_operator_over_its_outer_flow) {
  const auto complaint = testing::conforms(
      [](script from) {
        return std::move(from) | map([](counted&& of) {
                 std::vector<counted> two;
                 two.push_back(counted(of.number()));
                 two.push_back(counted(of.number() * 10));
                 return from_range(std::move(two));
               }) |
               merge({.concurrent_max = 1});
      },
      [](const std::vector<int>& numbers, step end) {
        outcome expected{{}, end};
        for (const int number : numbers) {
          expected.numbers.push_back(number);
          expected.numbers.push_back(number * 10);
        }
        return expected;
      },
      {.fails_at_once = true, .items_max = 2});
  EXPECT_EQ(complaint, "");
}

// The outer flow gives one flow, the scripted one: then merge passes it on as it is.
TEST(merge, conforms_as_an_operator_over_an_inner_flow) {
  const auto complaint = testing::conforms([](script from) { return merge(just(std::move(from))); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

// --- two scripted inputs, everything that can happen ---------------------------------------------------------------

std::vector<int> only(const std::vector<int>& numbers, const std::function<bool(int)>& wanted) {
  std::vector<int> some;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(some), wanted);
  return some;
}

/// Whether these are the first so many of all.
bool begins(const std::vector<int>& some, const std::vector<int>& all) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

// Two inputs of two items each: one counts 1, 2, the other 11, 12. Every placement of pendings, every end of the first,
// every small demand, and the consumer leaving after each number of pulls.
TEST(merge, of_two_flows_loses_doubles_and_reorders_nothing_whatever_happens) {
  using kind = event::kind;
  for (const kind end : {kind::done, kind::failed, kind::cancelled, kind::throws}) {
    for (unsigned pendings_a = 0; pendings_a < 8; ++pendings_a) {
      for (unsigned pendings_b = 0; pendings_b < 8; ++pendings_b) {
        for (std::size_t portion = 1; portion <= 5; ++portion) {
          for (std::size_t pulls_max : {0u, 1u, 2u, 3u, 4u, 1000u}) {
            const life_balance lives;
            testing::stage on;
            const std::vector<event> a = with_pendings({item(1), item(2), event{end, 0}}, pendings_a);
            const std::vector<event> b = with_pendings({item(11), item(12)}, pendings_b);
            testing::schedule how{std::vector<std::size_t>(900, portion), pulls_max, false};
            const outcome seen = testing::observe(merge(script(a, on), script(b, on)), how, on, [&] { on.fire(); });
            ASSERT_EQ(on.complaint(), "");
            ASSERT_EQ(lives.surplus(), 0);
            const auto first = only(seen.numbers, [](int i) { return i < 10; });
            const auto second = only(seen.numbers, [](int i) { return i > 10; });
            ASSERT_TRUE(begins(first, {1, 2}));
            ASSERT_TRUE(begins(second, {11, 12}));
            if (pulls_max < 1000) continue;
            ASSERT_EQ(seen.end, end == kind::done        ? step::done
                                : end == kind::cancelled ? step::cancelled
                                                         : step::failed);
            ASSERT_EQ(first.size(), 2u) << "what comes before a failure is given before it";
            if (end == kind::done) {
              ASSERT_EQ(second.size(), 2u);
            }
          }
        }
      }
    }
  }
}

// --- order, turns and slots ------------------------------------------------------------------------------------------

std::vector<int> all(auto from) {
  auto items = to_vector(std::move(from));
  EXPECT_TRUE(items);
  return *std::move(items);
}

TEST(merge, of_ready_flows_gives_each_a_quantum_in_turn) {
  const merge_options options{.concurrent_max = 3, .quantum = 2};
  const auto items =
      all(from_range({0, 10, 20}) | map([](int from) { return range(from, from + 5); }) | merge(options));
  // Opened one by one, the one that waits longest having a turn in between; the first is alone for its first two.
  EXPECT_EQ(items, (std::vector<int>{0, 1, 10, 11, 20, 21, 2, 3, 12, 13, 22, 23, 4, 14, 24}));
}

TEST(merge, starves_nobody_beside_endless_flows) {
  // Three endless flows; each gets its share of every window.
  const auto endless = [](int name) { return generate([name]() -> std::optional<int> { return name; }); };
  const auto items = all(merge(std::vector{endless(0), endless(1), endless(2)}) | take(3 * 1024 * 10));
  std::array<int, 3> count{};
  for (const int name : items) ++count[static_cast<std::size_t>(name)];
  for (const int of_one : count) EXPECT_NEAR(of_one, 1024 * 10, 1024);
}

TEST(merge, asks_the_outer_flow_for_one_more_only_when_a_slot_is_free) {
  // Inner flows that never end keep their slots: the outer flow is asked exactly as often as there are slots.
  testing::stage on;
  int opened = 0;
  auto flow = range(0, 100) | map([&](int) {
                return ++opened, script({pending(), pending()}, on);
              }) |
              merge({.concurrent_max = 3});
  error failure;
  context cx({}, failure);
  std::size_t demand = 10;
  EXPECT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::pending);
  EXPECT_EQ(opened, 3);
  on.fire();
  EXPECT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::pending);
  EXPECT_EQ(opened, 3);
  on.fire();  // now these three end
  EXPECT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::pending);
  EXPECT_EQ(opened, 6);
}

TEST(merge, pulls_the_flows_that_it_has_before_it_asks_for_more) {
  const auto story_with = [](merge_options options, auto inner) {
    std::vector<int> story;
    EXPECT_TRUE(range(0, 3) | map([&](int i) {
                  story.push_back(i);
                  return inner(just(i + 10));
                }) |
                merge(options) | for_each([&](int i) { story.push_back(i); }));
    return story;
  };
  const auto erased = [](auto flow) { return erase(std::move(flow)); };
  EXPECT_EQ(story_with({.concurrent_max = 1}, erased), (std::vector<int>{0, 10, 1, 11, 2, 12}));
  EXPECT_EQ(story_with({.concurrent_max = 2}, erased), (std::vector<int>{0, 1, 10, 11, 2, 12}));
  // What is never pending is pulled as it comes.
  const auto as_it_is = [](auto flow) { return flow; };
  EXPECT_EQ(story_with({.concurrent_max = 2}, as_it_is), (std::vector<int>{0, 10, 1, 11, 2, 12}));
}

TEST(merge, opens_no_more_flows_than_items_are_asked_for) {
  int opened = 0;
  auto flow = range(0, 100) | map([&](int i) { return ++opened, range(0, i + 10); }) | merge();
  error failure;
  context cx({}, failure);
  std::size_t demand = 3;
  EXPECT_EQ(flow.pull(
                demand, [](int&&) {}, cx),
            step::more);
  EXPECT_EQ(opened, 3);
}

TEST(merge, gives_a_turn_to_what_the_outer_flow_gave_before_it_broke) {
  const auto seen_before = [](auto outer) {
    std::vector<int> seen;
    const auto end = std::move(outer) | merge() | for_each([&](int i) { seen.push_back(i); });
    EXPECT_FALSE(end);
    if (!end) {
      EXPECT_EQ(end.error().message, "broke");
    }
    return seen;
  };
  int calls = 0;
  EXPECT_EQ(seen_before(generate([&]() -> result<std::optional<decltype(just(1))>> {
              if (++calls == 3) return weir::fail(errc::io, "broke");
              return std::optional(just(calls));
            })),
            (std::vector<int>{1, 2}));
  EXPECT_EQ(seen_before(range(1, 9) | map([](int i) {
                          if (i == 3) throw std::runtime_error("broke");
                          return just(i);
                        })),
            (std::vector<int>{1, 2}));
}

TEST(merge, uses_its_slots_again_and_again) {
  const life_balance lives;
  long sum = 0;
  ASSERT_TRUE(range(0, 10'000) | map([](int i) { return just(counted(i)); }) | merge({.concurrent_max = 2}) |
              for_each([&](counted&& of) { sum += of.number(); }));
  EXPECT_EQ(sum, 10'000L * 9'999 / 2);
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(merge, ends_with_the_first_failure_and_destroys_the_others_at_once) {
  const life_balance lives;
  std::vector<any_flow<counted>> flows;
  std::vector<counted> items;
  for (int i = 0; i < 5; ++i) items.emplace_back(i);
  flows.emplace_back(from_range(std::move(items)));
  flows.emplace_back(fail<counted>(weir::fail(errc::io, "first")));
  flows.emplace_back(fail<counted>(weir::fail(errc::io, "second")));
  auto flow = merge(std::move(flows), 2);
  error failure;
  context cx({}, failure);
  std::size_t demand = 100;
  EXPECT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::failed);
  EXPECT_EQ(failure.message, "first");
  EXPECT_EQ(lives.surplus(), 0) << "although the merge itself is still there";
}

TEST(merge, is_cancelled_when_one_of_its_flows_is) {
  testing::stage on;
  const auto outcome = for_each(merge(script({item(1), event{event::kind::cancelled, 0}}, on), script({pending()}, on)),
                                [](counted&&) {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::cancelled);
}

TEST(merge, of_no_flows_is_done) {
  EXPECT_TRUE(all(merge(std::vector<any_flow<int>>{})).empty());
  EXPECT_TRUE(all(merge(empty<any_flow<int>>())).empty());
}

TEST(merge, takes_flows_of_different_types) {
  auto items = all(merge(range(0, 3), from_range({10, 11}), just(20)));
  std::ranges::sort(items);
  EXPECT_EQ(items, (std::vector<int>{0, 1, 2, 10, 11, 20}));
}

TEST(merge, opens_all_flows_of_a_vector_at_once) {
  // 300 flows, more than the default of 128: each needs all the others to be open before it goes on.
  int opened = 0;
  std::vector<any_flow<int>> flows;
  for (int i = 0; i < 300; ++i) {
    flows.emplace_back(generate([&opened, first = true]() mutable -> std::optional<int> {
      if (!std::exchange(first, false)) return std::nullopt;
      return ++opened;
    }));
  }
  const auto items = all(merge(std::move(flows), 1));
  EXPECT_EQ(items.size(), 300u);
}

TEST(merge, of_a_merge_wakes_through_both) {
  testing::stage on;
  const auto inner = [&] { return merge(script({pending(), item(1)}, on), script({item(2), pending(), item(3)}, on)); };
  const outcome seen = testing::observe(merge(inner(), inner()), {}, on, [&] { on.fire(); });
  EXPECT_EQ(on.complaint(), "");
  auto sorted = seen.numbers;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, (std::vector<int>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(seen.end, step::done);
}

/// Calls its waker in every pull, also when it has items and when it is done: wakes may be spurious (R2).
class restless {
 public:
  using value_type = counted;
  explicit restless(int from) : next_(from), end_(from + 5) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    cx.wake()();
    for (; next_ != end_; --demand) {
      if (demand == 0) return step::more;
      emit(counted(next_++));
    }
    return step::done;
  }

 private:
  int next_;
  int end_;
};

TEST(merge, is_not_confused_by_wakes_of_flows_that_are_ready_or_done) {
  const life_balance lives;
  for (const std::size_t concurrent_max : {1u, 2u, 3u}) {
    std::vector<int> seen;
    ASSERT_TRUE(from_range({0, 10, 20, 30}) | map([](int from) { return restless(from); }) |
                merge({.concurrent_max = concurrent_max, .quantum = 2}) |
                for_each([&](counted&& of) { seen.push_back(of.number()); }));
    ASSERT_EQ(seen.size(), 20u);
    for (int from : {0, 10, 20, 30}) {
      EXPECT_EQ(only(seen, [=](int i) { return i / 10 == from / 10; }),
                (std::vector<int>{from, from + 1, from + 2, from + 3, from + 4}));
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

/// One item, then the end; keeps the waker, and somebody calls it later (R2: wakes may be spurious).
class nagging {
 public:
  using value_type = script;
  nagging(testing::stage& on, waker& kept) : on_(&on), kept_(&kept) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    *kept_ = cx.wake();
    --demand;
    emit(script({pending(), item(7)}, *on_));
    return step::done;
  }

 private:
  testing::stage* on_;
  waker* kept_;
};

TEST(merge, sleeps_although_its_outer_flow_wakes_it_after_its_end) {
  testing::stage on;
  waker outer;
  int pulls = 0;
  auto flow = merge(nagging(on, outer));
  error failure;
  context cx({}, failure);
  std::vector<int> seen;
  for (step why = step::more; why != step::done && pulls < 10; ++pulls) {
    std::size_t demand = 5;
    why = flow.pull(
        demand, [&](counted&& of) { seen.push_back(of.number()); }, cx);
    outer();
    if (pulls == 2) on.fire();
  }
  EXPECT_EQ(seen, std::vector<int>{7});
  EXPECT_EQ(pulls, 4);
}

TEST(merge, of_endless_flows_without_items_gives_up_its_turn) {
  const auto nothing = generate([]() -> std::optional<decltype(empty<int>())> { return empty<int>(); });
  const auto first_item = first(merge(any_flow<int>(merge(nothing)), any_flow<int>(just(7))));
  ASSERT_TRUE(first_item);
  EXPECT_EQ(*first_item, 7);
}

TEST(merge, of_flows_that_reject_everything_gives_up_its_turn) {
  const auto rejecting = [] {
    return generate([]() -> std::optional<int> { return 1; }) | filter([](int) { return false; });
  };
  auto flow = merge(rejecting(), rejecting());
  int wakes = 0;
  error failure;
  context cx(waker([](void* target) noexcept { ++*static_cast<int*>(target); }, &wakes), failure);
  std::size_t demand = 1;
  EXPECT_EQ(flow.pull(
                demand, [](int&&) {}, cx),
            step::pending);
  EXPECT_GE(wakes, 1);
}

TEST(merge, of_flows_that_are_never_pending_ends_with_the_first_that_breaks_and_keeps_what_is_asked_for_later) {
  const life_balance lives;
  std::vector<int> seen;
  // Flows of four, asked for three at a time: each is left in the middle and goes on in its slot.
  auto flow = range(0, 5) | map([](int i) {
                return generate([i, n = 0]() mutable -> result<std::optional<counted>> {
                  if (i == 3) return weir::fail(errc::io, "the fourth");
                  if (n == 4) return std::optional<counted>();
                  return std::optional(counted(10 * i + n++));
                });
              }) |
              merge({.concurrent_max = 1});
  error failure;
  context cx({}, failure);
  step why = step::more;
  while (why == step::more) {
    std::size_t demand = 3;
    why = flow.pull(
        demand, [&](counted&& of) { seen.push_back(of.number()); }, cx);
  }
  EXPECT_EQ(why, step::failed);
  EXPECT_EQ(failure.message, "the fourth");
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(merge, lets_rare_items_through_beside_a_filter_that_rejects_all) {
  const auto first_item = first(merge(range(0, 1'000'000'000) | filter([](int) { return false; }),
                                      range(0, 100'000) | filter([](int i) { return i == 90'000; })));
  ASSERT_TRUE(first_item);
  EXPECT_EQ(*first_item, 90'000);
}

}  // namespace
}  // namespace weir::flow
