#include <weir/flow/throttle_first.h>

#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/interval.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/virtual_time.h>

namespace weir::flow {
namespace {

using namespace std::chrono_literals;
using testing::outcome;
using testing::script;
using testing::test_consumer;
using testing::virtual_time;

TEST(throttle_first, conforms) {
  virtual_time time;
  EXPECT_EQ(testing::conforms([&](script from) { return std::move(from) | throttle_first(10ms, time); },
                              [](std::vector<int> numbers, step end) {
                                if (numbers.size() > 1) numbers.resize(1);
                                return outcome{numbers, end};
                              }),
            "");
  EXPECT_EQ(testing::conforms([&](script from) { return std::move(from) | throttle_first(0ms, time); },
                              [](const std::vector<int>& numbers, step end) {
                                return outcome{numbers, end};
                              }),
            "");
}

// By hand: items at 4, 8, 12, ... ms. That at 4 closes until 14, that at 16 until 26, that at 28 until 38.
TEST(throttle_first, gives_the_first_and_then_nothing_for_a_while) {
  virtual_time time;
  test_consumer seen(interval(4ms, time) | take(9) | throttle_first(10ms, time));
  for (int ms = 0; ms <= 40; ++ms) {
    seen.request_all();
    time.advance_by(1ms);
  }
  EXPECT_EQ(seen.came({0, 3, 6}, step::done), "");
}

TEST(throttle_first, looks_at_the_time_between_the_items_of_one_pull) {
  virtual_time time;
  test_consumer seen(range(0, 6) | map([&](int i) {
                       time.advance_by(5ms);
                       return i;
                     }) |
                     throttle_first(10ms, time));
  EXPECT_EQ(seen.request_all(), step::done);
  EXPECT_EQ(seen.came({0, 2, 4}, step::done), "");
}

}  // namespace
}  // namespace weir::flow
