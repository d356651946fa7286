#include <weir/flow/timers.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <weir/core/thread.h>
#include <weir/flow/for_each.h>
#include <weir/flow/interval.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/virtual_time.h>
#include <weir/flow/timer_thread.h>

namespace weir::flow {
namespace {

using namespace std::chrono_literals;
using testing::virtual_time;

/// Writes its number down when it is woken.
struct sleeper {
  int number;
  std::vector<int>* woken;
  waker wake() {
    return {[](void* self) noexcept {
              auto& me = *static_cast<sleeper*>(self);
              me.woken->push_back(me.number);
            },
            this};
  }
};

TEST(timers, wake_in_order_of_time_and_then_of_setting) {
  virtual_time time;
  std::vector<int> woken;
  sleeper one{1, &woken}, two{2, &woken}, three{3, &woken}, four{4, &woken};
  alarm a(time), b(time), c(time), d(time);
  a.set(time.now() + 20ms, one.wake());
  b.set(time.now() + 10ms, two.wake());
  c.set(time.now() + 20ms, three.wake());
  d.set(time.now() + 30ms, four.wake());
  time.advance_by(9ms);
  EXPECT_EQ(woken, (std::vector<int>{}));
  time.advance_by(1ms);
  EXPECT_EQ(woken, (std::vector<int>{2}));
  time.advance_by(10ms);
  EXPECT_EQ(woken, (std::vector<int>{2, 1, 3}));
  EXPECT_EQ(time.passed(), 20ms);
  d.clear();
  time.advance_by(1h);
  EXPECT_EQ(woken, (std::vector<int>{2, 1, 3}));
}

TEST(timers, an_alarm_that_is_set_again_goes_off_once_at_its_new_time) {
  virtual_time time;
  std::vector<int> woken;
  sleeper old{1, &woken}, later{2, &woken};
  alarm a(time);
  a.set(time.now() + 10ms, old.wake());
  a.set(time.now() + 20ms, later.wake());
  time.advance_by(15ms);
  EXPECT_EQ(woken, (std::vector<int>{}));
  time.advance_by(5ms);
  EXPECT_EQ(woken, (std::vector<int>{2}));
  // A time that has passed is at once, for whoever lets the timers run.
  a.set(time.now() - 1ms, old.wake());
  time.advance_by(0ms);
  EXPECT_EQ(woken, (std::vector<int>{2, 1}));
}

TEST(timers, an_alarm_that_is_gone_wakes_nobody) {
  virtual_time time;
  std::vector<int> woken;
  sleeper me{1, &woken};
  {
    alarm a(time);
    a.set(time.now() + 10ms, me.wake());
  }
  time.advance_by(1h);
  EXPECT_EQ(woken, (std::vector<int>{}));
}

TEST(timers, a_wait_without_end_is_the_end_of_time) {
  EXPECT_EQ(timers::after(timers::time_point(5ns), 3ns), timers::time_point(8ns));
  EXPECT_EQ(timers::after(timers::time_point(5ns), timers::duration::max()), timers::time_point::max());
  EXPECT_EQ(timers::after(timers::time_point(-5ns), timers::duration::max()),
            timers::time_point(timers::duration::max() - 5ns));
  EXPECT_EQ(timers::after(timers::time_point(5ns), -3ns), timers::time_point(5ns));
  EXPECT_EQ(timers::duration(timers::span(1500us)), 1'500'000ns);
  EXPECT_EQ(timers::duration(timers::span(std::chrono::duration<double>(0.25))), 250ms);
  EXPECT_EQ(timers::duration(timers::span(std::chrono::hours::max())), timers::duration::max());
  EXPECT_EQ(timers::duration(timers::span(std::chrono::hours::min())), timers::duration::min());
}

/// Timers whose clock stands still between two turns of somebody's loop, which calls them a little early.
class cached_time final : public timers {
 public:
  [[nodiscard]] time_point now() const noexcept override { return time_point(99us); }
  using timers::fire_due;
  using timers::next;

 private:
  void sooner() noexcept override {}
};

TEST(timers, an_alarm_that_went_off_early_can_be_set_to_the_same_again) {
  cached_time time;
  std::vector<int> woken;
  sleeper me{1, &woken};
  alarm a(time);
  a.set(timers::time_point(100us), me.wake());
  time.fire_due(timers::time_point(100us));
  EXPECT_EQ(woken, (std::vector<int>{1}));
  a.set(timers::time_point(100us), me.wake());
  EXPECT_EQ(time.next(), timers::time_point(100us));
}

// The model is a multimap from time to number, which keeps those of one time in order.
TEST(timers, go_off_as_a_plain_list_says) {
  rc::check([] {
    virtual_time time;
    std::vector<int> woken, expected;
    std::vector<std::unique_ptr<sleeper>> sleepers;
    std::vector<std::unique_ptr<alarm>> alarms;
    for (int i = 0; i < 8; ++i) {
      sleepers.push_back(std::make_unique<sleeper>(i, &woken));
      alarms.push_back(std::make_unique<alarm>(time));
    }
    std::multimap<timers::time_point, int> model;
    const auto forget = [&](int number) {
      std::erase_if(model, [&](const auto& entry) { return entry.second == number; });
    };
    for (int steps = *rc::gen::inRange(0, 60); steps != 0; --steps) {
      const int number = *rc::gen::inRange(0, 8);
      const auto wait = std::chrono::milliseconds(*rc::gen::inRange(0, 6));
      switch (*rc::gen::inRange(0, 3)) {
        case 0: {
          // To set it to what it is set to changes nothing, not even whose turn is first.
          const bool same = std::ranges::any_of(model, [&](const auto& entry) {
            return entry == std::pair<const timers::time_point, int>(time.now() + wait, number);
          });
          if (!same || wait == 0ms) {
            forget(number);
            model.emplace(time.now() + wait, number);
          }
          alarms[static_cast<std::size_t>(number)]->set(time.now() + wait,
                                                        sleepers[static_cast<std::size_t>(number)]->wake());
          break;
        }
        case 1:
          forget(number);
          alarms[static_cast<std::size_t>(number)]->clear();
          break;
        default:
          time.advance_by(wait);
          while (!model.empty() && model.begin()->first <= time.now()) {
            expected.push_back(model.begin()->second);
            model.erase(model.begin());
          }
      }
      RC_ASSERT(woken == expected);
    }
  });
}

TEST(timer_thread, wakes_when_the_time_has_come_and_not_before) {
  timer_thread clock;
  const auto begin = clock.now();
  EXPECT_EQ(*to_vector(interval(2ms, clock) | take(3)), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_GE(clock.now() - begin, 6ms);
}

TEST(timer_thread, an_alarm_that_comes_before_all_others_is_not_slept_over) {
  timer_thread clock;
  std::atomic<bool> far_woken{false};
  alarm far(clock);
  far.set(clock.now() + 1h,
          waker([](void* flag) noexcept { static_cast<std::atomic<bool>*>(flag)->store(true); }, &far_woken));
  EXPECT_EQ(*to_vector(timer(1ms, clock)), (std::vector<std::uint64_t>{0}));
  EXPECT_FALSE(far_woken);
}

TEST(timer_thread, when_an_alarm_is_cleared_its_waker_is_not_running_any_more) {
  timer_thread clock;
  // Whoever is woken after its end writes to memory that is gone: for the sanitizers to see.
  for (int i = 0; i < 2000; ++i) {
    auto target = std::make_unique<std::atomic<int>>(0);
    alarm soon(clock);
    soon.set(clock.now() + std::chrono::microseconds(i % 50),
             waker([](void* at) noexcept { static_cast<std::atomic<int>*>(at)->fetch_add(1); }, target.get()));
    while (i % 3 == 0 && target->load() == 0) std::this_thread::yield();
    soon.clear();
    const int woken = target->load();
    EXPECT_LE(woken, 1);
    target.reset();
  }
}

TEST(timer_thread, is_set_from_many_threads) {
  timer_thread clock;
  std::atomic<std::uint64_t> ticks{0};
  {
    std::vector<thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back("waits", [&] {
        for (int n = 0; n < 50; ++n) {
          ticks += to_vector(interval(std::chrono::microseconds(20 + 30 * n), clock) | take(3))->size();
        }
      });
    }
    for (thread& each : threads) each.join();
  }
  EXPECT_EQ(ticks, 4u * 50 * 3);
}

}  // namespace
}  // namespace weir::flow
