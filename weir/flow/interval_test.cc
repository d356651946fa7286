#include <weir/flow/interval.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/concat.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/start.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/virtual_time.h>
#include <weir/flow/until.h>

namespace weir::flow {
namespace {

using namespace std::chrono_literals;
using testing::test_consumer;
using testing::virtual_time;
using numbers = std::vector<std::uint64_t>;

TEST(interval, ticks_once_each_period_after_the_first_pull) {
  virtual_time time;
  test_consumer seen(interval(10ms, time));
  time.advance_by(35ms);  // nobody has pulled: it has not begun
  EXPECT_EQ(seen.request(5), step::pending);
  EXPECT_EQ(seen.items, (numbers{}));
  time.advance_by(9ms);
  EXPECT_EQ(seen.wakes, 0u);
  time.advance_by(1ms);
  EXPECT_EQ(seen.wakes, 1u);
  EXPECT_EQ(seen.request(5), step::pending);
  EXPECT_EQ(seen.items, (numbers{0}));
  time.advance_by(10ms);
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.came({0, 1}), "");
}

TEST(interval, the_first_tick_can_come_at_another_time) {
  virtual_time time;
  test_consumer at_once(interval(0ms, 10ms, time));
  EXPECT_EQ(at_once.request(9), step::pending);
  EXPECT_EQ(at_once.came({0}), "");
  test_consumer late(interval(25ms, 10ms, time));
  EXPECT_EQ(late.request(9), step::pending);
  time.advance_by(40ms);
  EXPECT_EQ(late.request(9), step::pending);
  EXPECT_EQ(late.came({0, 1}), "");
}

TEST(interval, a_late_consumer_gets_every_tick_and_the_schedule_stays) {
  virtual_time time;
  test_consumer seen(interval(10ms, time));
  seen.request(1);
  time.advance_by(47ms);
  EXPECT_EQ(seen.request(3), step::more);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({0, 1, 2, 3}), "");
  time.advance_by(3ms);  // the fifth is due at 50 ms, and not at 57
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.came({0, 1, 2, 3, 4}), "");
}

TEST(interval, skipped_ticks_can_be_told_from_the_numbers) {
  virtual_time time;
  test_consumer seen(interval(10ms, time, late_ticks::skip));
  seen.request(1);
  time.advance_by(47ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({3}), "");
  time.advance_by(3ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({3, 4}), "");
}

TEST(interval, wakes_nobody_after_it_is_gone) {
  virtual_time time;
  test_consumer seen(interval(10ms, time));
  seen.request(1);
  seen.leave();
  time.advance_by(1h);
  EXPECT_EQ(seen.wakes, 0u);
  EXPECT_EQ(seen.complaint(), "");
}

TEST(interval, runs_on_an_executor_in_virtual_time) {
  virtual_time time;
  struct sink {
    numbers* out;
    std::optional<step>* end;
    void on_item(std::uint64_t tick) const { out->push_back(tick); }
    void on_end(step why, const error&) const { *end = why; }
  };
  numbers out;
  std::optional<step> end;
  auto running = start(interval(1h, time) | take(3), time, sink{&out, &end});
  time.advance_by(2h);
  EXPECT_EQ(out, (numbers{0, 1}));
  time.advance_by(24h);
  EXPECT_EQ(out, (numbers{0, 1, 2}));
  EXPECT_EQ(end, step::done);
}

TEST(interval, merges_by_time) {
  virtual_time time;
  test_consumer seen(merge(interval(10ms, time) | take(3), interval(5ms, 10ms, time) | take(2)));
  std::vector<std::pair<int, std::uint64_t>> when;
  for (int ms = 0; ms <= 30; ++ms) {
    const std::size_t had = seen.items.size();
    seen.request_all();
    for (std::size_t i = had; i < seen.items.size(); ++i) when.emplace_back(ms, seen.items[i]);
    time.advance_by(1ms);
  }
  EXPECT_EQ(when, (std::vector<std::pair<int, std::uint64_t>>{{5, 0}, {10, 0}, {15, 1}, {20, 1}, {30, 2}}));
  EXPECT_EQ(seen.end(), step::done);
}

TEST(timer, gives_one_item_when_its_time_has_come) {
  virtual_time time;
  test_consumer seen(timer(10ms, time));
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(10ms);
  EXPECT_EQ(seen.request(9), step::done);
  EXPECT_EQ(seen.came({0}, step::done), "");
}

TEST(timer, gives_the_same_item_however_late_it_is_asked) {
  virtual_time time;
  test_consumer seen(timer(1min, time));
  seen.request(1);
  time.advance_by(5h);
  EXPECT_EQ(seen.request(1), step::done);
  EXPECT_EQ(seen.came({0}, step::done), "");
}

TEST(timer, ends_what_is_taken_until_then) {
  virtual_time time;
  test_consumer seen(take_until(never<int>(), timer(10ms, time)));
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(10ms);
  EXPECT_EQ(seen.wakes, 1u);
  EXPECT_EQ(seen.request(9), step::done);
}

}  // namespace
}  // namespace weir::flow
