// Three producers that give places up, by throwing and by leaving reservations unfilled, while one consumer goes on.
// What stress has in common for all queues is in testing/every_queue_stress_test.cc.

#include <weir/queue/mpsc_ring.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/spin.h>
#include <weir/queue/testing/arrivals.h>
#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::arrivals;
using testing::item_number;
using testing::life_balance;
using testing::steady;

/// Throws when it is made from a negative number.
struct picky : steady {
  explicit picky(int number) : steady(number) {
    if (number < 0) throw steady::thrown();
  }
};

class dice {
 public:
  explicit dice(std::uint32_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 1'664'525 + 1'013'904'223;
    return (state_ >> 8) % bound;
  }

 private:
  std::uint32_t state_;
};

TEST(mpsc_ring_stress, places_that_producers_give_up_cost_no_item_and_no_order) {
  constexpr int producers = 3;
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u, 4u, 64u}) {
    const int total = capacity < 16 ? 3'000 : 30'000;
    mpsc_ring<picky> ring(capacity, start_position{~0ULL - 1'000});
    std::atomic<int> sending{producers};
    std::vector<std::thread> threads;
    for (int sender = 0; sender < producers; ++sender) {
      threads.emplace_back([&, sender] {
        dice chance(static_cast<std::uint32_t>(sender));
        spin wait;
        for (int sent = 0; sent < total;) {
          if (chance.below(4) == 0) {
            try {
              (void)ring.try_emplace(-1);
            } catch (const steady::thrown&) {
            }
            continue;
          }
          auto places = ring.reserve(chance.below(9));
          if (!places) wait.pause();
          std::size_t used = std::min(chance.below(places.size() + 1), static_cast<std::size_t>(total - sent));
          for (; used != 0; --used) places.emplace(item_number(sender, sent++));
        }
        if (sending.fetch_sub(1, std::memory_order_relaxed) == 1) ring.close();
      });
    }
    arrivals got(producers);
    spin wait;
    while (!ring.ended()) {
      if (ring.consume(7, [&](picky&& item) { got.see(item.number()); }) == 0) wait.pause();
    }
    for (std::thread& one : threads) one.join();
    got.expect_all(std::vector<int>(producers, total));
    EXPECT_EQ(ring.size(), 0u);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue
