#include <weir/queue/park_point.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <weir/queue/testing/scripted_sync.h>

namespace weir::queue {
namespace {

using testing::scripted;
using scripted_point = basic_park_point<scripted>;
using clock = std::chrono::steady_clock;

TEST(park_point, keeps_one_wake_that_comes_before_the_wait) {
  scripted_point point;
  point.wake();
  point.wake();
  scripted::meanwhile({}, [] {});
  point.wait();
  EXPECT_EQ(scripted::sleeps(), 0);
  EXPECT_FALSE(point.wait_until(clock::time_point::max())) << "one is kept, not a count";
}

TEST(park_point, sleeps_until_it_is_woken) {
  scripted_point point;
  int done = 0;
  scripted::meanwhile({[&] { ++done; }, [&] { ++done; }, [&] { point.wake(); }}, [&] { point.wake(); });
  point.wait();
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(done, 2);
}

TEST(park_point, a_wait_until_its_deadline_is_cut_short_by_a_wake) {
  scripted_point point;
  scripted::meanwhile({[&] { point.wake(); }}, [] {});
  EXPECT_TRUE(point.wait_until(clock::time_point::max()));
  EXPECT_EQ(scripted::sleeps(), 1);
}

TEST(park_point, a_wake_after_the_deadline_is_kept_for_the_next_wait) {
  scripted_point point;
  scripted::meanwhile({}, [] {});
  EXPECT_FALSE(point.wait_until(clock::time_point{}));
  EXPECT_FALSE(point.wait_until(clock::time_point{})) << "one that timed out leaves nothing behind";
  point.wake();
  scripted::meanwhile({}, [&] { point.wake(); });
  point.wait();
  EXPECT_FALSE(scripted::slept_for_ever());
}

TEST(park_point, a_wake_that_comes_as_the_deadline_passes_is_taken) {
  /// A deadline that passes while the wake arrives.
  struct late : scripted {
    static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t value,
                           clock::time_point deadline) noexcept {
      (void)scripted::wait_until(word, value, deadline);
      return false;
    }
  };
  basic_park_point<late> point;
  scripted::meanwhile({[&] { point.wake(); }}, [] {});
  EXPECT_TRUE(point.wait_until(clock::time_point::max()));
  scripted::meanwhile({}, [] {});
  EXPECT_FALSE(point.wait_until(clock::time_point::max())) << "taken once";
}

TEST(park_point, comes_back_from_a_deadline_that_has_passed_long_ago) {
  park_point point;
  EXPECT_FALSE(point.wait_until(clock::time_point::min()));
  EXPECT_FALSE(point.wait_until(clock::time_point{}));
  EXPECT_FALSE(point.wait_until(clock::now()));
  point.wake();
  EXPECT_TRUE(point.wait_until(clock::time_point::min())) << "a wake that is there counts, whatever the deadline";
}

TEST(park_point, does_not_come_back_before_its_deadline) {
  park_point point;
  for (const auto ahead :
       {std::chrono::microseconds(1), std::chrono::microseconds(50), std::chrono::microseconds(1500)}) {
    const auto deadline = clock::now() + ahead;
    EXPECT_FALSE(point.wait_until(deadline));
    EXPECT_GE(clock::now(), deadline);
  }
}

TEST(park_point, can_be_woken_as_an_action) {
  park_point point;
  const wake_action action = point.action();
  action();
  point.wait();  // would hang
}

TEST(park_point, makes_visible_what_was_done_before_the_wake) {
  park_point ping;
  park_point pong;
  int shared = 0;  // not atomic: the wakes order the accesses
  std::thread other([&] {
    for (int i = 0; i < 500; ++i) {
      ping.wait();
      ++shared;
      pong.wake();
    }
  });
  for (int i = 0; i < 500; ++i) {
    ++shared;
    ping.wake();
    // With a deadline or without, the wake is the same.
    if (i % 2 == 0) {
      pong.wait();
    } else {
      while (!pong.wait_until(clock::now() + std::chrono::microseconds(20))) {
      }
    }
  }
  other.join();
  EXPECT_EQ(shared, 1'000);
}

}  // namespace
}  // namespace weir::queue
