#include <weir/flow/repeat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(repeat, conforms) {
  for (const std::size_t count : {1u, 2u, 3u}) {
    const auto complaint = testing::conforms(
        [=](script from) {
          // The scripted flow first, and then flows of one item.
          return repeat(
              [first = std::optional<script>(std::in_place, std::move(from)), number = 70]() mutable {
                if (!first) return any_flow<counted>(just(counted(number++)));
                any_flow<counted> scripted(std::move(*first));
                first.reset();
                return scripted;
              },
              count);
        },
        [=](std::vector<int> numbers, step end) {
          for (int i = 0; end == step::done && i + 1 < static_cast<int>(count); ++i) numbers.push_back(70 + i);
          return outcome{numbers, end};
        });
    EXPECT_EQ(complaint, "") << count;
  }
}

TEST(repeat, gives_the_flow_so_many_times) {
  EXPECT_EQ(*to_vector(defer([] { return range(0, 3); }) | repeat(2)), (std::vector<int>{0, 1, 2, 0, 1, 2}));
  int made = 0;
  EXPECT_TRUE(to_vector(repeat([&] { return ++made, range(0, 3); }, 0))->empty());
  EXPECT_EQ(made, 0);
}

TEST(repeat, without_end_stops_when_the_consumer_has_enough) {
  int made = 0;
  EXPECT_EQ(*to_vector(repeat([&] { return ++made, range(0, 2); }) | take(5)), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(made, 3);
}

TEST(repeat, makes_no_flow_for_nobody) {
  int made = 0;
  testing::test_consumer all(repeat([&] { return ++made, just(7); }));
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(all.request(2), step::more);
  EXPECT_EQ(made, 2) << "not the third, for which no item is wanted";
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_EQ(made, 2);
}

TEST(repeat, is_done_with_its_last_flow_and_not_a_pull_later) {
  testing::test_consumer all(repeat([] { return just(7); }, 2));
  EXPECT_EQ(all.request(2), step::done);
  EXPECT_EQ(all.items, (std::vector<int>{7, 7}));
}

// RxCpp 153 and 432: repeating without end grows the stack or hangs.
TEST(repeat, a_million_empty_flows_need_no_stack_and_leave_others_their_turn) {
  std::size_t made = 0;
  testing::test_consumer all(repeat([&] { return ++made, empty<int>(); }, 1'000'000));
  EXPECT_EQ(all.request(1), step::pending);
  EXPECT_EQ(made, 4096u);
  EXPECT_EQ(all.wakes, 1u) << "pending, and woken at once";
  step why;
  while ((why = all.request(1)) == step::pending) {
  }
  EXPECT_EQ(why, step::done);
  EXPECT_EQ(made, 1'000'000u);
  EXPECT_EQ(to_vector(merge(repeat([] { return empty<int>(); }), range(0, 10'000)) | take(10'000))->size(), 10'000u);
}

TEST(repeat, asks_each_flow_for_what_is_still_wanted) {
  int made = 0;
  testing::test_consumer all(repeat([&] { return range(0, 3) | map([&](int i) { return ++made, i; }); }));
  EXPECT_EQ(all.request(4), step::more);
  EXPECT_EQ(made, 4);
  EXPECT_EQ(all.items, (std::vector<int>{0, 1, 2, 0}));
}

TEST(repeat, ends_with_the_first_flow_that_fails) {
  int made = 0;
  const auto ended = to_vector(repeat([&]() -> any_flow<int> {
    if (++made == 3) return fail<int>(weir::fail(errc::io, "third"));
    return just(made);
  }));
  EXPECT_EQ(ended.error().message, "third");
  EXPECT_EQ(made, 3);
}

TEST(repeat, destroys_a_flow_that_is_done_before_it_makes_the_next) {
  std::weak_ptr<int> before;
  bool alone = true;
  const auto make = [&] {
    alone = alone && before.expired();
    auto held = std::make_shared<int>(7);
    before = held;
    return just(0) | map([held](int) { return *held; });
  };
  EXPECT_EQ(to_vector(repeat(make, 5))->size(), 5u);
  EXPECT_TRUE(alone);
}

}  // namespace
}  // namespace weir::flow
