#include <weir/queue/parking.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/spin.h>

namespace weir::queue {
namespace {

wake_action counting(int& calls) {
  return {[](void* target) noexcept { ++*static_cast<int*>(target); }, &calls};
}

constexpr auto nothing_yet = [] { return false; };
constexpr auto something = [] { return true; };

TEST(parking, wakes_a_sleeper_once_however_often_it_is_notified) {
  parking place;
  int calls = 0;
  ASSERT_TRUE(place.park(counting(calls), nothing_yet));
  place.notify();
  place.notify();
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(place.park(counting(calls), nothing_yet));
  place.notify();
  EXPECT_EQ(calls, 2);
}

TEST(parking, wakes_nobody_who_does_not_sleep) {
  parking place;
  place.notify();
  int calls = 0;
  EXPECT_FALSE(place.park(counting(calls), something)) << "there is work: do not sleep";
  place.notify();
  EXPECT_EQ(calls, 0);
}

TEST(parking, looks_for_work_after_it_can_be_seen_sleeping) {
  // The publisher comes exactly between the two: the sleeper must not sleep, and is woken once at most.
  parking place;
  int calls = 0;
  const bool sleeps = place.park(counting(calls), [&] {
    place.notify();
    return true;
  });
  EXPECT_FALSE(sleeps);
  EXPECT_EQ(calls, 1);
}

TEST(parking, is_not_woken_by_what_is_not_worth_it) {
  parking place;
  int calls = 0;
  ASSERT_TRUE(place.park(counting(calls), nothing_yet));
  place.notify_if([] { return false; });
  EXPECT_EQ(calls, 0);
  place.notify_if([] { return true; });
  EXPECT_EQ(calls, 1);
}

TEST(parking, a_withdrawn_action_is_not_called) {
  parking place;
  int calls = 0;
  ASSERT_TRUE(place.park(counting(calls), nothing_yet));
  place.withdraw();
  place.notify();
  EXPECT_EQ(calls, 0);
  place.withdraw();  // with nothing to withdraw it does nothing
}

TEST(parking, a_park_whose_look_throws_is_withdrawn) {
  int calls = 0;
  parking sleeper;
  EXPECT_THROW((void)sleeper.park(counting(calls), []() -> bool { throw std::runtime_error("no look"); }),
               std::runtime_error);
  sleeper.notify();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(sleeper.park(counting(calls), nothing_yet)) << "and it can be used as before";
  sleeper.notify();
  EXPECT_EQ(calls, 1);
}

TEST(parking, parking_again_replaces_the_action) {
  parking place;
  int old_calls = 0;
  int new_calls = 0;
  ASSERT_TRUE(place.park(counting(old_calls), nothing_yet));
  ASSERT_TRUE(place.park(counting(new_calls), nothing_yet));
  place.notify();
  EXPECT_EQ(old_calls, 0);
  EXPECT_EQ(new_calls, 1);
}

// The target of each action is freed right after withdraw. Were an action still running, or called later, the
// sanitizers would see it touch freed memory; without them, `dead` is a mark that lives on.
TEST(parking, when_withdraw_has_returned_the_target_may_be_freed) {
  struct target {
    std::atomic<int>& calls;
    std::atomic<bool>& called_dead;
    bool dead = false;

    static void call(void* p) noexcept {
      auto& self = *static_cast<target*>(p);
      if (self.dead) self.called_dead.store(true);
      ++self.calls;
      if (self.dead) self.called_dead.store(true);
    }
    ~target() { dead = true; }
  };
  parking place;
  std::atomic<bool> over{false};
  std::atomic<bool> called_dead{false};
  std::atomic<int> calls{0};
  std::vector<std::thread> publishers;
  for (int i = 0; i < 2; ++i) {
    publishers.emplace_back([&] {
      spin wait;
      while (!over.load()) {
        place.notify();
        wait.pause();
      }
    });
  }
  // Until the two have met often, however the threads are scheduled.
  spin wait;
  for (int round = 0; calls.load() < 1'000; ++round) {
    auto of_this_round = std::make_unique<target>(target{calls, called_dead});
    (void)place.park({&target::call, of_this_round.get()}, nothing_yet);
    if (round % 2 == 0) wait.pause();
    place.withdraw();
  }
  over.store(true);
  for (auto& publisher : publishers) publisher.join();
  EXPECT_FALSE(called_dead.load());
}

}  // namespace
}  // namespace weir::queue
