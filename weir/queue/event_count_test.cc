#include <weir/queue/event_count.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/scripted_sync.h>

namespace weir::queue {
namespace {

using testing::scripted;
using scripted_count = basic_event_count<scripted>;

TEST(event_count, does_not_sleep_when_it_is_ready) {
  scripted_count place;
  scripted::meanwhile({}, [] {});
  int looks = 0;
  place.await([&] { return ++looks > 0; });
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(scripted::sleeps(), 0);
}

TEST(event_count, looks_again_after_it_can_be_seen_sleeping) {
  scripted_count place;
  scripted::meanwhile({}, [] {});
  int looks = 0;
  place.await([&] { return ++looks == 2; });
  EXPECT_EQ(scripted::sleeps(), 0);
}

TEST(event_count, what_comes_between_the_look_and_the_sleep_is_not_slept_over) {
  scripted_count place;
  scripted::meanwhile({}, [] {});
  bool ready = false;
  int looks = 0;
  place.await([&] {
    const bool was_ready = ready;
    if (++looks == 2) {
      ready = true;
      place.notify_all();
    }
    return was_ready;
  });
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(scripted::sleeps(), 0) << "the word had changed";
  EXPECT_EQ(looks, 3);
}

TEST(event_count, a_sleeper_that_is_woken_for_nothing_sleeps_again) {
  scripted_count place;
  bool ready = false;
  scripted::meanwhile({[&] { place.notify_all(); }, [&] { place.notify_all(); },
                       [&] {
                         ready = true;
                         place.notify_all();
                       }},
                      [&] { ready = true; });
  place.await([&] { return ready; });
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(scripted::sleeps(), 3);
}

TEST(event_count, one_notification_wakes_all_who_sleep) {
  scripted_count place;
  bool ready = false;
  int awake = 0;
  // The second sleeper goes to sleep while the first sleeps.
  scripted::meanwhile({[&] {
                         place.await([&] { return ready; });
                         ++awake;
                       },
                       [&] {
                         ready = true;
                         place.notify_all();
                       }},
                      [&] { ready = true; });
  place.await([&] { return ready; });
  ++awake;
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(awake, 2);
}

TEST(event_count, a_notification_that_finds_nobody_is_not_kept) {
  scripted_count place;
  bool ready = false;
  place.notify_all();
  scripted::meanwhile({[&] {
                        ready = true;
                        place.notify_all();
                      }},
                      [&] { ready = true; });
  place.await([&] { return ready; });
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(scripted::sleeps(), 1);
}

// Three threads wait for their turn, which each gives on to the next: a lost wake would hang this test.
TEST(event_count, threads_that_wait_for_their_turns_are_never_left_asleep) {
  constexpr int rounds = 2'000;
  constexpr int threads = 3;
  event_count place;
  std::atomic<int> turn{0};
  int shared = 0;  // not atomic: the turns order the accesses
  std::vector<std::thread> all;
  for (int me = 0; me < threads; ++me) {
    all.emplace_back([&, me] {
      for (int round = 0; round < rounds; ++round) {
        const int mine = round * threads + me;
        place.await([&] { return turn.load(std::memory_order_acquire) == mine; });
        ++shared;
        turn.store(mine + 1, std::memory_order_release);
        place.notify_all();
      }
    });
  }
  for (std::thread& one : all) one.join();
  EXPECT_EQ(shared, rounds * threads);
}

}  // namespace
}  // namespace weir::queue
