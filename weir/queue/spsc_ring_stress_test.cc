// Two threads on one ring. On a strongly ordered machine a pass proves little by itself; under the thread sanitizer every
// access to an item must be ordered by the ring's positions, whatever the machine does.

#include <weir/queue/spsc_ring.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/park_point.h>
#include <weir/queue/parking.h>
#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::counted;
using testing::life_balance;

/// A ring of one or two places changes threads for nearly every item, which on a busy machine takes a time slice each.
constexpr int items_for(std::size_t capacity) noexcept { return capacity < 64 ? 5'000 : 100'000; }

struct arrival {
  long count = 0;
  std::uint64_t checksum = 0;
  bool in_order = true;

  void see(int number) {
    in_order = in_order && number == count;
    ++count;
    checksum = checksum * 31 + static_cast<std::uint64_t>(number);
  }
  bool operator==(const arrival&) const = default;
};

arrival all_in_order(int total) {
  arrival expected;
  for (int i = 0; i < total; ++i) expected.see(i);
  return expected;
}

TEST(spsc_ring_stress, one_by_one_nothing_is_lost_or_doubled_or_out_of_order) {
  for (const std::size_t capacity : {1u, 2u, 64u, 1024u}) {
    const int total = items_for(capacity);
    spsc_ring<std::unique_ptr<int>> ring(capacity);
    std::thread producer([&] {
      spin wait;
      for (int i = 0; i < total;) {
        auto item = std::make_unique<int>(i);
        while (ring.try_push(std::move(item)) != push_outcome::pushed) wait.pause();
        ++i;
      }
      ring.close();
    });
    arrival seen;
    std::unique_ptr<int> item;
    spin wait;
    for (;;) {
      const pop_outcome outcome = ring.try_pop(item);
      if (outcome == pop_outcome::ended) break;
      if (outcome == pop_outcome::popped) {
        seen.see(*item);
      } else {
        wait.pause();
      }
    }
    producer.join();
    EXPECT_EQ(seen, all_in_order(total)) << capacity;
  }
}

TEST(spsc_ring_stress, in_spans_of_changing_size_nothing_is_lost_or_doubled_or_out_of_order) {
  const life_balance lives;
  for (const std::size_t capacity : {2u, 64u, 1024u}) {
    const int total = items_for(capacity);
    spsc_ring<counted> ring(capacity, start_position{~std::uint64_t{0} - 1000});
    std::thread producer([&] {
      spin wait;
      std::size_t wanted = 1;
      for (int i = 0; i < total;) {
        const auto places = ring.prepare(wanted);
        wanted = wanted % 97 + 1;
        std::size_t used = 0;
        for (const auto& part : {places.first, places.second}) {
          for (counted& place : part) {
            if (i == total) break;
            std::construct_at(&place, i++);
            ++used;
          }
        }
        ring.commit(used);
        if (used == 0) wait.pause();
      }
      ring.close();
    });
    arrival seen;
    spin wait;
    for (std::size_t wanted = 1; !ring.ended(); wanted = wanted % 61 + 1) {
      if (ring.consume(wanted, [&](counted&& item) { seen.see(item.number()); }) == 0) {
        wait.pause();
      }
    }
    producer.join();
    EXPECT_EQ(seen, all_in_order(total)) << capacity;
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// Both sides sleep whenever they have nothing to do. A lost wake-up would hang this test.
TEST(spsc_ring_stress, two_sides_that_park_always_wake_each_other) {
  for (const std::size_t capacity : {1u, 2u, 256u}) {
    const int total = items_for(capacity);
    spsc_ring<int> ring(capacity);
    parking items;
    parking room;
    std::thread producer([&] {
      park_point sleeper;
      for (int i = 0; i < total;) {
        int item = i;
        if (ring.try_push(std::move(item)) == push_outcome::pushed) {
          ++i;
          items.notify();
        } else if (room.park(sleeper.action(), [&] { return ring.free_places(1) != 0; })) {
          sleeper.wait();
        }
      }
      room.withdraw();
      ring.close();
      items.notify();
    });
    park_point sleeper;
    long expected = 0;
    bool in_order = true;
    for (;;) {
      const std::size_t got = ring.consume(16, [&](int&& item) { in_order = in_order && item == expected++; });
      if (got != 0) {
        room.notify();
      } else if (ring.ended()) {
        break;
      } else if (items.park(sleeper.action(), [&] { return ring.has_items() || ring.closed(); })) {
        sleeper.wait();
      }
    }
    producer.join();
    items.withdraw();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(expected, total);
  }
}

TEST(spsc_ring_stress, a_consumer_that_cancels_stops_the_producer_and_leaks_nothing) {
  const life_balance lives;
  for (int round = 0; round < 100; ++round) {
    spsc_ring<counted> ring(8);
    std::thread producer([&] {
      spin wait;
      for (int i = 0;; ++i) {
        push_outcome outcome;
        while ((outcome = ring.try_push(counted(i))) == push_outcome::full) wait.pause();
        if (outcome == push_outcome::cancelled) return;
      }
    });
    std::size_t seen = 0;
    spin wait;
    while (seen < static_cast<std::size_t>(round)) {
      const std::size_t got = ring.consume(4, [](counted&&) {});
      if (got == 0) wait.pause();
      seen += got;
    }
    ring.cancel();
    producer.join();
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue
