// Where a chain differs from a ring: it takes memory as it needs it, and its items lie in chunks. What it has in common
// with other queues is in testing/every_queue_test.cc.

#include <weir/queue/spsc_chain.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/allocation_count.h>
#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::allocation_count;
using testing::counted;
using testing::life_balance;

using chain_of_counted = spsc_chain<counted>;

constexpr auto places_in_object = static_cast<int>(chain_of_counted::inline_items);

template <class Chain>
void fill(Chain& chain, int from, int to) {
  for (int i = from; i < to; ++i) ASSERT_EQ(chain.try_push(typename Chain::value_type(i)), push_outcome::pushed);
}

std::vector<int> numbers_of(const ring_spans<counted>& spans) {
  std::vector<int> numbers;
  for (const counted& item : spans) numbers.push_back(item.number());
  return numbers;
}

std::vector<int> range(int from, int to) {
  std::vector<int> numbers;
  for (int i = from; i < to; ++i) numbers.push_back(i);
  return numbers;
}

std::vector<int> drain(chain_of_counted& chain) {
  std::vector<int> numbers;
  chain.consume(std::numeric_limits<std::size_t>::max(), [&](counted&& item) { numbers.push_back(item.number()); });
  return numbers;
}

// --- memory ----------------------------------------------------------------------------------------------------------

TEST(spsc_chain, allocates_nothing_for_as_many_items_as_lie_in_the_object) {
  const allocation_count memory;
  spsc_chain<int> chain;
  fill(chain, 0, static_cast<int>(spsc_chain<int>::inline_items));
  EXPECT_EQ(chain.consume(100, [](int&&) {}), spsc_chain<int>::inline_items);
  EXPECT_EQ(memory.made(), 0u);
}

TEST(spsc_chain, allocates_nothing_while_items_do_not_pile_up) {
  for (const std::size_t chunk_items : {1u, 2u, 3u, 16u}) {
    for (const int in_flight : {1, 2, 5}) {
      const allocation_count memory;
      spsc_chain<int> chain({.chunk_items = chunk_items});
      std::size_t made = 0;
      int next = 0;
      int expected = 0;
      for (int round = 0; round < 10'000; ++round) {
        for (int i = 0; i < in_flight; ++i) ASSERT_EQ(chain.try_push(next++), push_outcome::pushed);
        for (int i = 0; i < in_flight; ++i) {
          int out = -1;
          ASSERT_EQ(chain.try_pop(out), pop_outcome::popped);
          ASSERT_EQ(out, expected++);
        }
        if (round == 100) made = memory.made();
      }
      // A chunk more at a time is in use than the one spare that comes back if the items of a round fill several.
      if (static_cast<std::size_t>(in_flight) <= chunk_items) {
        EXPECT_EQ(memory.made(), made) << chunk_items << " " << in_flight;
        EXPECT_LE(made, 3u);
      }
    }
  }
}

TEST(spsc_chain, keeps_three_chunks_at_most_of_a_burst_that_is_over) {
  for (const std::size_t chunk_items : {1u, 2u, 3u, 16u, 1000u}) {
    const allocation_count memory;
    {
      spsc_chain<int> chain({.chunk_items = chunk_items});
      for (int burst = 0; burst < 3; ++burst) {
        fill(chain, 0, 10'000);
        const auto needed = static_cast<long>((10'000 - spsc_chain<int>::inline_items) / chunk_items);
        EXPECT_GE(memory.kept(), needed);
        EXPECT_LE(memory.kept(), static_cast<long>((10'000 + chunk_items - 1) / chunk_items + 3));
        int next = 0;
        bool in_order = true;
        EXPECT_EQ(chain.consume(20'000, [&](int&& item) { in_order = in_order && item == next++; }), 10'000u);
        EXPECT_TRUE(in_order);
        EXPECT_LE(memory.kept(), 3);
        EXPECT_EQ(chain.prepare(chunk_items + 1).empty(), false);
        EXPECT_LE(memory.kept(), 3) << "one that is prepared included";
      }
    }
    EXPECT_EQ(memory.kept(), 0);
  }
}

TEST(spsc_chain, holds_chunks_for_the_items_that_are_in_and_three_more_at_most) {
  const allocation_count memory;
  spsc_chain<int> chain({.chunk_items = 4});
  std::uint32_t random = 1;
  std::size_t in = 0;
  for (int step = 0; step < 20'000; ++step) {
    random = random * 1'664'525 + 1'013'904'223;
    const std::size_t count = (random >> 16) % 13;
    if ((random >> 30) % 2 == 0) {
      const auto places = chain.prepare(count);
      for (int& place : places) std::construct_at(&place, 0);
      chain.commit(places.size());
      in += places.size();
    } else {
      in -= chain.consume(count, [](int&&) {});
    }
    ASSERT_EQ(chain.size(), in);
    ASSERT_LE(memory.kept(), static_cast<long>((in + 3) / 4 + 3));
  }
}

TEST(spsc_chain, a_push_that_gets_no_memory_leaves_the_chain_and_the_item_as_they_were) {
  const life_balance lives;
  for (const std::size_t chunk_items : {1u, 3u}) {
    allocation_count memory;
    {
      chain_of_counted chain({.chunk_items = chunk_items});
      fill(chain, 0, places_in_object);
      std::vector<counted> batch;
      batch.reserve(4);
      for (int i = 0; i < 4; ++i) batch.emplace_back(places_in_object + i);
      memory.fail_from(1);
      // Tested without EXPECT, which allocates.
      int failed = 0;
      for (int attempt = 0; attempt < 4; ++attempt) {
        try {
          if (attempt == 0) (void)chain.try_push(std::move(batch[0]));
          if (attempt == 1) (void)chain.try_emplace(7);
          if (attempt == 2) (void)chain.try_push_n(batch);
          if (attempt == 3) (void)chain.prepare(1);
        } catch (const std::bad_alloc&) {
          ++failed;
        }
      }
      memory.fail_from(0);
      EXPECT_EQ(failed, 4);
      EXPECT_EQ(chain.size(), chain_of_counted::inline_items);
      for (int i = 0; i < 4; ++i) EXPECT_EQ(batch[static_cast<std::size_t>(i)].number(), places_in_object + i);
      EXPECT_EQ(chain.try_push_n(batch), 4u) << "it goes on when there is memory again";
      EXPECT_EQ(drain(chain), range(0, places_in_object + 4));
    }
    EXPECT_EQ(memory.kept(), 0);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_chain, a_batch_that_runs_out_of_memory_in_the_middle_is_in_up_to_there_and_no_item_is_lost) {
  const life_balance lives;
  for (std::size_t chunks = 0; chunks < 5; ++chunks) {
    allocation_count memory;
    chain_of_counted chain({.chunk_items = 2});
    constexpr int total = places_in_object + 10;
    std::vector<counted> batch;
    batch.reserve(static_cast<std::size_t>(total));
    for (int i = 0; i < total; ++i) batch.emplace_back(i);
    memory.fail_from(chunks + 1);
    bool failed = false;
    try {
      (void)chain.try_push_n(batch);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    memory.fail_from(0);
    EXPECT_TRUE(failed);
    const std::vector<int> in = drain(chain);
    EXPECT_EQ(in, range(0, static_cast<int>(in.size())));
    EXPECT_EQ(in.size(), chain_of_counted::inline_items + 2 * chunks) << "every place that there was is used";
    for (std::size_t i = 0; i < batch.size(); ++i) {
      EXPECT_EQ(batch[i].number(), i < in.size() ? counted::taken : static_cast<int>(i));
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_chain, places_that_are_left_in_a_chunk_are_offered_when_there_is_no_memory_for_the_next) {
  allocation_count memory;
  spsc_chain<int> chain({.chunk_items = 4});
  const auto left = static_cast<int>(spsc_chain<int>::inline_items) - 3;
  fill(chain, 0, left);
  memory.fail_from(1);
  std::size_t offered = 0;
  try {
    offered = chain.prepare(5).size();
  } catch (const std::bad_alloc&) {
  }
  memory.fail_from(0);
  EXPECT_EQ(offered, 3u);
  EXPECT_EQ(chain.prepare(5).size(), 5u) << "and all of them when there is memory again";
}

TEST(spsc_chain, refuses_a_chunk_that_no_memory_can_hold) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  const auto make = [](std::size_t items) { spsc_chain<std::uint64_t> chain({.chunk_items = items}); };
  for (const std::size_t items : {most, most - 1, most / 2, most / 8, most / 16 + 1}) {
    EXPECT_THROW(make(items), std::length_error) << items;
  }
  EXPECT_NO_THROW(make(most / 16 - 100));
}

TEST(spsc_chain, without_a_bound_is_never_full) {
  spsc_chain<int> chain({.chunk_items = 64}, start_position{~0ULL - 1000});
  fill(chain, 0, 50'000);
  EXPECT_EQ(chain.size(), 50'000u);
}

TEST(spsc_chain, with_a_bound_of_nothing_is_always_full) {
  spsc_chain<int> chain({.items_max = 0});
  EXPECT_EQ(chain.try_push(1), push_outcome::full);
  EXPECT_TRUE(chain.prepare(1).empty());
}

// --- chunks ----------------------------------------------------------------------------------------------------------

TEST(spsc_chain, hands_out_both_sides_of_the_edge_of_a_chunk_as_two_spans) {
  chain_of_counted chain({.chunk_items = 4});
  fill(chain, 0, places_in_object - 2);
  const auto places = chain.prepare(100);
  EXPECT_EQ(places.first.size(), 2u);
  EXPECT_EQ(places.second.size(), 4u);
  fill(chain, places_in_object - 2, places_in_object + 3);
  EXPECT_EQ(chain.consume(chain_of_counted::inline_items - 1, [](counted&&) {}), chain_of_counted::inline_items - 1);
  const auto items = chain.readable(100);
  EXPECT_EQ(items.first.size(), 1u);
  EXPECT_EQ(items.second.size(), 3u);
  EXPECT_EQ(numbers_of(items), range(places_in_object - 1, places_in_object + 3));
}

TEST(spsc_chain, prepared_places_are_offered_again_until_they_are_committed) {
  for (const std::size_t chunk_items : {1u, 3u}) {
    chain_of_counted chain({.chunk_items = chunk_items});
    fill(chain, 0, places_in_object - 1);
    const auto once = chain.prepare(2);
    const auto again = chain.prepare(2);
    ASSERT_EQ(once.size(), 2u);
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(&once[0], &again[0]);
    EXPECT_EQ(&once[1], &again[1]);
    chain.commit(0);
    std::construct_at(&again[0], places_in_object - 1);
    chain.commit(1);
    const auto rest = chain.prepare(1);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(&rest[0], &again[1]);
    fill(chain, places_in_object, places_in_object + 10);
    EXPECT_EQ(drain(chain), range(0, places_in_object + 10));
  }
}

TEST(spsc_chain, what_is_released_is_destroyed_also_over_the_edge_of_a_chunk) {
  const life_balance lives;
  {
    chain_of_counted chain({.chunk_items = 3});
    fill(chain, 0, places_in_object + 6);
    long left = places_in_object + 6;
    for (int next = 0; left != 0;) {
      const auto items = chain.readable(5);
      ASSERT_FALSE(items.empty());
      for (const counted& item : items) ASSERT_EQ(item.number(), next++);
      chain.release(items.size());
      left -= static_cast<long>(items.size());
      EXPECT_EQ(lives.surplus(), left);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_chain, an_item_that_throws_when_it_is_made_at_the_edge_of_a_chunk_costs_nothing) {
  const life_balance lives;
  {
    chain_of_counted chain({.chunk_items = 2});
    int next = 0;
    for (; next < places_in_object + 9; ++next) {
      counted item(next);
      counted::moves_until_throw() = 1;
      EXPECT_THROW((void)chain.try_push(std::move(item)), counted::thrown);
      EXPECT_EQ(chain.try_push(std::move(item)), push_outcome::pushed);
    }
    EXPECT_EQ(drain(chain), range(0, next));
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spsc_chain, a_chain_that_is_destroyed_frees_its_items_and_chunks_wherever_its_sides_are) {
  const life_balance lives;
  const allocation_count memory;
  for (const std::size_t chunk_items : {1u, 2u, 3u}) {
    for (int pushed = 0; pushed < places_in_object + 8; ++pushed) {
      for (const int popped : {0, pushed / 2, pushed}) {
        chain_of_counted chain({.chunk_items = chunk_items});
        fill(chain, 0, pushed);
        for (int i = 0; i < popped; ++i) {
          counted out(-7);
          ASSERT_EQ(chain.try_pop(out), pop_outcome::popped);
        }
        if (pushed % 2 == 0) (void)chain.prepare(5);
      }
    }
  }
  EXPECT_EQ(memory.kept(), 0);
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue
