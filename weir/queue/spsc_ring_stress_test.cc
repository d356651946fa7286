// Two threads on one ring that sleep whenever they have nothing to do. What stress has in common for all queues is in
// testing/every_queue_stress_test.cc.

#include <weir/queue/spsc_ring.h>

#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weir/queue/park_point.h>
#include <weir/queue/parking.h>

namespace weir::queue {
namespace {

// A lost wake-up would hang this test.
TEST(spsc_ring_stress, two_sides_that_park_always_wake_each_other) {
  for (const std::size_t capacity : {1u, 2u, 256u}) {
    // A ring of one or two places changes threads for nearly every item, which on a busy machine takes a time slice
    // each.
    const int total = capacity < 64 ? 5'000 : 100'000;
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

}  // namespace
}  // namespace weir::queue
