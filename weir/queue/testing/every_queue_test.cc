// What every queue promises, whatever it is made for: capacity, refusal, ends, lifetimes, memory. One thread only; the
// order of several is the stress tests' and the model checker's.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/allocation_count.h>
#include <weir/queue/testing/queue_kinds.h>

namespace weir::queue::testing {
namespace {

// Positions pass 2^31, 2^32, 2^63 and 2^64 within a few items.
constexpr std::uint64_t starts[] = {0, (1ULL << 31) - 3, (1ULL << 32) - 3, (1ULL << 63) - 3, ~0ULL - 2};

/// Only movable, no default constructor, wider than what separates two threads' data.
struct alignas(256) wide {
  explicit wide(int n) : number(std::make_unique<int>(n)) {}
  std::unique_ptr<int> number;
  [[nodiscard]] bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(this) % 256 == 0; }
};

template <class Queue>
void fill(Queue& queue, int from, int to) {
  using item = typename Queue::value_type;
  for (int i = from; i < to; ++i) ASSERT_EQ(queue.try_push(item(i)), push_outcome::pushed) << i;
}

template <class Queue>
std::vector<int> drain(Queue& queue) {
  std::vector<int> numbers;
  // noexcept, because some queues ask for it.
  const auto keep = [&](typename Queue::value_type&& item) noexcept { numbers.push_back(item.number()); };
  // Twice is enough for what is in; more often would be without end if nothing went out.
  for (int times = 0; times < 2 && queue.consume(1'000, keep) != 0; ++times) {
  }
  return numbers;
}

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = i;
  return numbers;
}

/// Says no more than that the queue takes nothing, however it is asked, and leaves what it was offered alone.
template <class Queue>
void expect_refusal(Queue& queue, push_outcome why) {
  using item = typename Queue::value_type;
  item one(1);
  EXPECT_EQ(queue.try_push(std::move(one)), why);
  EXPECT_EQ(one.number(), 1);
  if constexpr (requires { queue.try_emplace(1); }) {
    EXPECT_EQ(queue.try_emplace(2), why);
    EXPECT_EQ(queue.try_emplace(std::move(one)), why);
    EXPECT_EQ(one.number(), 1);
  }
  if constexpr (requires { queue.try_relaxed_push(std::move(one)); }) {
    EXPECT_EQ(queue.try_relaxed_push(std::move(one)), why);
    EXPECT_EQ(one.number(), 1);
  }
  std::vector<item> several;
  for (int i = 0; i < 3; ++i) several.emplace_back(i);
  EXPECT_EQ(queue.try_push_n(several), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(several[static_cast<std::size_t>(i)].number(), i);
}

template <class Kind>
class every_queue : public ::testing::Test {};
TYPED_TEST_SUITE(every_queue, every_kind, kind_names);

// --- full and empty --------------------------------------------------------------------------------------------------

TYPED_TEST(every_queue, is_full_exactly_at_its_capacity_and_empty_exactly_at_nothing) {
  using item = typename TypeParam::item;
  for (const std::size_t asked : {1u, 2u, 8u}) {
    for (const std::uint64_t start : starts) {
      auto queue = TypeParam::template make<item>(asked, start_position{start});
      const auto room = static_cast<int>(TypeParam::room(asked));
      item out(0);
      for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(queue.try_pop(out), pop_outcome::empty);
        EXPECT_FALSE(queue.has_items());
        fill(queue, 0, room);
        EXPECT_EQ(queue.try_push(item(99)), push_outcome::full);
        for (int i = 0; i < room; ++i) {
          ASSERT_EQ(queue.try_pop(out), pop_outcome::popped);
          EXPECT_EQ(out.number(), i);
          ASSERT_EQ(queue.try_push(item(7)), push_outcome::pushed) << "one pop frees one place";
          ASSERT_EQ(queue.try_push(item(8)), push_outcome::full);
        }
        EXPECT_EQ(drain(queue), std::vector<int>(TypeParam::room(asked), 7));
      }
    }
  }
}

TYPED_TEST(every_queue, a_full_one_leaves_the_refused_item_alone_and_keeps_its_own) {
  using item = typename TypeParam::item;
  auto queue = TypeParam::template make<item>(4);
  const auto room = static_cast<int>(TypeParam::room(4));
  fill(queue, 0, room);
  expect_refusal(queue, push_outcome::full);
  EXPECT_EQ(drain(queue), up_to(room));
}

TYPED_TEST(every_queue, takes_a_copy_of_an_item_that_is_only_lent) {
  auto queue = TypeParam::template make<std::string>(1);
  const std::string lent = "long enough to be on the heap, where a move would leave nothing";
  const std::string before = lent;
  for (std::size_t i = 0; i < TypeParam::room(1); ++i) {
    ASSERT_EQ(queue.try_push(lent), push_outcome::pushed);
    EXPECT_EQ(lent, before);
  }
  EXPECT_EQ(queue.try_push(lent), push_outcome::full);
  EXPECT_EQ(lent, before);
  std::string out;
  ASSERT_EQ(queue.try_pop(out), pop_outcome::popped);
  EXPECT_EQ(out, before);
}

TYPED_TEST(every_queue, takes_the_first_of_a_batch_for_which_it_has_room_and_leaves_the_others_alone) {
  using item = typename TypeParam::item;
  for (const std::size_t asked : {1u, 2u, 3u, 8u}) {
    const auto room = static_cast<int>(TypeParam::room(asked));
    for (int taken_before = 0; taken_before <= room; ++taken_before) {
      auto queue = TypeParam::template make<item>(asked, start_position{~0ULL - 1});
      fill(queue, 0, taken_before);
      std::vector<item> batch;
      for (int i = taken_before; i < room + 2; ++i) batch.emplace_back(i);
      EXPECT_EQ(queue.try_push_n({}), 0u);
      EXPECT_EQ(queue.try_push_n(batch), static_cast<std::size_t>(room - taken_before));
      for (int i = taken_before; i < room + 2; ++i) {
        EXPECT_EQ(batch[static_cast<std::size_t>(i - taken_before)].number(), i < room ? counted::taken : i);
      }
      EXPECT_EQ(drain(queue), up_to(room));
    }
  }
}

TYPED_TEST(every_queue, says_how_many_items_are_in_it_and_never_more_than_it_holds) {
  using item = typename TypeParam::item;
  for (const std::uint64_t start : starts) {
    auto queue = TypeParam::template make<item>(4, start_position{start});
    const std::size_t room = TypeParam::room(4);
    item out(0);
    for (int round = 0; round < 10; ++round) {
      EXPECT_EQ(queue.size(), 0u);
      for (std::size_t i = 1; i <= room; ++i) {
        fill(queue, 0, 1);
        EXPECT_EQ(queue.size(), i);
        EXPECT_TRUE(queue.has_items());
      }
      (void)queue.try_push(item(9));
      EXPECT_EQ(queue.size(), room);
      for (std::size_t i = room; i-- > 0;) {
        ASSERT_EQ(queue.try_pop(out), pop_outcome::popped);
        EXPECT_EQ(queue.size(), i);
      }
    }
  }
}

// --- ends ------------------------------------------------------------------------------------------------------------

TYPED_TEST(every_queue, when_closed_refuses_more_and_gives_what_is_in_before_it_has_ended) {
  using item = typename TypeParam::item;
  for (const std::uint64_t start : starts) {
    auto queue = TypeParam::template make<item>(2, start_position{start});
    const auto room = static_cast<int>(TypeParam::room(2));
    fill(queue, 0, room);
    queue.close();
    expect_refusal(queue, push_outcome::closed);
    item out(-7);
    for (int i = 0; i < room; ++i) {
      EXPECT_FALSE(queue.ended());
      ASSERT_EQ(queue.try_pop(out), pop_outcome::popped);
      EXPECT_EQ(out.number(), i);
    }
    EXPECT_TRUE(queue.ended());
    EXPECT_EQ(queue.try_pop(out), pop_outcome::ended);
    EXPECT_EQ(queue.try_pop(out), pop_outcome::ended) << "it ends for good";
    EXPECT_EQ(out.number(), room - 1) << "what is not popped is not written";
    expect_refusal(queue, push_outcome::closed);
  }
}

TYPED_TEST(every_queue, when_closed_with_nothing_in_it_has_ended) {
  auto queue = TypeParam::template make<int>(2);
  int out = -7;
  EXPECT_FALSE(queue.ended());
  EXPECT_EQ(queue.try_pop(out), pop_outcome::empty);
  queue.close();
  queue.close();
  EXPECT_TRUE(queue.ended());
  EXPECT_EQ(queue.try_pop(out), pop_outcome::ended);
  EXPECT_EQ(out, -7);
}

TYPED_TEST(every_queue, when_cancelled_refuses_more_and_destroys_what_is_in) {
  const life_balance lives;
  for (const bool close_too : {false, true}) {
    auto queue = TypeParam::template make<typename TypeParam::item>(2);
    EXPECT_FALSE(queue.cancelled());
    fill(queue, 0, 1);
    if (close_too) queue.close();
    queue.cancel();
    EXPECT_TRUE(queue.cancelled());
    expect_refusal(queue, push_outcome::cancelled);
    EXPECT_EQ(lives.surplus(), 1);
    if constexpr (requires { queue.drop_all(); }) {
      queue.drop_all();
      EXPECT_EQ(lives.surplus(), 0);
      queue.drop_all();
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// --- lifetimes -------------------------------------------------------------------------------------------------------

TYPED_TEST(every_queue, destroys_the_items_that_are_left_each_once) {
  using item = typename TypeParam::item;
  const life_balance lives;
  for (const std::uint64_t start : starts) {
    for (int popped = 0; popped <= 3; ++popped) {
      auto queue = TypeParam::template make<item>(4, start_position{start});
      const auto room = static_cast<int>(TypeParam::room(4));
      item out(0);
      fill(queue, 0, room);
      for (int i = 0; i < std::min(popped, room); ++i) {
        ASSERT_EQ(queue.try_pop(out), pop_outcome::popped);
        fill(queue, room + i, room + i + 1);
      }
      EXPECT_EQ(lives.surplus(), room + 1);
    }
    EXPECT_EQ(lives.surplus(), 0);
  }
}

TYPED_TEST(every_queue, an_item_that_was_taken_out_leaves_nothing_behind_in_its_place) {
  using item = typename TypeParam::item;
  const life_balance lives;
  auto queue = TypeParam::template make<item>(4, start_position{~0ULL - 1});
  const auto room = static_cast<int>(TypeParam::room(4));
  std::vector<item> out;
  for (int i = 0; i < room; ++i) out.emplace_back(-7);
  fill(queue, 0, room);
  EXPECT_EQ(lives.surplus(), 2 * room);
  if constexpr (requires { queue.try_pop_n(out); }) {
    EXPECT_EQ(queue.try_pop_n(out), static_cast<std::size_t>(room));
    for (int i = 0; i < room; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)].number(), i);
    EXPECT_EQ(lives.surplus(), room);
    fill(queue, 0, room);
  }
  drain(queue);
  EXPECT_EQ(lives.surplus(), room);
}

TYPED_TEST(every_queue, holds_items_that_are_wide_and_can_only_be_moved) {
  auto queue = TypeParam::template make<wide>(3, start_position{2});
  const std::size_t room = TypeParam::room(3);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < room; ++i) {
      ASSERT_EQ(queue.try_push(wide(static_cast<int>(i))), push_outcome::pushed);
    }
    wide refused(9);
    ASSERT_EQ(queue.try_push(std::move(refused)), push_outcome::full);
    EXPECT_EQ(*refused.number, 9);
    int next = 0;
    bool aligned = true;
    while (queue.consume(2, [&](wide&& item) noexcept {
      aligned = aligned && item.is_aligned() && item.number && *item.number == next++;
    }) != 0) {
    }
    EXPECT_TRUE(aligned);
    EXPECT_EQ(next, static_cast<int>(room));
  }
}

struct own_address_operator {
  int number;
  explicit own_address_operator(int of) : number(of) {}
  own_address_operator(own_address_operator&& other) noexcept(false) : number(other.number) {}
  own_address_operator& operator=(own_address_operator&& other) noexcept(false) {
    number = other.number;
    return *this;
  }
  void operator&() const = delete;
};

TYPED_TEST(every_queue, holds_items_that_have_an_address_operator_of_their_own) {
  auto queue = TypeParam::template make<own_address_operator>(4);
  std::vector<own_address_operator> items;
  for (int i = 1; i <= static_cast<int>(TypeParam::room(4)); ++i) items.emplace_back(i);
  ASSERT_EQ(queue.try_push_n(items), items.size());
  int next = 1;
  while (queue.consume(2, [&](own_address_operator&& item) noexcept { next += item.number == next ? 1 : 0; }) != 0) {
  }
  EXPECT_EQ(next, static_cast<int>(items.size()) + 1);
  ASSERT_EQ(queue.try_push(own_address_operator(3)), push_outcome::pushed);
}

// --- memory ----------------------------------------------------------------------------------------------------------

template <class Kind>
class every_ring : public ::testing::Test {};
TYPED_TEST_SUITE(every_ring, every_ring_kind, kind_names);

TYPED_TEST(every_ring, allocates_nothing_after_it_is_made_and_in_its_object_not_even_then) {
  const allocation_count memory;
  {
    auto ring = TypeParam::template make<int>(8);
    const std::size_t made = memory.made();
    EXPECT_EQ(made == 0, TypeParam::is_in_its_object);
    int items[5] = {1, 2, 3, 4, 5};
    for (int round = 0; round < 20; ++round) {
      (void)ring.try_push_n(items);
      (void)ring.try_push(1);
      (void)ring.consume(3, [](int&&) noexcept {});
      (void)ring.try_pop(items[0]);
      (void)ring.consume(100, [](int&&) noexcept {});
    }
    ring.close();
    EXPECT_EQ(memory.made(), made);
  }
  EXPECT_EQ(memory.kept(), 0);
}

TYPED_TEST(every_ring, one_that_gets_no_memory_gives_back_what_it_had) {
  std::size_t needed = 0;
  {
    const allocation_count memory;
    auto ring = TypeParam::template make<int>(8);
    needed = memory.made();
  }
  for (std::size_t request = 1; request <= needed; ++request) {
    allocation_count memory;
    memory.fail_from(request);
    bool failed = false;
    try {
      auto ring = TypeParam::template make<int>(8);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    memory.fail_from(0);
    EXPECT_TRUE(failed);
    EXPECT_EQ(memory.kept(), 0);
  }
}

// --- capacity --------------------------------------------------------------------------------------------------------

template <class Kind>
class sized_queue : public ::testing::Test {};
using sized_kinds = ::testing::Types<spsc, mpsc, spmc, boxed>;
TYPED_TEST_SUITE(sized_queue, sized_kinds, kind_names);

TYPED_TEST(sized_queue, rounds_its_capacity_up_to_a_power_of_two) {
  const std::vector<std::pair<std::size_t, std::size_t>> cases = {
      {0, 1},   {1, 1},   {2, 2},   {3, 4},    {4, 4},       {5, 8},      {16, 16},
      {17, 32}, {63, 64}, {64, 64}, {65, 128}, {1000, 1024}, {1025, 2048}};
  for (const auto& [asked, got] : cases) EXPECT_EQ(TypeParam::template make<int>(asked).capacity(), got) << asked;
}

TYPED_TEST(sized_queue, refuses_a_capacity_that_no_memory_can_hold) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t items :
       {most, most - 1, most / 2 + 2, most / 2 + 1, most / 2, (most >> 3) + 1, (most >> 4) + 2}) {
    EXPECT_THROW(TypeParam::template make<std::uint64_t>(items), std::length_error) << items;
    EXPECT_THROW(TypeParam::template make<wide>(items), std::length_error) << items;
  }
}

TEST(queue_in_its_object, holds_what_its_type_says) {
  EXPECT_EQ((spsc_ring<int, 8>().capacity()), 8u);
  EXPECT_EQ((mpsc_ring<int, 4>().capacity()), 4u);
  EXPECT_EQ((spmc_ring<int, 1>().capacity()), 1u);
  EXPECT_EQ((mailbox<int, 2>().capacity()), 2u);
}

// --- exceptions: the queues with one consumer ------------------------------------------------------------------------

template <class Kind>
class single_consumer_queue : public ::testing::Test {};
using throwing_kinds =
    ::testing::Types<spsc, spsc_in_place, mpsc, boxed, chain_of_one, chain_of_three, chain_of_sixteen>;
TYPED_TEST_SUITE(single_consumer_queue, throwing_kinds, kind_names);

TYPED_TEST(single_consumer_queue, a_push_that_throws_leaves_the_items_that_are_in_and_its_own) {
  const life_balance lives;
  for (int before = 0; before <= 3; ++before) {
    auto queue = TypeParam::template make<counted>(4, start_position{2});
    fill(queue, 0, before);
    counted item(before);
    counted::moves_until_throw() = 1;
    EXPECT_THROW((void)queue.try_push(std::move(item)), counted::thrown);
    EXPECT_EQ(item.number(), before);
    EXPECT_EQ(lives.surplus(), before + 1);
    EXPECT_EQ(drain(queue), up_to(before));
    EXPECT_EQ(queue.try_push(std::move(item)), push_outcome::pushed) << "it goes on";
    EXPECT_EQ(drain(queue), std::vector<int>{before});
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TYPED_TEST(single_consumer_queue, a_batch_push_that_throws_keeps_the_items_before_it) {
  const life_balance lives;
  for (const std::uint64_t start : starts) {
    for (int throwing = 0; throwing < 4; ++throwing) {
      auto queue = TypeParam::template make<counted>(4, start_position{start});
      std::vector<counted> items;
      for (int i = 0; i < 4; ++i) items.emplace_back(i);
      counted::moves_until_throw() = throwing + 1;
      EXPECT_THROW((void)queue.try_push_n(items), counted::thrown);
      for (int i = throwing; i < 4; ++i) EXPECT_EQ(items[static_cast<std::size_t>(i)].number(), i);
      EXPECT_EQ(drain(queue), up_to(throwing));
      fill(queue, 0, 4);
      EXPECT_EQ(drain(queue), up_to(4)) << "it goes on";
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TYPED_TEST(single_consumer_queue, a_pop_that_throws_leaves_the_item_and_those_behind_it) {
  const life_balance lives;
  for (const std::uint64_t start : starts) {
    for (int throwing = 0; throwing < 4; ++throwing) {
      auto queue = TypeParam::template make<counted>(4, start_position{start});
      fill(queue, 0, 4);
      std::vector<counted> out;
      for (int i = 0; i < 4; ++i) out.emplace_back(-7);
      counted::moves_until_throw() = 1;
      EXPECT_THROW((void)queue.try_pop(out[0]), counted::thrown);
      EXPECT_EQ(out[0].number(), -7);
      EXPECT_EQ(queue.size(), 4u);
      int had = 0;
      if constexpr (requires { queue.try_pop_n(out); }) {
        counted::moves_until_throw() = throwing + 1;
        EXPECT_THROW((void)queue.try_pop_n(out), counted::thrown);
        for (had = 0; had < throwing; ++had) EXPECT_EQ(out[static_cast<std::size_t>(had)].number(), had);
      }
      EXPECT_EQ(queue.size(), static_cast<std::size_t>(4 - had));
      std::vector<int> all = up_to(had);
      for (const int number : drain(queue)) all.push_back(number);
      EXPECT_EQ(all, up_to(4));
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TYPED_TEST(single_consumer_queue, a_consumer_that_throws_has_had_exactly_the_items_it_was_given) {
  const life_balance lives;
  for (const std::uint64_t start : starts) {
    for (int throwing = 0; throwing < 4; ++throwing) {
      auto queue = TypeParam::template make<counted>(4, start_position{start});
      fill(queue, 0, 4);
      std::vector<int> given;
      EXPECT_THROW(queue.consume(4,
                                 [&](counted&& item) {
                                   given.push_back(item.number());
                                   if (item.number() == throwing) throw std::runtime_error("enough");
                                 }),
                   std::runtime_error);
      EXPECT_EQ(given, up_to(throwing + 1));
      EXPECT_EQ(queue.size(), static_cast<std::size_t>(3 - throwing));
      for (const int number : drain(queue)) given.push_back(number);
      EXPECT_EQ(given, up_to(4));
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue::testing
