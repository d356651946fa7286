#include <weir/flow/debounce.h>

#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/marble.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/virtual_time.h>

namespace weir::flow {
namespace {

using namespace std::chrono_literals;
using testing::counted;
using testing::outcome;
using testing::script;
using testing::stage;
using testing::test_consumer;
using testing::virtual_time;

TEST(debounce, conforms) {
  virtual_time time;
  // No time passes: the last item comes at the end.
  EXPECT_EQ(testing::conforms([&](script from) { return std::move(from) | debounce(10ms, time); },
                              [](std::vector<int> numbers, step end) {
                                if (numbers.size() > 1) numbers.erase(numbers.begin(), numbers.end() - 1);
                                return outcome{numbers, end};
                              }),
            "");
  // Each item is the last of its time.
  EXPECT_EQ(testing::conforms([&](script from) { return std::move(from) | debounce(0ms, time); },
                              [](const std::vector<int>& numbers, step end) {
                                return outcome{numbers, end};
                              }),
            "");
}

TEST(debounce, gives_the_last_of_a_burst_when_it_has_been_quiet) {
  virtual_time time;
  stage on;
  test_consumer seen(testing::marbles("ab-c-d--|", on) | map([](const counted& c) { return c.number(); }) |
                     debounce(10ms, time));
  EXPECT_EQ(seen.request(9), step::pending);  // a, b
  time.advance_by(9ms);
  on.fire();
  EXPECT_EQ(seen.request(9), step::pending);  // c, in time
  time.advance_by(9ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({}), "");
  time.advance_by(1ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({'c'}), "");
  on.fire();
  EXPECT_EQ(seen.request(9), step::pending);  // d
  time.advance_by(10ms);
  on.fire();  // and the end right behind
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({'c', 'd'}), "");
}

TEST(debounce, an_item_whose_time_was_over_is_not_replaced_by_a_newer_one) {
  virtual_time time;
  stage on;
  test_consumer seen(testing::marbles("a-b-|", on) | map([](const counted& c) { return c.number(); }) |
                     debounce(10ms, time));
  seen.request(9);
  time.advance_by(50ms);
  on.fire();  // b is ready as well when the consumer comes
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.came({'a'}), "");
}

TEST(debounce, looks_at_the_time_between_the_items_of_one_pull) {
  virtual_time time;
  // Work that takes 20 ms for each item.
  test_consumer seen(range(0, 3) | map([&](int i) {
                       time.advance_by(20ms);
                       return i;
                     }) |
                     debounce(10ms, time));
  EXPECT_EQ(seen.request_all(), step::done);
  EXPECT_EQ(seen.came({0, 1, 2}, step::done), "");
}

TEST(debounce, lets_others_have_their_turn) {
  virtual_time time;
  test_consumer seen(range(0, 1'000'000) | debounce(10ms, time));
  EXPECT_EQ(seen.request(unbounded), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
  while (!seen.end()) seen.request(unbounded);
  EXPECT_EQ(seen.came({999'999}, step::done), "");
}

}  // namespace
}  // namespace weir::flow
