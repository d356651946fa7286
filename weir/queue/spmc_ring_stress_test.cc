// Consumers that hold what they have claimed. What stress has in common for all queues is in
// testing/every_queue_stress_test.cc.

#include <weir/queue/spmc_ring.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/park_point.h>
#include <weir/queue/spin.h>
#include <weir/queue/testing/arrivals.h>
#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::arrivals;
using testing::item_number;
using testing::life_balance;
using testing::steady;

// Reported of another library: a producer that never has more items under way than its consumers have asked for, and
// never more than the ring holds, was told `full` now and then, because a consumer had claimed an item and not yet
// cleared its place. Here a consumer returns credit as soon as it has claimed, long before it gives the places back.
TEST(spmc_ring_stress, a_producer_that_keeps_to_the_credit_of_its_consumers_is_never_told_full) {
  constexpr int consumers = 2;
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u, 4u, 64u}) {
    const int total = capacity < 16 ? 3'000 : 30'000;
    spmc_ring<steady> ring(capacity);
    std::atomic<int> credit{static_cast<int>(capacity)};
    std::vector<arrivals> got(consumers, arrivals(1));
    std::vector<std::thread> threads;
    for (arrivals& mine : got) {
      threads.emplace_back([&] {
        spin wait;
        for (std::size_t step = 1;; ++step) {
          const auto batch = ring.claim(step % 3 + 1);
          if (batch.empty()) {
            if (ring.ended()) return;
            wait.pause();
            continue;
          }
          credit.fetch_add(static_cast<int>(batch.size()));
          for (std::size_t hold = step % 5; hold != 0; --hold) wait.pause();
          for (steady& item : batch) mine.see(std::move(item).number());
        }
      });
    }
    bool told_full = false;
    spin wait;
    for (int sent = 0; sent < total;) {
      if (credit.load() == 0) {
        wait.pause();
        continue;
      }
      credit.fetch_sub(1);
      told_full = told_full || ring.try_push(steady(item_number(0, sent))) != push_outcome::pushed;
      ++sent;
    }
    ring.close();
    for (std::thread& one : threads) one.join();
    EXPECT_FALSE(told_full) << capacity;
    arrivals::expect_all(got, {total});
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// Two consumers hold one item each until the producer is surely in its push: it has said that it is about to push, and
// then it must not come back before one of them lets go of the oldest place. Each step is a handshake.
TEST(spmc_ring_stress, a_strict_push_comes_back_when_the_consumer_that_holds_the_oldest_place_lets_go) {
  for (int round = 0; round < 500; ++round) {
    spmc_ring<int> ring(2);
    ASSERT_EQ(ring.try_push(0), push_outcome::pushed);
    ASSERT_EQ(ring.try_push(1), push_outcome::pushed);
    std::optional<spmc_ring<int>::batch> older(ring.claim(1));
    std::optional<spmc_ring<int>::batch> newer(ring.claim(1));
    park_point about_to_push;
    std::atomic<bool> older_is_free{false};
    bool waited = false;
    push_outcome outcome = push_outcome::full;
    std::thread producer([&] {
      about_to_push.wake();
      outcome = ring.try_push(2);
      waited = older_is_free.load();
    });
    about_to_push.wait();
    spin wait;
    for (int i = 0; i < round % 20; ++i) wait.pause();
    newer.reset();  // its place comes behind the one that is held: of no use to the producer
    for (int i = 0; i < round % 20; ++i) wait.pause();
    older_is_free.store(true);
    older.reset();
    producer.join();
    EXPECT_EQ(outcome, push_outcome::pushed);
    EXPECT_TRUE(waited);
    int out = 0;
    EXPECT_EQ(ring.try_pop(out), pop_outcome::popped);
    EXPECT_EQ(out, 2);
  }
}

}  // namespace
}  // namespace weir::queue
