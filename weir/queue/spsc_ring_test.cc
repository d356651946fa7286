#include <weir/queue/spsc_ring.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::counted;
using testing::life_balance;

std::vector<int> numbers_of(const ring_spans<counted>& spans) {
  std::vector<int> numbers;
  for (const auto& part : {spans.first, spans.second}) {
    for (const counted& item : part) numbers.push_back(item.number());
  }
  return numbers;
}

std::vector<int> drain(spsc_ring<counted>& ring) {
  std::vector<int> numbers;
  ring.consume(ring.capacity(), [&](counted&& item) { numbers.push_back(item.number()); });
  return numbers;
}

void fill(spsc_ring<counted>& ring, int from, int to) {
  for (int i = from; i < to; ++i) ASSERT_EQ(ring.try_push(counted(i)), push_outcome::pushed);
}

// --- capacity ------------------------------------------------------------------------------------------------------

TEST(spsc_ring, rounds_its_capacity_up_to_a_power_of_two) {
  const std::vector<std::pair<std::size_t, std::size_t>> cases = {{0, 1}, {1, 1}, {2, 2},       {3, 4},
                                                                  {4, 4}, {5, 8}, {1000, 1024}, {1025, 2048}};
  for (const auto& [asked, got] : cases) EXPECT_EQ(spsc_ring<int>(asked).capacity(), got) << asked;
}

TEST(spsc_ring, refuses_a_capacity_that_no_memory_can_hold) {
  const auto make = [](std::size_t items) { spsc_ring<int> ring(items); };
  EXPECT_THROW(make(std::numeric_limits<std::size_t>::max()), std::length_error);
  EXPECT_THROW(make((std::numeric_limits<std::size_t>::max() >> 3) + 1), std::length_error);
}

TEST(spsc_ring, a_full_ring_refuses_and_keeps_its_items) {
  spsc_ring<counted> ring(4);
  fill(ring, 0, 4);
  counted fifth(4);
  EXPECT_EQ(ring.try_push(std::move(fifth)), push_outcome::full);
  EXPECT_EQ(fifth.number(), 4) << "a refused item must not be moved from";
  EXPECT_EQ(ring.size(), 4u);
  EXPECT_EQ(drain(ring), (std::vector<int>{0, 1, 2, 3}));
}

TEST(spsc_ring, is_full_exactly_at_its_capacity_and_empty_exactly_at_nothing) {
  for (const std::size_t capacity : {1u, 2u, 8u}) {
    spsc_ring<counted> ring(capacity);
    counted out(0);
    for (int round = 0; round < 5; ++round) {
      EXPECT_EQ(ring.try_pop(out), pop_outcome::empty);
      for (std::size_t i = 0; i < capacity; ++i) {
        ASSERT_EQ(ring.try_push(counted(static_cast<int>(i))), push_outcome::pushed);
      }
      EXPECT_EQ(ring.try_push(counted(99)), push_outcome::full);
      for (std::size_t i = 0; i < capacity; ++i) {
        ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
        EXPECT_EQ(out.number(), static_cast<int>(i));
        ASSERT_EQ(ring.try_push(counted(7)), push_outcome::pushed) << "one pop frees one place";
        ASSERT_EQ(ring.try_push(counted(8)), push_outcome::full);
      }
      EXPECT_EQ(drain(ring), std::vector<int>(capacity, 7));
    }
  }
}

// --- against a model -------------------------------------------------------------------------------------------------

enum class operation : std::uint8_t { push, push_n, prepare, pop, pop_n, consume, readable, size };

// Any sequence of operations does what it does to a std::deque with a bound, from any start position.
RC_GTEST_PROP(spsc_ring, behaves_as_a_bounded_deque_whatever_is_done_to_it, ()) {
  const life_balance lives;
  {
    const std::size_t asked = *rc::gen::inRange<std::size_t>(1, 18);
    const std::uint64_t start = *rc::gen::element<std::uint64_t>(0, (1ULL << 31) - 5, (1ULL << 32) - 5,
                                                                 std::numeric_limits<std::uint64_t>::max() - 7,
                                                                 std::numeric_limits<std::uint64_t>::max());
    spsc_ring<counted> ring(asked, start_position{start});
    std::deque<int> model;
    int next = 0;
    const auto free = [&] { return ring.capacity() - model.size(); };
    const auto take_model = [&](std::size_t count) {
      std::vector<int> taken(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
      return taken;
    };

    const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 8), rc::gen::inRange(0, 20)));
    for (const auto& [which, amount] : steps) {
      const auto count = static_cast<std::size_t>(amount);
      switch (static_cast<operation>(which)) {
        case operation::push: {
          counted item(next);
          if (free() > 0) {
            RC_ASSERT(ring.try_push(std::move(item)) == push_outcome::pushed);
            model.push_back(next++);
          } else {
            RC_ASSERT(ring.try_push(std::move(item)) == push_outcome::full);
            RC_ASSERT(item.number() == next);
          }
          break;
        }
        case operation::push_n: {
          std::vector<counted> items;
          for (std::size_t i = 0; i < count; ++i) items.emplace_back(next + static_cast<int>(i));
          const std::size_t pushed = std::min(count, free());
          RC_ASSERT(ring.try_push_n(items) == pushed);
          for (std::size_t i = 0; i < count; ++i) {
            RC_ASSERT(items[i].number() == (i < pushed ? counted::taken : next + static_cast<int>(i)));
          }
          for (std::size_t i = 0; i < pushed; ++i) model.push_back(next++);
          break;
        }
        case operation::prepare: {
          const auto places = ring.prepare(count);
          RC_ASSERT(places.size() == std::min(count, free()));
          // Commits about half of what it prepared: the rest must be offered again.
          const std::size_t used = (places.size() + 1) / 2;
          for (std::size_t i = 0; i < used; ++i) {
            counted* place = i < places.first.size() ? &places.first[i] : &places.second[i - places.first.size()];
            std::construct_at(place, next);
            model.push_back(next++);
          }
          ring.commit(used);
          break;
        }
        case operation::pop: {
          counted out(-7);
          if (model.empty()) {
            RC_ASSERT(ring.try_pop(out) == pop_outcome::empty);
            RC_ASSERT(out.number() == -7);
          } else {
            RC_ASSERT(ring.try_pop(out) == pop_outcome::popped);
            RC_ASSERT(out.number() == take_model(1)[0]);
          }
          break;
        }
        case operation::pop_n: {
          std::vector<counted> out;
          for (std::size_t i = 0; i < count; ++i) out.emplace_back(-7);
          const std::size_t popped = std::min(count, model.size());
          RC_ASSERT(ring.try_pop_n(out) == popped);
          const auto expected = take_model(popped);
          for (std::size_t i = 0; i < count; ++i) {
            RC_ASSERT(out[i].number() == (i < popped ? expected[i] : -7));
          }
          break;
        }
        case operation::consume: {
          std::vector<int> given;
          const std::size_t expected = std::min(count, model.size());
          RC_ASSERT(ring.consume(count, [&](counted&& item) { given.push_back(item.number()); }) == expected);
          RC_ASSERT(given == take_model(expected));
          break;
        }
        case operation::readable: {
          const auto items = ring.readable(count);
          RC_ASSERT(items.size() == std::min(count, model.size()));
          RC_ASSERT(std::ranges::equal(
              numbers_of(items),
              std::vector<int>(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(items.size()))));
          const std::size_t released = (items.size() + 1) / 2;
          ring.release(released);
          take_model(released);
          break;
        }
        case operation::size:
          RC_ASSERT(ring.size() == model.size());
          RC_ASSERT(ring.has_items() == !model.empty());
          RC_ASSERT(ring.free_places(ring.capacity()) == free());
          break;
      }
      RC_ASSERT(lives.surplus() == static_cast<long>(model.size()));
    }
  }
  RC_ASSERT(lives.surplus() == 0);
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

// --- lifetimes -------------------------------------------------------------------------------------------------------

TEST(spsc_ring, destroys_the_items_that_are_left_each_once) {
  const life_balance lives;
  for (const std::uint64_t start : {0ull, 3ull, ~0ull}) {
    spsc_ring<counted> ring(4, start_position{start});
    fill(ring, 0, 3);
    counted out(0);
    ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_ring, holds_types_that_can_only_be_moved) {
  spsc_ring<std::unique_ptr<std::string>> ring(2);
  ASSERT_EQ(ring.try_push(std::make_unique<std::string>("a")), push_outcome::pushed);
  ASSERT_EQ(ring.try_push(std::make_unique<std::string>("b")), push_outcome::pushed);
  auto refused = std::make_unique<std::string>("c");
  ASSERT_EQ(ring.try_push(std::move(refused)), push_outcome::full);
  ASSERT_TRUE(refused);
  std::unique_ptr<std::string> out;
  ASSERT_EQ(ring.try_pop(out), pop_outcome::popped);
  EXPECT_EQ(*out, "a");
}

TEST(spsc_ring, a_push_that_throws_leaves_the_ring_as_it_was) {
  const life_balance lives;
  {
    spsc_ring<counted> ring(4);
    fill(ring, 0, 2);
    counted item(2);
    counted::moves_until_throw() = 1;
    EXPECT_THROW((void)ring.try_push(std::move(item)), counted::thrown);
    EXPECT_EQ(ring.size(), 2u);
    EXPECT_EQ(ring.try_push(std::move(item)), push_outcome::pushed);
    EXPECT_EQ(drain(ring), (std::vector<int>{0, 1, 2}));
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_ring, a_batch_push_that_throws_keeps_the_items_before_it) {
  const life_balance lives;
  for (int throwing = 1; throwing <= 4; ++throwing) {
    spsc_ring<counted> ring(8, start_position{5});
    std::vector<counted> items;
    for (int i = 0; i < 4; ++i) items.emplace_back(i);
    counted::moves_until_throw() = throwing;
    EXPECT_THROW((void)ring.try_push_n(items), counted::thrown);
    std::vector<int> kept(static_cast<std::size_t>(throwing - 1));
    std::iota(kept.begin(), kept.end(), 0);
    EXPECT_EQ(drain(ring), kept);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_ring, a_pop_that_throws_leaves_the_item_in_the_ring) {
  const life_balance lives;
  {
    spsc_ring<counted> ring(4, start_position{3});
    fill(ring, 0, 3);
    std::vector<counted> out;
    for (int i = 0; i < 3; ++i) out.emplace_back(-7);
    counted::moves_until_throw() = 1;
    EXPECT_THROW((void)ring.try_pop(out[0]), counted::thrown);
    EXPECT_EQ(ring.size(), 3u);
    counted::moves_until_throw() = 2;
    EXPECT_THROW((void)ring.try_pop_n(out), counted::thrown);
    EXPECT_EQ(out[0].number(), 0);
    EXPECT_EQ(drain(ring), (std::vector<int>{1, 2}));
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_ring, a_consumer_that_throws_has_had_exactly_the_items_it_was_given) {
  const life_balance lives;
  for (int throwing = 0; throwing < 4; ++throwing) {
    spsc_ring<counted> ring(4, start_position{2});
    fill(ring, 0, 4);
    std::vector<int> given;
    EXPECT_THROW(ring.consume(4,
                              [&](counted&& item) {
                                given.push_back(item.number());
                                if (item.number() == throwing) throw std::runtime_error("enough");
                              }),
                 std::runtime_error);
    std::vector<int> rest = drain(ring);
    given.insert(given.end(), rest.begin(), rest.end());
    EXPECT_EQ(given, (std::vector<int>{0, 1, 2, 3}));
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// --- ends --------------------------------------------------------------------------------------------------------------

TEST(spsc_ring, gives_what_is_in_before_it_says_that_it_has_ended) {
  spsc_ring<counted> ring(4);
  fill(ring, 0, 2);
  ring.close();
  EXPECT_FALSE(ring.ended());
  counted out(-7);
  EXPECT_EQ(ring.try_pop(out), pop_outcome::popped);
  EXPECT_EQ(ring.try_pop(out), pop_outcome::popped);
  EXPECT_EQ(out.number(), 1);
  EXPECT_EQ(ring.try_pop(out), pop_outcome::ended);
  EXPECT_TRUE(ring.ended());
}

TEST(spsc_ring, a_cancelled_ring_takes_nothing_and_leaves_the_item_with_its_owner) {
  const life_balance lives;
  {
    spsc_ring<counted> ring(4);
    fill(ring, 0, 2);
    ring.cancel();
    counted item(2);
    EXPECT_EQ(ring.try_push(std::move(item)), push_outcome::cancelled);
    EXPECT_EQ(item.number(), 2);
    std::vector<counted> items;
    items.emplace_back(3);
    EXPECT_EQ(ring.try_push_n(items), 0u);
    ring.drop_all();
    EXPECT_EQ(lives.surplus(), 2) << "the two of this test, none in the ring";
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue
