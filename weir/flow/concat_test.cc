#include <weir/flow/concat.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
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

auto number_and_tenfold(counted&& of) {
  std::vector<counted> two;
  two.push_back(counted(of.number()));
  two.push_back(counted(of.number() * 10));
  return from_range(std::move(two));
}

TEST(concat, conforms_as_an_operator_over_its_outer_flow) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | concat_map(number_and_tenfold); },
                                           [](const std::vector<int>& numbers, step end) {
                                             outcome expected{{}, end};
                                             for (const int number : numbers) {
                                               expected.numbers.push_back(number);
                                               expected.numbers.push_back(number * 10);
                                             }
                                             return expected;
                                           },
                                           {.items_max = 2});
  EXPECT_EQ(complaint, "");
}

TEST(concat, conforms_as_an_operator_over_an_inner_flow) {
  const auto complaint = testing::conforms([](script from) { return concat(just(std::move(from))); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(concat, of_two_flows_gives_the_second_when_the_first_is_done) {
  const auto complaint =
      testing::conforms_with_two_inputs([](script a, script b) { return concat(std::move(a), std::move(b)); },
                                        [](testing::two_ends ends, const outcome& seen) {
                                          if (ends.first != event::kind::done)
                                            return seen == outcome{{1, 2, 3}, testing::end_of(ends.first)};
                                          return seen == outcome{{1, 2, 3, 11, 12}, testing::end_of(ends.second)};
                                        });
  EXPECT_EQ(complaint, "");
}

TEST(concat, takes_flows_of_different_types) {
  EXPECT_EQ(*to_vector(concat(range(0, 3), from_range({10, 11}), just(20))), (std::vector<int>{0, 1, 2, 10, 11, 20}));
  EXPECT_EQ(*to_vector(range(0, 3) | concat_with(just(7), empty<int>(), just(8))), (std::vector<int>{0, 1, 2, 7, 8}));
  EXPECT_EQ(*to_vector(concat(std::vector{range(0, 2), range(5, 7)})), (std::vector<int>{0, 1, 5, 6}));
  EXPECT_TRUE(to_vector(concat(std::vector<any_flow<int>>{}))->empty());
  EXPECT_EQ(*to_vector(erase(range(0, 2)) | concat_with(erase(range(5, 7)))), (std::vector<int>{0, 1, 5, 6}));
  EXPECT_EQ(*to_vector(erase(concat(erase(range(0, 2) | map([](int i) { return erase(just(i)); }))))),
            (std::vector<int>{0, 1}));
}

TEST(concat, asks_for_the_next_flow_when_the_one_before_is_done_and_an_item_is_wanted) {
  int opened = 0;
  test_consumer seen(range(0, 10) | concat_map([&](int i) { return ++opened, just(i); }));
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(seen.request(3), step::more);
  EXPECT_EQ(opened, 3);
}

TEST(concat, destroys_a_flow_before_it_asks_for_the_next) {
  std::weak_ptr<int> before;
  int alive_at_most = 0;
  const auto ended = range(0, 5) | concat_map([&](int i) {
                       alive_at_most += before.expired() ? 0 : 1;
                       auto held = std::make_shared<int>(i);
                       before = held;
                       return range(0, 2) | map([held](int n) { return *held + n; });
                     }) |
                     for_each([](int) {});
  EXPECT_TRUE(ended);
  EXPECT_EQ(alive_at_most, 0);
}

/// One item; pending before it if told to, waking at once.
class one_item {
 public:
  using value_type = int;
  one_item(int item, bool waits) : item_(item), waits_(waits) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (std::exchange(waits_, false)) {
      cx.wake()();
      return step::pending;
    }
    if (demand == 0) return step::more;
    --demand;
    emit(int(item_));
    return step::done;
  }

 private:
  int item_;
  bool waits_;
};

TEST(concat, of_a_million_flows_keeps_the_stack_and_the_order) {
  // Some are pending at first, the others are ready: recursion from one into the next would show here.
  int next = 0;
  bool in_order = true;
  const auto ended = range(0, 1'000'000) | concat_map([](int i) { return one_item(i, i % 100'000 == 0); }) |
                     for_each([&](int i) { in_order = in_order && i == next++; });
  EXPECT_TRUE(ended);
  EXPECT_TRUE(in_order);
  EXPECT_EQ(next, 1'000'000);
}

TEST(concat, of_endless_empty_flows_gives_up_its_turn) {
  const auto nothing = generate([]() -> std::optional<decltype(empty<int>())> { return empty<int>(); });
  const auto item_beside = first(merge(any_flow<int>(concat(nothing)), any_flow<int>(just(7))));
  ASSERT_TRUE(item_beside);
  EXPECT_EQ(*item_beside, 7);
}

/// Gives one flow and breaks in the same pull.
class broken_behind {
 public:
  using value_type = decltype(range(0, 3));
  explicit broken_behind(bool throws) : throws_(throws) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    --demand;
    emit(range(0, 3));
    if (throws_) throw std::runtime_error("broke");
    return cx.fail(weir::fail(errc::io, "broke"));
  }

 private:
  bool throws_;
};

TEST(concat, gives_the_items_of_a_flow_before_the_failure_that_came_with_it) {
  for (const bool throws : {false, true}) {
    test_consumer seen(concat(broken_behind(throws)));
    EXPECT_EQ(seen.request(2), step::more);
    EXPECT_EQ(seen.request(2), step::failed);
    EXPECT_EQ(seen.items, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(seen.failure.message, "broke");
    EXPECT_EQ(seen.complaint(), "");
  }
}

TEST(concat, ends_at_once_when_the_first_flow_fails_at_once) {
  bool second = false;
  const auto ended = to_vector(concat(fail<int>(weir::fail(errc::io, "first")), generate([&]() -> std::optional<int> {
                                        second = true;
                                        return std::nullopt;
                                      })));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "first");
  EXPECT_FALSE(second);
}

TEST(concat_map, a_function_that_throws_ends_the_flow_and_leaks_nothing) {
  const life_balance lives;
  test_consumer seen(range(0, 5) | concat_map([](int i) {
                       if (i == 2) throw std::runtime_error("two");
                       return just(counted(i));
                     }));
  EXPECT_EQ(seen.request_all(), step::failed);
  EXPECT_EQ(seen.failure.message, "two");
  EXPECT_EQ(seen.items.size(), 2u);
  seen.leave();
  seen.items.clear();
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::flow
