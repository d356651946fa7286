// Spans, and when the ring looks at the other side. What it has in common with other queues is in
// testing/every_queue_test.cc.

#include <weir/queue/spsc_ring.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::counted;
using testing::life_balance;

std::vector<int> numbers_of(const ring_spans<counted>& spans) {
  std::vector<int> numbers;
  for (const counted& item : spans) numbers.push_back(item.number());
  return numbers;
}

void fill(spsc_ring<counted>& ring, int from, int to) {
  for (int i = from; i < to; ++i) ASSERT_EQ(ring.try_push(counted(i)), push_outcome::pushed);
}

TEST(spsc_ring, hands_out_both_sides_of_its_edge_as_two_spans) {
  spsc_ring<counted> ring(8, start_position{6});
  const auto places = ring.prepare(5);
  EXPECT_EQ(places.first.size(), 2u);
  EXPECT_EQ(places.second.size(), 3u);
  fill(ring, 0, 5);
  const auto items = ring.readable(8);
  EXPECT_EQ(items.first.size(), 2u);
  EXPECT_EQ(items.second.size(), 3u);
  EXPECT_EQ(numbers_of(items), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(spsc_ring, places_that_are_not_committed_are_offered_again) {
  spsc_ring<counted> ring(4, start_position{3});
  const auto once = ring.prepare(3);
  ASSERT_EQ(once.size(), 3u);
  std::construct_at(&once[0], 0);
  ring.commit(1);
  ring.commit(0);
  const auto again = ring.prepare(4);
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(&again[0], &once[1]);
  EXPECT_EQ(&again[1], &once[2]);
  EXPECT_EQ(numbers_of(ring.readable(4)), std::vector<int>{0});
}

TEST(spsc_ring, items_that_are_read_stay_until_they_are_released) {
  const life_balance lives;
  spsc_ring<counted> ring(4, start_position{2});
  fill(ring, 0, 4);
  EXPECT_EQ(numbers_of(ring.readable(3)), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(ring.try_push(counted(9)), push_outcome::full);
  ring.release(0);
  EXPECT_EQ(numbers_of(ring.readable(9)), (std::vector<int>{0, 1, 2, 3}));
  ring.release(3);
  EXPECT_EQ(lives.surplus(), 1);
  EXPECT_EQ(numbers_of(ring.readable(9)), std::vector<int>{3});
  EXPECT_EQ(ring.free_places(4), 3u);
}

TEST(spsc_ring, keeps_order_and_bounds_while_its_positions_pass_2_to_the_64) {
  spsc_ring<std::uint64_t> ring(4, start_position{std::numeric_limits<std::uint64_t>::max() - 10});
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  while (popped < 40) {
    std::uint64_t item = pushed;
    while (ring.try_push(std::move(item)) == push_outcome::pushed) item = ++pushed;
    EXPECT_EQ(pushed - popped, 4u);
    EXPECT_EQ(ring.size(), 4u);
    for (int i = 0; i < 3; ++i) {
      std::uint64_t out = 0;
      ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
      ASSERT_EQ(out, popped++);
    }
  }
}

// Item by item, a side that has found a few items only waits a moment before it looks again. It may be slower, and
// never wrong.
TEST(spsc_ring, answers_the_same_however_few_items_it_has_found) {
  for (std::uint64_t few = 1; few <= 40; ++few) {
    spsc_ring<std::uint64_t> ring(64, start_position{~0ULL - 100});
    std::uint64_t next = 0;
    std::uint64_t expected = 0;
    std::uint64_t out = 0;
    // Near empty, where the consumer looks; then near full, where the producer does.
    for (int round = 0; round < 300; ++round) {
      for (std::uint64_t i = 0; i < few; ++i) ASSERT_EQ(ring.try_push(next++), push_outcome::pushed);
      for (std::uint64_t i = 0; i < few; ++i) {
        ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
        ASSERT_EQ(out, expected++);
      }
      ASSERT_EQ(ring.try_pop(out), pop_outcome::empty);
    }
    while (next - expected < 64) ASSERT_EQ(ring.try_push(next++), push_outcome::pushed);
    for (int round = 0; round < 300; ++round) {
      ASSERT_EQ(ring.try_push(next), push_outcome::full);
      for (std::uint64_t i = 0; i < few; ++i) {
        ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
        ASSERT_EQ(out, expected++);
      }
      for (std::uint64_t i = 0; i < few; ++i) ASSERT_EQ(ring.try_push(next++), push_outcome::pushed);
    }
  }
}

// Who finds many items goes on in strides. A ring that is filled and emptied one by one has them all, wherever strides and
// the edge of the ring fall.
TEST(spsc_ring, has_all_its_places_one_by_one_however_many_strides_they_are) {
  struct line {
    std::uint64_t number;
    std::uint64_t rest[7];
  };
  for (const std::uint64_t start : {0ULL, 77ULL, ~0ULL - 500}) {
    spsc_ring<line> ring(256, start_position{start});
    std::uint64_t next = 0;
    std::uint64_t expected = 0;
    line out{};
    for (int lap = 0; lap < 4; ++lap) {
      while (next - expected < 256) ASSERT_EQ(ring.try_push(line{next++, {}}), push_outcome::pushed);
      ASSERT_EQ(ring.try_push(line{next, {}}), push_outcome::full);
      for (int left = lap % 2 == 0 ? 251 : 256; left != 0; --left) {
        ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
        ASSERT_EQ(out.number, expected++);
      }
      if (lap % 2 != 0) {
        ASSERT_EQ(ring.try_pop(out), pop_outcome::empty);
      }
    }
    ASSERT_EQ(ring.try_push(line{next, {}}), push_outcome::pushed);
    ASSERT_EQ(ring.free_places(256), 255u) << "spans see beyond a stride";
    ASSERT_EQ(ring.readable(256).size(), 1u);
  }
}

}  // namespace
}  // namespace weir::queue
