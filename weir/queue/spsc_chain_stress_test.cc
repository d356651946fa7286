// A chain without a bound: its producer never looks how far the consumer is, so the chunks that come back to it are all
// that orders what the two do to them. What stress has in common for all queues is in
// testing/every_queue_stress_test.cc.

#include <weir/queue/spsc_chain.h>

#include <algorithm>
#include <cstddef>
#include <memory>
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

TEST(spsc_chain_stress, a_chunk_that_comes_back_is_the_producers_alone) {
  constexpr int total = 50'000;
  const life_balance lives;
  for (const std::size_t chunk_items : {1u, 2u, 3u, 16u}) {
    spsc_chain<steady> chain({.chunk_items = chunk_items}, start_position{~0ULL - 1'000});
    std::thread producer([&] {
      for (int sent = 0; sent < total;) {
        if (sent % 7 == 0) {
          ASSERT_EQ(chain.try_push(steady(item_number(0, sent++))), push_outcome::pushed);
          continue;
        }
        const auto places = chain.prepare(static_cast<std::size_t>(std::min(sent % 5 + 1, total - sent)));
        for (steady& place : places) std::construct_at(&place, item_number(0, sent++));
        chain.commit(places.size());
      }
      chain.close();
    });
    arrivals got(1);
    spin wait;
    while (!chain.ended()) {
      if (chain.consume(5, [&](steady&& item) { got.see(item.number()); }) == 0) wait.pause();
    }
    producer.join();
    got.expect_all({total});
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue
