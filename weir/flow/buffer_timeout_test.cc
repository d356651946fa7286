#include <weir/flow/buffer_timeout.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/interval.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/virtual_time.h>
#include <weir/flow/timer_thread.h>

namespace weir::flow {
namespace {

using namespace std::chrono_literals;
using testing::counted;
using testing::outcome;
using testing::script;
using testing::stage;
using testing::test_consumer;
using testing::virtual_time;
using buffers = std::vector<std::vector<std::uint64_t>>;

TEST(buffer_timeout, conforms) {
  for (const bool time_passes : {false, true}) {
    for (const std::size_t count : {1u, 2u, 9u}) {
      virtual_time time;
      const auto complaint =
          testing::conforms([&](script from) { return std::move(from) | buffer_timeout(count, 10ms, time); },
                            [](const std::vector<int>& numbers, step end) {
                              return outcome{numbers, end};
                            },
                            {.settle = [&, time_passes](stage& on) {
                              on.fire();
                              if (time_passes) time.advance_by(10ms);
                            }});
      // What is asked for is buffers: how many there are depends on the time, but not what is in them.
      EXPECT_EQ(complaint, "") << time_passes << ' ' << count;
    }
  }
}

// By hand: items at 4, 8, 12, 16, ... ms.
TEST(buffer_timeout, closes_when_full_or_when_the_first_item_has_waited_long_enough) {
  virtual_time time;
  test_consumer by_time(interval(4ms, time) | take(7) | buffer_timeout(100, 9ms, time));
  test_consumer by_count(interval(4ms, time) | take(7) | buffer_timeout(2, 9ms, time));
  for (int ms = 0; ms <= 40; ++ms) {
    by_time.request_all();
    by_count.request_all();
    time.advance_by(1ms);
  }
  // 4, 8, 12 and closed at 13; 16, 20, 24 and closed at 25; 28 and the end.
  EXPECT_EQ(by_time.came({{0, 1, 2}, {3, 4, 5}, {6}}, step::done), "");
  EXPECT_EQ(by_count.came({{0, 1}, {2, 3}, {4, 5}, {6}}, step::done), "");
}

TEST(buffer_timeout, gives_no_empty_buffer_and_sets_no_alarm_for_one) {
  virtual_time time;
  test_consumer seen(never<int>() | buffer_timeout(2, 10ms, time));
  EXPECT_EQ(seen.request(1), step::pending);
  time.advance_by(1h);
  EXPECT_EQ(seen.wakes, 0u);
}

// RxJava #534, #5426: first items lost, and a buffer given twice when size and time race.
TEST(buffer_timeout, has_each_item_once_however_time_and_count_race) {
  timer_thread clock;
  const auto made =
      to_vector(interval(std::chrono::microseconds(20), clock) | take(2000) | buffer_timeout(3, 50us, clock));
  std::vector<std::uint64_t> all;
  for (const auto& each : *made) all.insert(all.end(), each.begin(), each.end());
  std::vector<std::uint64_t> expected(2000);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace weir::flow
