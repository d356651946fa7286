#include <weir/flow/timeout.h>

#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/do_on.h>
#include <weir/flow/interval.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
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

outcome as_it_is(const std::vector<int>& numbers, step end) { return {numbers, end}; }

TEST(timeout, conforms) {
  virtual_time time;
  EXPECT_EQ(testing::conforms([&](script from) { return std::move(from) | timeout(10ms, time); }, as_it_is), "");
  // As the fallback of a flow that never comes.
  EXPECT_EQ(
      testing::conforms([&](script from) { return timeout(never<counted>(), 10ms, time, std::move(from)); }, as_it_is,
                        {.settle =
                             [&](stage& on) {
                               on.fire();
                               time.advance_by(10ms);
                             }}),
      "");
}

TEST(timeout, fails_when_an_item_takes_too_long) {
  virtual_time time;
  test_consumer seen(interval(5ms, 20ms, time) | timeout(10ms, time));
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(5ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({0}), "");
  seen.wakes = 0;
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(10ms);
  EXPECT_EQ(seen.wakes, 1u);
  EXPECT_EQ(seen.request(9), step::failed);
  EXPECT_EQ(seen.failure.code, errc::timed_out);
  EXPECT_EQ(seen.failure.message, "timeout: no item came within 10 ms");
}

TEST(timeout, an_item_begins_the_wait_anew) {
  virtual_time time;
  test_consumer seen(interval(5ms, 12ms, time) | timeout(10ms, time));
  seen.request(9);
  time.advance_by(5ms);
  EXPECT_EQ(seen.request(9), step::pending);  // with the item
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(9ms);
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(1ms);
  EXPECT_EQ(seen.request(9), step::failed);
  // The same where the item was all that was asked for.
  test_consumer one(interval(5ms, 30ms, time) | timeout(10ms, time));
  one.request(1);
  time.advance_by(5ms);
  EXPECT_EQ(one.request(1), step::more);
  time.advance_by(9ms);
  EXPECT_EQ(one.request(1), step::pending);
  time.advance_by(9ms);
  EXPECT_EQ(one.request(1), step::pending);
  time.advance_by(1ms);
  EXPECT_EQ(one.request(1), step::failed);
}

// RxJava #4944: what was given up must not go on.
TEST(timeout, destroys_the_flow_before_the_fallback_begins) {
  virtual_time time;
  bool cancelled = false;
  bool cancelled_first = false;
  test_consumer seen(never<int>() | do_on_cancel([&] { cancelled = true; }) | timeout(10ms, time, from_callable([&] {
                                                                                        cancelled_first = cancelled;
                                                                                        return 7;
                                                                                      })));
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(10ms);
  EXPECT_EQ(seen.request(9), step::done);
  EXPECT_TRUE(cancelled_first);
  EXPECT_EQ(seen.came({7}, step::done), "");
}

// RxJava #7514: a race between setting a tiny timeout and its going off.
TEST(timeout, of_nothing_fires_always) {
  virtual_time time;
  for (int i = 0; i < 1000; ++i) {
    test_consumer seen(never<int>() | timeout(0ns, time));
    EXPECT_EQ(seen.request(1), step::failed);
  }
  test_consumer ready(just(1) | timeout(0ns, time));
  EXPECT_EQ(ready.request(9), step::done);
}

TEST(timeout, of_more_than_there_is_waits_for_ever) {
  virtual_time time;
  test_consumer hours(never<int>() | timeout(std::chrono::hours::max(), time));
  test_consumer seconds(never<int>() | timeout(std::chrono::duration<double>(1e300), time));
  EXPECT_EQ(hours.request(1), step::pending);
  EXPECT_EQ(seconds.request(1), step::pending);
  time.advance_by(24h * 365 * 100);
  EXPECT_EQ(hours.request(1), step::pending);
  EXPECT_EQ(seconds.request(1), step::pending);
}

TEST(timeout, does_not_hold_a_slow_consumer_against_the_flow) {
  virtual_time time;
  test_consumer seen(range(0, 3) | timeout(10ms, time));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(seen.request(1), step::more);
    time.advance_by(1h);
  }
  EXPECT_EQ(seen.request(1), step::done);
  // Nor what it does with the item that it got.
  test_consumer busy(interval(0s, 1h + 500ms, time) | timeout(1s, time));
  EXPECT_EQ(busy.request(2), step::pending);
  EXPECT_EQ(busy.came({0}), "");
  EXPECT_EQ(busy.wakes, 1u);
  time.advance_by(1h);
  EXPECT_EQ(busy.request(2), step::pending);
  time.advance_by(500ms);
  EXPECT_EQ(busy.request(1), step::more);
  EXPECT_EQ(busy.came({0, 1}), "");
  // Nor that nobody asks.
  test_consumer idle(never<int>() | timeout(10ms, time));
  EXPECT_EQ(idle.request(0), step::more);
  time.advance_by(1h);
  EXPECT_EQ(idle.request(1), step::pending);
}

}  // namespace
}  // namespace weir::flow
