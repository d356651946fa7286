// One thread plays several consumers: batches that are open at the same time and given back in any order. What the ring
// has in common with other queues is in testing/every_queue_test.cc.

#include <weir/queue/spmc_ring.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/queue/testing/counted.h>
#include <weir/queue/testing/scripted_sync.h>

namespace weir::queue {
namespace {

using testing::counted;
using testing::life_balance;
using testing::scripted;
using testing::steady;

using ring_of_counted = spmc_ring<counted>;

template <class Ring>
void fill(Ring& ring, int from, int to) {
  for (int i = from; i < to; ++i) {
    ASSERT_EQ(ring.try_relaxed_push(typename Ring::value_type(i)), push_outcome::pushed) << i;
  }
}

template <class Batch>
std::vector<int> numbers_of(const Batch& batch) {
  std::vector<int> numbers;
  for (const auto& item : batch) numbers.push_back(item.number());
  return numbers;
}

// --- batches ---------------------------------------------------------------------------------------------------------

TEST(spmc_ring, gives_each_item_to_one_batch_in_the_order_in_which_they_came) {
  ring_of_counted ring(8, start_position{~0ULL - 2});
  fill(ring, 0, 8);
  const auto first = ring.claim(3);
  const auto second = ring.claim(3);
  const auto third = ring.claim(3);
  const auto none = ring.claim(3);
  EXPECT_EQ(numbers_of(first), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(numbers_of(second), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(numbers_of(third), (std::vector<int>{6, 7}));
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(ring.size(), 0u);
}

TEST(spmc_ring, items_are_destroyed_and_their_places_free_when_their_batch_ends) {
  const life_balance lives;
  ring_of_counted ring(4);
  fill(ring, 0, 4);
  {
    const auto batch = ring.claim(3);
    EXPECT_EQ(lives.surplus(), 4);
    EXPECT_EQ(ring.free_places(4), 0u);
  }
  EXPECT_EQ(lives.surplus(), 1);
  EXPECT_EQ(ring.free_places(4), 3u);
  for (counted& item : ring.claim(64)) EXPECT_EQ(item.number(), 3);
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spmc_ring, a_batch_that_is_left_by_an_exception_gives_its_places_back) {
  const life_balance lives;
  ring_of_counted ring(4);
  fill(ring, 0, 4);
  EXPECT_THROW(
      {
        for (counted& item : ring.claim(3)) {
          if (item.number() == 1) throw std::runtime_error("enough");
        }
      },
      std::runtime_error);
  EXPECT_EQ(lives.surplus(), 1);
  EXPECT_EQ(ring.free_places(4), 3u);
}

TEST(spmc_ring, a_batch_that_was_moved_gives_its_places_back_once) {
  const life_balance lives;
  ring_of_counted ring(4);
  fill(ring, 0, 4);
  {
    std::optional<ring_of_counted::batch> batch(ring.claim(2));
    const ring_of_counted::batch moved(std::move(*batch));
    EXPECT_TRUE(batch->empty());
    batch.reset();
    EXPECT_EQ(lives.surplus(), 4);
    EXPECT_EQ(ring.free_places(4), 0u);
    EXPECT_EQ(numbers_of(moved), (std::vector<int>{0, 1}));
  }
  EXPECT_EQ(lives.surplus(), 2);
  EXPECT_EQ(ring.free_places(4), 2u);
}

TEST(spmc_ring, hands_out_both_sides_of_its_edge_as_two_spans) {
  ring_of_counted ring(8, start_position{6});
  const auto places = ring.prepare(5);
  EXPECT_EQ(places.first.size(), 2u);
  EXPECT_EQ(places.second.size(), 3u);
  fill(ring, 0, 5);
  const auto batch = ring.claim(8);
  EXPECT_EQ(batch.spans().first.size(), 2u);
  EXPECT_EQ(batch.spans().second.size(), 3u);
  EXPECT_EQ(numbers_of(batch), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(spmc_ring, a_claim_of_nothing_takes_nothing) {
  ring_of_counted ring(4);
  fill(ring, 0, 1);
  EXPECT_TRUE(ring.claim(0).empty());
  EXPECT_EQ(ring.size(), 1u);
  EXPECT_EQ(ring.claim(std::numeric_limits<std::size_t>::max()).size(), 1u);
}

TEST(spmc_ring, a_consumer_that_may_have_nothing_in_hand_takes_each_item_by_itself) {
  spmc_ring<int> ring(4);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(ring.try_push(i), push_outcome::pushed);
  ring.close();
  spmc_ring<int>::consumer one_by_one(ring, 0);
  int item = -1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(one_by_one.try_pop(item), pop_outcome::popped);
    EXPECT_EQ(item, i);
    EXPECT_EQ(one_by_one.size(), 0u);
  }
  EXPECT_EQ(one_by_one.try_pop(item), pop_outcome::ended);
}

TEST(spmc_ring, what_a_consumer_still_has_in_hand_is_destroyed_with_it_and_its_places_are_free) {
  const life_balance lives;
  spmc_ring<counted> ring(4);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(ring.try_push(counted(i)), push_outcome::pushed);
  {
    spmc_ring<counted>::consumer hand(ring, 3);
    counted item(-3);
    ASSERT_EQ(hand.try_pop(item), pop_outcome::popped);
    EXPECT_EQ(item.number(), 0);
    EXPECT_EQ(hand.size(), 2u);
  }
  EXPECT_EQ(lives.surplus(), 1);
  EXPECT_EQ(ring.free_places(4), 3u);
}

TEST(spmc_ring, an_item_whose_assignment_throws_stays_in_hand) {
  const life_balance lives;
  spmc_ring<counted> ring(4);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(ring.try_push(counted(i)), push_outcome::pushed);
  {
    spmc_ring<counted>::consumer hand(ring, 4);
    counted item(-3);
    for (int i = 0; i < 3; ++i) {
      counted::moves_until_throw() = 1;
      EXPECT_THROW((void)hand.try_pop(item), counted::thrown);
      counted::moves_until_throw() = 0;
      ASSERT_EQ(hand.try_pop(item), pop_outcome::popped);
      EXPECT_EQ(item.number(), i);
    }
    EXPECT_EQ(hand.try_pop(item), pop_outcome::empty);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spmc_ring, when_closed_has_ended_as_soon_as_every_item_is_claimed) {
  spmc_ring<steady> ring(4);
  fill(ring, 0, 2);
  ring.close();
  steady out(-7);
  const auto batch = ring.claim(2);
  EXPECT_TRUE(ring.ended()) << "for the others there is nothing to come";
  EXPECT_EQ(ring.try_pop(out), pop_outcome::ended);
  EXPECT_EQ(numbers_of(batch), (std::vector<int>{0, 1}));
}

// --- exceptions: where the producer makes items ----------------------------------------------------------------------

TEST(spmc_ring, a_push_that_throws_leaves_the_ring_as_it_was) {
  const life_balance lives;
  for (const bool strict : {false, true}) {
    ring_of_counted ring(4, start_position{3});
    fill(ring, 0, 2);
    counted item(2);
    const auto push = [&] { return strict ? ring.try_push(std::move(item)) : ring.try_relaxed_push(std::move(item)); };
    counted::moves_until_throw() = 1;
    EXPECT_THROW((void)push(), counted::thrown);
    EXPECT_EQ(item.number(), 2);
    EXPECT_EQ(ring.size(), 2u);
    EXPECT_EQ(ring.free_places(4), 2u);
    EXPECT_EQ(push(), push_outcome::pushed);
    EXPECT_EQ(numbers_of(ring.claim(9)), (std::vector<int>{0, 1, 2}));
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(spmc_ring, a_batch_push_that_throws_keeps_the_items_before_it) {
  const life_balance lives;
  for (int throwing = 0; throwing < 4; ++throwing) {
    ring_of_counted ring(4, start_position{~0ULL - 1});
    std::vector<counted> items;
    for (int i = 0; i < 4; ++i) items.emplace_back(i);
    counted::moves_until_throw() = throwing + 1;
    EXPECT_THROW((void)ring.try_push_n(items), counted::thrown);
    const auto kept = ring.claim(9);
    EXPECT_EQ(kept.size(), static_cast<std::size_t>(throwing));
    for (int next = 0; const counted& item : kept) EXPECT_EQ(item.number(), next++);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// --- what is full ----------------------------------------------------------------------------------------------------

// Reported of another library: a producer that knew by its own count that there was room was told `full` while a
// consumer was moving an item out that it had claimed.
TEST(spmc_ring, a_strict_push_waits_for_a_place_that_a_consumer_still_holds_and_never_calls_that_full) {
  for (const std::size_t capacity : {1u, 2u, 4u}) {
    spmc_ring<int, dynamic_capacity, scripted> ring(capacity);
    using batch = decltype(ring)::batch;
    for (std::size_t i = 0; i < capacity; ++i) ASSERT_EQ(ring.try_push(0), push_outcome::pushed);
    std::optional<batch> first(ring.claim(1));
    EXPECT_EQ(ring.size(), capacity - 1);
    EXPECT_EQ(ring.try_relaxed_push(1), push_outcome::full) << "which does not wait, and may say so";
    int looks = 0;
    scripted::meanwhile({[&] { ++looks; }, [&] { ++looks; }, [&] { first.reset(); }}, [&] { first.reset(); });
    EXPECT_EQ(ring.try_push(1), push_outcome::pushed);
    EXPECT_FALSE(scripted::slept_for_ever());
    EXPECT_EQ(looks, 2) << "it looked again until the place was free, and no longer";
    EXPECT_EQ(scripted::sleeps(), 3);
    EXPECT_EQ(ring.size(), capacity);
  }
}

TEST(spmc_ring, a_strict_push_says_full_without_waiting_when_as_many_items_as_it_holds_are_to_be_had) {
  spmc_ring<int, 2, scripted> ring;
  scripted::meanwhile({}, [] {});
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(ring.try_push(0), push_outcome::pushed);
    ASSERT_EQ(ring.try_push(1), push_outcome::pushed);
    EXPECT_EQ(ring.try_push(2), push_outcome::full);
    EXPECT_EQ(ring.claim(2).size(), 2u);
  }
  EXPECT_EQ(scripted::sleeps(), 0);
}

TEST(spmc_ring, a_batch_that_is_held_holds_up_the_places_behind_it_but_not_their_items) {
  ring_of_counted ring(4);
  fill(ring, 0, 4);
  std::optional<ring_of_counted::batch> held(ring.claim(1));
  EXPECT_EQ(numbers_of(ring.claim(2)), (std::vector<int>{1, 2}));
  EXPECT_EQ(ring.free_places(4), 0u);
  EXPECT_EQ(numbers_of(ring.claim(2)), std::vector<int>{3});
  EXPECT_EQ(ring.free_places(4), 0u);
  held.reset();
  EXPECT_EQ(ring.free_places(4), 4u);
}

// --- against a model -------------------------------------------------------------------------------------------------

enum class operation : std::uint8_t { push, relaxed_push, push_n, prepare, claim, end, consume, look };

/// What is in, and what was claimed of it, in the order of the claims.
class run {
  using ring = spmc_ring<steady>;

 public:
  run(std::size_t asked, std::uint64_t start) : ring_(asked, start_position{start}) {}

  void step(operation what, std::size_t count) {
    switch (what) {
      case operation::push:
        return push(true);
      case operation::relaxed_push:
        return push(false);
      case operation::push_n:
        return push_n(count);
      case operation::prepare:
        return prepare(count);
      case operation::claim:
        return claim(count);
      case operation::end:
        return end(count);
      case operation::consume:
        return consume(count);
      case operation::look:
        return look();
    }
  }

  /// How many items there are, claimed or not.
  [[nodiscard]] long items() const {
    long held = static_cast<long>(in_.size());
    for (const claimed& one : claimed_) {
      if (one.batch) held += static_cast<long>(one.count);
    }
    return held;
  }

 private:
  struct claimed {
    std::size_t count;
    std::optional<ring::batch> batch;  // until it ends
  };

  /// Places come back in the order of the claims.
  [[nodiscard]] std::size_t free() const {
    std::size_t held_up = 0;
    for (const claimed& one : claimed_) held_up += one.count;
    return ring_.capacity() - in_.size() - held_up;
  }
  void forget_what_came_back() {
    while (!claimed_.empty() && !claimed_.front().batch) claimed_.pop_front();
  }

  void push(bool strict) {
    const bool is_full = in_.size() == ring_.capacity();
    if (strict && free() == 0 && !is_full) return;  // it would wait
    steady item(next_);
    const push_outcome expected = free() == 0 ? push_outcome::full : push_outcome::pushed;
    RC_ASSERT((strict ? ring_.try_push(std::move(item)) : ring_.try_relaxed_push(std::move(item))) == expected);
    if (expected == push_outcome::pushed) {
      in_.push_back(next_++);
    } else {
      RC_ASSERT(item.number() == next_);
    }
  }

  void push_n(std::size_t count) {
    std::vector<steady> items;
    for (std::size_t i = 0; i < count; ++i) items.emplace_back(next_ + static_cast<int>(i));
    const std::size_t pushed = std::min(count, free());
    RC_ASSERT(ring_.try_push_n(items) == pushed);
    for (std::size_t i = 0; i < count; ++i) {
      RC_ASSERT(items[i].number() == (i < pushed ? steady::taken : next_ + static_cast<int>(i)));
    }
    for (std::size_t i = 0; i < pushed; ++i) in_.push_back(next_++);
  }

  void prepare(std::size_t count) {
    const auto places = ring_.prepare(count);
    RC_ASSERT(places.size() == std::min(count, free()));
    const std::size_t used = (places.size() + 1) / 2;
    for (steady& place : places.up_to(used)) {
      std::construct_at(&place, next_);
      in_.push_back(next_++);
    }
    ring_.commit(used);
  }

  void claim(std::size_t count) {
    auto batch = ring_.claim(count);
    RC_ASSERT(batch.size() == std::min(count, in_.size()));
    for (const int number : numbers_of(batch)) {
      RC_ASSERT(number == in_.front());
      in_.pop_front();
    }
    if (batch) claimed_.push_back({batch.size(), std::optional<ring::batch>(std::move(batch))});
  }

  void end(std::size_t which) {
    if (claimed_.empty()) return;
    std::next(claimed_.begin(), static_cast<std::ptrdiff_t>(which % claimed_.size()))->batch.reset();
    forget_what_came_back();
  }

  void consume(std::size_t count) {
    const std::size_t expected = std::min(count, in_.size());
    std::vector<int> given;
    if (count == 1) {
      steady out(-7);
      RC_ASSERT(ring_.try_pop(out) == (expected == 0 ? pop_outcome::empty : pop_outcome::popped));
      if (expected != 0) given.push_back(out.number());
    } else {
      RC_ASSERT(ring_.consume(count, [&](steady&& item) noexcept { given.push_back(item.number()); }) == expected);
    }
    RC_ASSERT(std::equal(given.begin(), given.end(), in_.begin()));
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(expected));
    if (expected != 0) claimed_.push_back({expected, std::nullopt});
    forget_what_came_back();
  }

  void look() {
    RC_ASSERT(ring_.size() == in_.size());
    RC_ASSERT(ring_.has_items() == !in_.empty());
    RC_ASSERT(ring_.free_places(ring_.capacity()) == free());
  }

  ring ring_;
  std::deque<int> in_;
  std::list<claimed> claimed_;
  int next_ = 0;
};

RC_GTEST_PROP(spmc_ring, behaves_as_a_bounded_deque_however_batches_are_claimed_held_and_given_back, ()) {
  const auto operations = rc::gen::weightedElement<operation>({{6, operation::push},
                                                               {6, operation::relaxed_push},
                                                               {6, operation::push_n},
                                                               {6, operation::prepare},
                                                               {9, operation::claim},
                                                               {6, operation::end},
                                                               {3, operation::consume},
                                                               {3, operation::look}});
  const auto starts = rc::gen::element<std::uint64_t>(0, (1ULL << 31) - 5, (1ULL << 32) - 5, (1ULL << 62) - 5,
                                                      (1ULL << 63) - 5, std::numeric_limits<std::uint64_t>::max() - 7);
  const life_balance lives;
  {
    run run(*rc::gen::inRange<std::size_t>(1, 18), *starts);
    const auto steps = *rc::gen::scale(4, rc::gen::container<std::vector<std::pair<operation, std::size_t>>>(
                                              rc::gen::pair(operations, rc::gen::inRange<std::size_t>(0, 8))));
    for (const auto& [what, count] : steps) {
      run.step(what, count);
      RC_ASSERT(lives.surplus() == run.items());
    }
  }
  RC_ASSERT(lives.surplus() == 0);
}

}  // namespace
}  // namespace weir::queue
