#include <weir/flow/sample.h>

#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/interval.h>
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

TEST(sample, conforms) {
  virtual_time time;
  EXPECT_EQ(testing::conforms([&](script from) { return std::move(from) | sample(10ms, time); },
                              [](std::vector<int> numbers, step end) {
                                if (numbers.size() > 1) numbers.erase(numbers.begin(), numbers.end() - 1);
                                return outcome{numbers, end};
                              }),
            "");
}

// By hand: items 0, 1, 2, ... at 4, 8, 12, ... ms; periods end at 10, 20, 30 ms; the tenth item, at 40 ms, is the end.
TEST(sample, gives_the_last_item_of_each_period_when_it_is_over) {
  virtual_time time;
  test_consumer seen(interval(4ms, time) | take(10) | sample(10ms, time));
  std::vector<std::pair<int, std::uint64_t>> when;
  for (int ms = 0; ms <= 40; ++ms) {
    const std::size_t had = seen.items.size();
    seen.request_all();
    for (std::size_t i = had; i < seen.items.size(); ++i) when.emplace_back(ms, seen.items[i]);
    time.advance_by(1ms);
  }
  EXPECT_EQ(when, (std::vector<std::pair<int, std::uint64_t>>{{10, 1}, {20, 3}, {30, 6}, {40, 8}, {40, 9}}));
  EXPECT_EQ(seen.end(), step::done);
}

TEST(sample, sleeps_through_periods_without_items) {
  virtual_time time;
  test_consumer seen(interval(1h, time) | throttle_last(10ms, time));
  EXPECT_EQ(seen.request(1), step::pending);
  time.advance_by(59min);
  EXPECT_EQ(seen.wakes, 0u);
  time.advance_by(1min);
  EXPECT_EQ(seen.wakes, 1u);
  EXPECT_EQ(seen.request(1), step::pending);
  time.advance_by(10ms);
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.came({0}), "");
}

}  // namespace
}  // namespace weir::flow
