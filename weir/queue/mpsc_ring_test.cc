// One thread plays several producers: reservations that are open at the same time and published in any order. What the
// ring has in common with other queues is in testing/every_queue_test.cc.

#include <weir/queue/mpsc_ring.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
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

using ring_of_counted = mpsc_ring<counted>;

/// Throws when it is made from 13.
struct picky : counted {
  explicit picky(int number) : counted(number) {
    if (number == 13) throw counted::thrown();
  }
};

template <class Ring>
std::vector<int> drain(Ring& ring) {
  std::vector<int> numbers;
  // As often as there can be places in between that were given up; more often would be without end if nothing went out.
  for (std::size_t times = 0; times < ring.capacity(); ++times) {
    ring.consume(1'000, [&](counted&& item) { numbers.push_back(item.number()); });
  }
  return numbers;
}

std::vector<int> numbers_of(const ring_spans<counted>& spans) {
  std::vector<int> numbers;
  for (const counted& item : spans) numbers.push_back(item.number());
  return numbers;
}

// --- reservations ----------------------------------------------------------------------------------------------------

TEST(mpsc_ring, gives_items_in_the_order_of_their_claims_whatever_the_order_of_publishing) {
  ring_of_counted ring(8);
  counted out(-7);
  {
    auto first = ring.reserve(2);
    auto second = ring.reserve(2);
    second.emplace(2);
    second.emplace(3);
    second.publish();
    EXPECT_EQ(ring.size(), 4u) << "items on their way in count";
    EXPECT_FALSE(ring.has_items());
    EXPECT_EQ(ring.try_pop(out), pop_outcome::in_flight);
    EXPECT_EQ(ring.try_relaxed_pop(out), pop_outcome::empty);
    first.emplace(0);
    first.emplace(1);
    EXPECT_EQ(ring.try_pop(out), pop_outcome::in_flight) << "emplaced is not yet published";
  }
  EXPECT_EQ(ring.try_relaxed_pop(out), pop_outcome::popped);
  EXPECT_EQ(out.number(), 0);
  EXPECT_EQ(drain(ring), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(ring.try_pop(out), pop_outcome::empty);
}

TEST(mpsc_ring, a_reservation_has_what_is_free_and_no_more) {
  ring_of_counted ring(4);
  EXPECT_FALSE(ring.reserve(0));
  EXPECT_EQ(ring.size(), 0u);
  {
    auto some = ring.reserve(3);
    EXPECT_TRUE(some);
    EXPECT_EQ(some.size(), 3u);
    auto rest = ring.reserve(std::numeric_limits<std::size_t>::max());
    EXPECT_EQ(rest.size(), 1u);
    EXPECT_FALSE(ring.reserve(1));
    EXPECT_EQ(ring.try_push(counted(9)), push_outcome::full) << "claimed places are taken";
  }
  EXPECT_EQ(ring.size(), 4u) << "what was given up is free when the consumer has come to it";
  EXPECT_FALSE(ring.has_items());
  EXPECT_EQ(ring.size(), 0u);
  EXPECT_EQ(ring.reserve(100).size(), 4u);
}

TEST(mpsc_ring, places_that_are_given_up_are_passed_over_and_used_again) {
  const life_balance lives;
  for (std::size_t filled = 0; filled <= 3; ++filled) {
    ring_of_counted ring(4, start_position{~0ULL - 1});
    for (int round = 0; round < 5; ++round) {
      std::vector<int> expected;
      {
        auto places = ring.reserve(3);
        ASSERT_EQ(places.size(), 3u);
        for (std::size_t i = 0; i < filled; ++i) expected.push_back(places.emplace(static_cast<int>(i)).number());
      }
      ASSERT_EQ(ring.try_push(counted(99)), push_outcome::pushed);
      expected.push_back(99);
      EXPECT_EQ(drain(ring), expected);
      EXPECT_EQ(ring.size(), 0u);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(mpsc_ring, items_that_were_made_and_then_given_up_are_destroyed) {
  for (std::size_t published = 0; published <= 3; ++published) {
    const life_balance lives;
    mpsc_ring<counted> ring(4, start_position{2});  // the reservation goes over the edge
    {
      auto places = ring.reserve(4);
      for (int i = 0; i < 3; ++i) places.emplace(i);
      places.publish(published);
      EXPECT_EQ(lives.surplus(), static_cast<long>(published));
    }
    counted item(-3);
    for (std::size_t i = 0; i < published; ++i) {
      ASSERT_EQ(ring.try_pop(item), pop_outcome::popped);
      EXPECT_EQ(item.number(), static_cast<int>(i));
    }
    EXPECT_EQ(ring.try_pop(item), pop_outcome::empty);
    EXPECT_EQ(lives.surplus(), 1);
  }
}

TEST(mpsc_ring, an_item_that_throws_when_it_is_made_costs_its_place_only) {
  const life_balance lives;
  {
    mpsc_ring<picky> ring(4);
    EXPECT_EQ(ring.try_emplace(0), push_outcome::pushed);
    EXPECT_THROW((void)ring.try_emplace(13), counted::thrown);
    EXPECT_EQ(ring.try_emplace(1), push_outcome::pushed);
    EXPECT_EQ(drain(ring), (std::vector<int>{0, 1}));
    {
      auto places = ring.reserve(3);
      places.emplace(2);
      EXPECT_THROW(places.emplace(13), counted::thrown);
      places.emplace(3);
    }
    EXPECT_EQ(drain(ring), (std::vector<int>{2, 3})) << "the place of the throwing one was offered again";
    EXPECT_EQ(ring.size(), 0u);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(mpsc_ring, hands_out_both_sides_of_its_edge_as_two_spans) {
  ring_of_counted ring(8, start_position{6});
  {
    auto places = ring.reserve(5);
    const auto spans = places.spans();
    EXPECT_EQ(spans.first.size(), 2u);
    EXPECT_EQ(spans.second.size(), 3u);
    for (int i = 0; counted & place : spans.up_to(4)) std::construct_at(&place, i++);
    places.publish(4);
  }
  const auto items = ring.readable(8);
  EXPECT_EQ(items.first.size(), 2u);
  EXPECT_EQ(items.second.size(), 2u);
  EXPECT_EQ(numbers_of(items), (std::vector<int>{0, 1, 2, 3}));
  ring.release(1);
  EXPECT_EQ(numbers_of(ring.readable(2)), (std::vector<int>{1, 2}));
}

TEST(mpsc_ring, a_reservation_is_published_once) {
  ring_of_counted ring(4);
  auto places = ring.reserve(2);
  places.emplace(0);
  places.publish();
  ring_of_counted::reservation moved(std::move(places));
  moved.publish(2);
  EXPECT_EQ(drain(ring), std::vector<int>{0});
  EXPECT_EQ(ring.size(), 0u);
}

TEST(mpsc_ring, a_reservation_that_was_moved_is_filled_and_published_by_its_new_owner) {
  ring_of_counted ring(4);
  {
    auto places = std::make_unique<ring_of_counted::reservation>(ring.reserve(2));
    places->emplace(0);
    ring_of_counted::reservation moved(std::move(*places));
    places.reset();
    EXPECT_FALSE(ring.has_items()) << "the old owner's end publishes nothing";
    moved.emplace(1);
  }
  EXPECT_EQ(drain(ring), (std::vector<int>{0, 1}));
}

TEST(mpsc_ring, counts_the_places_that_come_back_with_an_item_or_without) {
  ring_of_counted ring(4);
  EXPECT_EQ(ring.given_back(), 0u);
  (void)ring.reserve(3);
  EXPECT_EQ(ring.given_back(), 0u);
  EXPECT_FALSE(ring.has_items());
  EXPECT_EQ(ring.given_back(), 3u);
  ASSERT_EQ(ring.try_push(counted(0)), push_outcome::pushed);
  EXPECT_EQ(drain(ring), std::vector<int>{0});
  EXPECT_EQ(ring.given_back(), 4u);
}

// --- ends ------------------------------------------------------------------------------------------------------------

TEST(mpsc_ring, when_closed_still_takes_what_was_claimed_before_and_ends_after_it) {
  for (const bool fills : {true, false}) {
    ring_of_counted ring(4);
    counted out(-7);
    {
      auto places = ring.reserve(2);
      ring.close();
      EXPECT_FALSE(ring.reserve(1));
      EXPECT_FALSE(ring.ended());
      EXPECT_EQ(ring.try_pop(out), pop_outcome::in_flight);
      if (fills) places.emplace(1);
    }
    EXPECT_EQ(ring.ended(), !fills);
    if (fills) {
      EXPECT_EQ(ring.try_pop(out), pop_outcome::popped);
    }
    EXPECT_EQ(ring.try_pop(out), pop_outcome::ended);
    EXPECT_TRUE(ring.ended());
    EXPECT_EQ(ring.size(), 0u);
  }
}

TEST(mpsc_ring, when_cancelled_destroys_what_was_on_its_way_in) {
  const life_balance lives;
  {
    ring_of_counted ring(4);
    auto places = ring.reserve(2);
    ring.cancel();
    EXPECT_FALSE(ring.reserve(1));
    ring.drop_all();
    places.emplace(1);
    places.publish();
    EXPECT_EQ(lives.surplus(), 1);
    ring.drop_all();
    EXPECT_EQ(lives.surplus(), 0);
    EXPECT_EQ(ring.try_push(counted(0)), push_outcome::cancelled);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// --- against a model -------------------------------------------------------------------------------------------------

enum class operation : std::uint8_t {
  reserve,
  emplace,
  end,
  push,
  push_n,
  throwing_push_n,
  pop,
  consume,
  read,
  look,
  close
};

/// The places between head and tail, in order.
class model {
 public:
  enum class state : std::uint8_t { claimed, item, hole };
  struct place {
    state is = state::claimed;
    int number = 0;
  };

  explicit model(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] std::size_t free() const { return closed_ ? 0 : capacity_ - places_.size(); }
  [[nodiscard]] std::size_t taken() const { return places_.size(); }
  [[nodiscard]] bool closed() const { return closed_; }
  void close() { closed_ = true; }

  /// The first position of `count` places.
  std::uint64_t claim(std::size_t count) {
    places_.resize(places_.size() + count);
    return head_ + places_.size() - count;
  }
  void publish(std::uint64_t first, std::size_t count, const std::vector<int>& numbers) {
    for (std::size_t i = 0; i < count; ++i) {
      place& at = places_[static_cast<std::size_t>(first - head_) + i];
      at = i < numbers.size() ? place{state::item, numbers[i]} : place{state::hole, 0};
    }
  }
  /// What every look of the consumer does first.
  void pass_holes() {
    while (!places_.empty() && places_.front().is == state::hole) drop(1);
  }
  /// Those that lie next to each other at the front.
  [[nodiscard]] std::vector<int> readable(std::size_t most) const {
    std::vector<int> numbers;
    for (const place& at : places_) {
      if (at.is != state::item || numbers.size() == most) break;
      numbers.push_back(at.number);
    }
    return numbers;
  }
  void drop(std::size_t count) {
    places_.erase(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(count));
    head_ += count;
  }
  [[nodiscard]] pop_outcome expected_pop() const {
    if (!places_.empty()) return places_.front().is == state::item ? pop_outcome::popped : pop_outcome::in_flight;
    return closed_ ? pop_outcome::ended : pop_outcome::empty;
  }

 private:
  const std::size_t capacity_;
  std::deque<place> places_;
  std::uint64_t head_ = 0;
  bool closed_ = false;
};

class run {
 public:
  run(std::size_t asked, std::uint64_t start) : ring_(asked, start_position{start}), model_(ring_.capacity()) {}

  void step(operation what, std::size_t count) {
    switch (what) {
      case operation::reserve:
        return reserve(count);
      case operation::emplace:
        return emplace(count);
      case operation::end:
        return end(count);
      case operation::push:
        return push();
      case operation::push_n:
        return push_n(count);
      case operation::throwing_push_n:
        return throwing_push_n(count);
      case operation::pop:
        return pop(count % 2 == 0);
      case operation::consume:
        return consume(count);
      case operation::read:
        return read(count);
      case operation::look:
        return look();
      case operation::close:
        ring_.close();
        return model_.close();
    }
  }

  /// What is open is published in any order, and then everything comes out.
  void finish(const std::vector<std::size_t>& order) {
    for (std::size_t i = 0; !open_.empty(); ++i) end(i < order.size() ? order[i] : 0);
    while (model_.taken() != 0) consume(3);
    look();
  }

 private:
  struct open_reservation {
    ring_of_counted::reservation places;
    std::uint64_t first;
    std::vector<int> numbers;
  };

  std::list<open_reservation>::iterator chosen(std::size_t which) {
    return std::next(open_.begin(), static_cast<std::ptrdiff_t>(which % open_.size()));
  }

  [[nodiscard]] push_outcome expected_push() const {
    return model_.closed() ? push_outcome::closed : model_.free() == 0 ? push_outcome::full : push_outcome::pushed;
  }

  void reserve(std::size_t count) {
    auto places = ring_.reserve(count);
    RC_ASSERT(places.size() == std::min(count, model_.free()));
    if (places) open_.push_back({std::move(places), model_.claim(std::min(count, model_.free())), {}});
  }

  void emplace(std::size_t which) {
    if (open_.empty()) return;
    open_reservation& into = *chosen(which);
    if (into.numbers.size() == into.places.size()) return;
    RC_ASSERT(into.places.emplace(next_).number() == next_);
    into.numbers.push_back(next_++);
  }

  /// Publishes what was emplaced, by publish(), by its end, or, where nothing was, by spans and publish(n).
  void end(std::size_t which) {
    if (open_.empty()) return;
    const auto at = chosen(which);
    const std::size_t size = at->places.size();
    if (at->numbers.empty() && which % 3 != 0) {
      for (counted& place : at->places.spans().up_to(which % (size + 1))) {
        std::construct_at(&place, next_);
        at->numbers.push_back(next_++);
      }
      at->places.publish(at->numbers.size());
    } else if (which % 3 == 1) {
      at->places.publish();
    }
    model_.publish(at->first, size, at->numbers);
    open_.erase(at);
  }

  void push() {
    counted item(next_);
    const push_outcome expected = expected_push();
    RC_ASSERT(ring_.try_push(std::move(item)) == expected);
    if (expected == push_outcome::pushed) {
      model_.publish(model_.claim(1), 1, {next_++});
    } else {
      RC_ASSERT(item.number() == next_);
    }
  }

  void push_n(std::size_t count) {
    std::vector<counted> items = offered(count);
    const std::size_t pushed = std::min(count, model_.free());
    RC_ASSERT(ring_.try_push_n(items) == pushed);
    came(items, pushed, pushed);
  }
  void throwing_push_n(std::size_t count) {
    std::vector<counted> items = offered(count);
    const std::size_t claimed = std::min(count, model_.free());
    if (claimed == 0) return;
    counted::moves_until_throw() = static_cast<long>(claimed / 2) + 1;
    bool thrown = false;
    try {
      (void)ring_.try_push_n(items);
    } catch (const counted::thrown&) {
      thrown = true;
    }
    counted::moves_until_throw() = 0;
    RC_ASSERT(thrown);
    came(items, claimed / 2, claimed);
  }
  std::vector<counted> offered(std::size_t count) const {
    std::vector<counted> items;
    for (std::size_t i = 0; i < count; ++i) items.emplace_back(next_ + static_cast<int>(i));
    return items;
  }
  void came(const std::vector<counted>& items, std::size_t pushed, std::size_t claimed) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      RC_ASSERT(items[i].number() == (i < pushed ? counted::taken : next_ + static_cast<int>(i)));
    }
    std::vector<int> numbers;
    for (std::size_t i = 0; i < pushed; ++i) numbers.push_back(next_++);
    model_.publish(model_.claim(claimed), claimed, numbers);
  }

  void pop(bool strict) {
    counted out(-7);
    model_.pass_holes();
    const pop_outcome expected = model_.expected_pop();
    if (strict) {
      RC_ASSERT(ring_.try_pop(out) == expected);
    } else {
      RC_ASSERT(ring_.try_relaxed_pop(out) ==
                (expected == pop_outcome::popped ? pop_outcome::popped : pop_outcome::empty));
    }
    if (expected == pop_outcome::popped) {
      RC_ASSERT(out.number() == model_.readable(1)[0]);
      model_.drop(1);
    } else {
      RC_ASSERT(out.number() == -7);
    }
  }

  /// Gives at least the items that lie next to each other; it may go on behind places that were given up.
  void consume(std::size_t count) {
    if (count != 0) model_.pass_holes();
    const std::size_t fewest = model_.readable(count).size();
    std::vector<int> given;
    const std::size_t said = ring_.consume(count, [&](counted&& item) { given.push_back(item.number()); });
    RC_ASSERT(said == given.size());
    RC_ASSERT(given.size() >= fewest);
    RC_ASSERT(given.size() <= count);
    for (const int number : given) {
      model_.pass_holes();
      RC_ASSERT(model_.readable(1) == std::vector<int>{number});
      model_.drop(1);
    }
    // Whether it has looked once more behind the last one or not is the same after the next look.
    (void)ring_.has_items();
    model_.pass_holes();
  }

  void read(std::size_t count) {
    if (count != 0) model_.pass_holes();
    const auto items = ring_.readable(count);
    RC_ASSERT(numbers_of(items) == model_.readable(count));
    const std::size_t released = (items.size() + 1) / 2;
    ring_.release(released);
    model_.drop(released);
  }

  void look() {
    RC_ASSERT(ring_.size() == model_.taken());
    model_.pass_holes();
    RC_ASSERT(ring_.has_items() == (model_.expected_pop() == pop_outcome::popped));
    RC_ASSERT(ring_.ended() == (model_.expected_pop() == pop_outcome::ended));
    RC_ASSERT(ring_.size() == model_.taken());
    RC_ASSERT(ring_.closed() == model_.closed());
  }

  ring_of_counted ring_;
  model model_;
  std::list<open_reservation> open_;
  int next_ = 0;
};

RC_GTEST_PROP(mpsc_ring, behaves_as_a_row_of_places_however_reservations_are_filled_published_and_given_up, ()) {
  const auto operations = rc::gen::weightedElement<operation>({{9, operation::reserve},
                                                               {12, operation::emplace},
                                                               {9, operation::end},
                                                               {3, operation::push},
                                                               {3, operation::push_n},
                                                               {3, operation::throwing_push_n},
                                                               {6, operation::pop},
                                                               {3, operation::consume},
                                                               {3, operation::read},
                                                               {3, operation::look},
                                                               {1, operation::close}});
  const auto starts = rc::gen::element<std::uint64_t>(0, (1ULL << 31) - 5, (1ULL << 32) - 5, (1ULL << 62) - 5,
                                                      (1ULL << 63) - 5, std::numeric_limits<std::uint64_t>::max() - 7);
  const life_balance lives;
  {
    run run(*rc::gen::inRange<std::size_t>(1, 18), *starts);
    const auto steps = *rc::gen::scale(4, rc::gen::container<std::vector<std::pair<operation, std::size_t>>>(
                                              rc::gen::pair(operations, rc::gen::inRange<std::size_t>(0, 8))));
    for (const auto& [what, count] : steps) run.step(what, count);
    run.finish(*rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 20)));
    RC_ASSERT(lives.surplus() == 0);
  }
  RC_ASSERT(lives.surplus() == 0);
}

}  // namespace
}  // namespace weir::queue
