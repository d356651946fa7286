// Who waits at a mailbox and what wakes them, in one thread: where somebody would sleep, the test does what another
// thread would (testing/scripted_sync.h). What a mailbox has in common with its ring is in testing/every_queue_test.cc.

#include <weir/queue/mailbox.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/counted.h>
#include <weir/queue/testing/scripted_sync.h>

namespace weir::queue {
namespace {

using testing::counted;
using testing::life_balance;
using testing::scripted;

using box_of_numbers = mailbox<int, dynamic_capacity, scripted>;

constexpr auto any_time = std::chrono::steady_clock::time_point::max();

wake_action counting(int& calls) {
  return {[](void* target) noexcept { ++*static_cast<int*>(target); }, &calls};
}

// --- producers that wait ---------------------------------------------------------------------------------------------

TEST(mailbox, a_push_waits_for_a_place_and_takes_the_first_there_is) {
  for (const std::size_t capacity : {1u, 2u}) {
    box_of_numbers box(capacity, start_position{~0ULL});
    for (std::size_t i = 0; i < capacity; ++i) ASSERT_EQ(box.try_push(0), push_outcome::pushed);
    int out = -7;
    scripted::meanwhile({[&] { EXPECT_EQ(box.try_pop(out), pop_outcome::popped); }}, [&] { box.close(); });
    EXPECT_EQ(box.push(1), push_outcome::pushed);
    EXPECT_FALSE(scripted::slept_for_ever());
    EXPECT_EQ(scripted::sleeps(), 1);
    EXPECT_EQ(out, 0);
    EXPECT_EQ(box.size(), capacity);
  }
}

TEST(mailbox, every_way_to_take_items_wakes_the_producers_that_wait) {
  const std::vector<std::function<void(box_of_numbers&)>> ways = {
      [](box_of_numbers& box) {
        int out = 0;
        EXPECT_EQ(box.try_pop(out), pop_outcome::popped);
      },
      [](box_of_numbers& box) {
        int out = 0;
        EXPECT_EQ(box.pop(out), pop_outcome::popped);
      },
      [](box_of_numbers& box) {
        int out = 0;
        EXPECT_EQ(box.pop_until(out, any_time), pop_outcome::popped);
      },
      [](box_of_numbers& box) { EXPECT_EQ(box.consume(1, [](int&&) {}), 1u); },
      [](box_of_numbers& box) {
        EXPECT_THROW(box.consume(1, [](int&&) { throw std::runtime_error("enough"); }), std::runtime_error);
      }};
  for (const auto& take : ways) {
    box_of_numbers box(1);
    ASSERT_EQ(box.try_push(0), push_outcome::pushed);
    scripted::meanwhile({[&] { take(box); }}, [&] { box.close(); });
    EXPECT_EQ(box.push(1), push_outcome::pushed);
    EXPECT_FALSE(scripted::slept_for_ever());
  }
}

TEST(mailbox, a_push_of_many_waits_as_often_as_it_must_and_puts_all_in_order) {
  mailbox<int, 2, scripted> box;
  std::vector<int> items = {0, 1, 2, 3, 4};
  std::vector<int> taken;
  const auto take_one = [&] { box.consume(1, [&](int&& item) { taken.push_back(item); }); };
  scripted::meanwhile({take_one, take_one, take_one}, [&] { box.close(); });
  EXPECT_EQ(box.push_n(items), 5u);
  EXPECT_FALSE(scripted::slept_for_ever());
  take_one();
  take_one();
  EXPECT_EQ(taken, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(mailbox, a_push_of_many_that_is_closed_on_says_how_many_are_in_and_leaves_the_others_alone) {
  for (const bool cancels : {false, true}) {
    mailbox<std::unique_ptr<int>, 2, scripted> box;
    std::vector<std::unique_ptr<int>> items;
    for (int i = 0; i < 5; ++i) items.push_back(std::make_unique<int>(i));
    const auto end = [&] { cancels ? box.cancel() : box.close(); };
    scripted::meanwhile({[&] { box.consume(1, [](std::unique_ptr<int>&&) {}); }, end}, end);
    EXPECT_EQ(box.push_n(items), 3u);
    EXPECT_FALSE(scripted::slept_for_ever());
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(items[i] == nullptr, i < 3) << i;
  }
}

TEST(mailbox, a_producer_that_waits_is_told_that_the_box_was_closed_or_cancelled) {
  for (const bool cancels : {false, true}) {
    mailbox<std::unique_ptr<int>, 1, scripted> box;
    ASSERT_EQ(box.try_push(std::make_unique<int>(0)), push_outcome::pushed);
    auto item = std::make_unique<int>(1);
    scripted::meanwhile({[&] { cancels ? box.cancel() : box.close(); }}, [&] { (void)box.try_pop(item); });
    EXPECT_EQ(box.push(std::move(item)), cancels ? push_outcome::cancelled : push_outcome::closed);
    EXPECT_FALSE(scripted::slept_for_ever());
    ASSERT_TRUE(item) << "a refused item stays its owner's";
    EXPECT_EQ(*item, 1);
  }
}

TEST(mailbox, a_push_of_an_item_that_is_only_lent_copies_it) {
  mailbox<std::string, 1, scripted> box;
  const std::string lent = "long enough to be on the heap, where a move would leave nothing";
  ASSERT_EQ(box.push(lent), push_outcome::pushed);
  std::string out;
  scripted::meanwhile({[&] { EXPECT_EQ(box.try_pop(out), pop_outcome::popped); }}, [&] { box.close(); });
  ASSERT_EQ(box.push(lent), push_outcome::pushed);
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(lent, out);
}

// A push that throws has claimed a place that nothing will ever be put in; it is free again when the consumer comes to
// it, however it looks. If the consumer told nobody, a producer could wait for ever at an empty mailbox.
struct only_copied {
  int number = 0;
  int* copies = nullptr;
  only_copied(int of, int* count) : number(of), copies(count) {}
  only_copied(const only_copied& other) : number(other.number), copies(other.copies) { ++*copies; }
  only_copied& operator=(const only_copied&) = default;
};

TEST(mailbox, a_push_of_a_copy_asks_for_copies_only_and_makes_one_when_there_is_a_place) {
  int copies = 0;
  mailbox<only_copied> box(1);
  const only_copied item(7, &copies);
  EXPECT_EQ(box.push(item), push_outcome::pushed);
  EXPECT_EQ(copies, 1);
  box.close();
  EXPECT_EQ(box.push(item), push_outcome::closed);
  EXPECT_EQ(copies, 1);
}

TEST(mailbox, a_place_that_a_throwing_push_gave_up_goes_to_a_producer_that_waits) {
  using box_of_counted = mailbox<counted, 1, scripted>;
  int calls = 0;
  const std::vector<std::function<void(box_of_counted&)>> looks = {
      [](box_of_counted& box) {
        counted out(-7);
        EXPECT_EQ(box.try_pop(out), pop_outcome::empty);
      },
      [](box_of_counted& box) { EXPECT_EQ(box.consume(1, [](counted&&) {}), 0u); },
      [](box_of_counted& box) { EXPECT_FALSE(box.has_items()); },
      [](box_of_counted& box) { EXPECT_FALSE(box.ended()); },
      [&](box_of_counted& box) { EXPECT_TRUE(box.park(counting(calls))); }};
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const life_balance lives;
    box_of_counted box;
    counted item(1);
    counted::moves_until_throw() = 1;
    EXPECT_THROW((void)box.push(std::move(item)), counted::thrown);
    scripted::meanwhile({[&] { looks[i](box); }}, [&] { box.close(); });
    EXPECT_EQ(box.push(std::move(item)), push_outcome::pushed);
    EXPECT_FALSE(scripted::slept_for_ever()) << "look " << i;
    counted out(-7);
    EXPECT_EQ(box.try_pop(out), pop_outcome::popped);
    EXPECT_EQ(out.number(), 1);
  }
}

// --- a consumer that waits -------------------------------------------------------------------------------------------

TEST(mailbox, every_way_to_put_items_in_wakes_a_consumer_that_waits) {
  std::vector<int> two = {1, 2};
  const int lent = 1;
  const std::vector<std::function<void(box_of_numbers&)>> ways = {
      [](box_of_numbers& box) { EXPECT_EQ(box.try_push(1), push_outcome::pushed); },
      [&](box_of_numbers& box) { EXPECT_EQ(box.try_push(lent), push_outcome::pushed); },
      [](box_of_numbers& box) { EXPECT_EQ(box.push(1), push_outcome::pushed); },
      [&](box_of_numbers& box) { EXPECT_EQ(box.push(lent), push_outcome::pushed); },
      [&](box_of_numbers& box) { EXPECT_EQ(box.try_push_n(two), 2u); },
      [&](box_of_numbers& box) { EXPECT_EQ(box.push_n(two), 2u); }};
  for (const auto& put : ways) {
    box_of_numbers box(2);
    int out = 0;
    scripted::meanwhile({[&] { put(box); }}, [&] { box.close(); });
    EXPECT_EQ(box.pop(out), pop_outcome::popped);
    EXPECT_EQ(out, 1);
    EXPECT_FALSE(scripted::slept_for_ever());
    EXPECT_EQ(scripted::sleeps(), 1);
  }
}

TEST(mailbox, a_consumer_that_waits_is_woken_by_the_end) {
  box_of_numbers box(2);
  int out = -7;
  scripted::meanwhile({[&] { box.close(); }}, [&] { (void)box.try_push(0); });
  EXPECT_EQ(box.pop(out), pop_outcome::ended);
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_FALSE(box.wait());
  EXPECT_EQ(out, -7);
}

TEST(mailbox, wait_says_whether_there_will_be_an_item) {
  box_of_numbers box(2);
  scripted::meanwhile({[&] { EXPECT_EQ(box.try_push(1), push_outcome::pushed); }}, [&] { box.close(); });
  EXPECT_TRUE(box.wait());
  EXPECT_FALSE(scripted::slept_for_ever());
  box.close();
  EXPECT_TRUE(box.wait()) << "closed, and an item is in";
  int out = 0;
  EXPECT_EQ(box.pop(out), pop_outcome::popped);
  EXPECT_FALSE(box.wait());
}

// The consumer sleeps with one place claimed: had the throwing push told nobody, it would not learn that the mailbox
// has ended.
TEST(mailbox, a_push_that_throws_into_a_closing_mailbox_wakes_the_consumer_to_its_end) {
  struct closes_and_throws {
    mailbox<closes_and_throws, 2, scripted>* box = nullptr;
    explicit closes_and_throws(mailbox<closes_and_throws, 2, scripted>* in) : box(in) {}
    closes_and_throws(closes_and_throws&& other) : box(other.box) {
      box->close();
      throw counted::thrown();
    }
    closes_and_throws& operator=(closes_and_throws&&) = default;
  };
  mailbox<closes_and_throws, 2, scripted> box;
  closes_and_throws out(nullptr);
  scripted::meanwhile({[&] { EXPECT_THROW((void)box.try_push(closes_and_throws(&box)), counted::thrown); }}, [] {});
  EXPECT_EQ(box.pop(out), pop_outcome::ended);
  EXPECT_FALSE(scripted::slept_for_ever());
}

// --- deadlines -------------------------------------------------------------------------------------------------------

TEST(mailbox, a_pop_until_gives_an_item_that_is_in_whatever_the_deadline) {
  for (const auto deadline : {std::chrono::steady_clock::time_point::min(), std::chrono::steady_clock::time_point{},
                              std::chrono::steady_clock::now(), any_time}) {
    mailbox<int> box(1);
    ASSERT_EQ(box.try_push(1), push_outcome::pushed);
    int out = 0;
    EXPECT_EQ(box.pop_until(out, deadline), pop_outcome::popped);
    EXPECT_EQ(out, 1);
    box.close();
    EXPECT_EQ(box.pop_until(out, deadline), pop_outcome::ended);
  }
}

TEST(mailbox, a_pop_until_comes_back_empty_once_its_deadline_has_passed_and_not_before) {
  for (const auto ahead : {-std::chrono::hours(1), std::chrono::hours(0)}) {
    mailbox<int> box(1);
    int out = -7;
    EXPECT_EQ(box.pop_until(out, std::chrono::steady_clock::now() + ahead), pop_outcome::empty);
    EXPECT_EQ(out, -7);
  }
  mailbox<int> box(1);
  int out = -7;
  EXPECT_EQ(box.pop_until(out, std::chrono::steady_clock::time_point::min()), pop_outcome::empty);
  EXPECT_EQ(box.pop_until(out, std::chrono::steady_clock::time_point{}), pop_outcome::empty);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(500);
  EXPECT_EQ(box.pop_until(out, deadline), pop_outcome::empty);
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

TEST(mailbox, a_pop_until_is_woken_by_an_item_and_looks_once_more_at_its_deadline) {
  box_of_numbers box(1);
  int out = 0;
  scripted::meanwhile({[&] { EXPECT_EQ(box.try_push(1), push_outcome::pushed); }}, [] {});
  EXPECT_EQ(box.pop_until(out, any_time), pop_outcome::popped);
  EXPECT_EQ(out, 1);
  EXPECT_EQ(scripted::sleeps(), 1);
  scripted::meanwhile({}, [] {});
  EXPECT_EQ(box.pop_until(out, any_time), pop_outcome::empty) << "the script is over: the deadline passes";
  // Nothing of the pop that gave up is left: the next one is woken as the first was.
  scripted::meanwhile({[&] { EXPECT_EQ(box.try_push(2), push_outcome::pushed); }}, [&] { box.close(); });
  EXPECT_EQ(box.pop(out), pop_outcome::popped);
  EXPECT_EQ(out, 2);
  EXPECT_FALSE(scripted::slept_for_ever());
}

// --- parking as an event loop does -----------------------------------------------------------------------------------

TEST(mailbox, calls_the_action_of_a_parked_consumer_once_at_the_next_item) {
  mailbox<int> box(4);
  int calls = 0;
  ASSERT_TRUE(box.park(counting(calls)));
  EXPECT_EQ(calls, 0);
  ASSERT_EQ(box.try_push(1), push_outcome::pushed);
  ASSERT_EQ(box.try_push(2), push_outcome::pushed);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(box.park(counting(calls))) << "there are items";
  EXPECT_EQ(box.consume(4, [](int&&) {}), 2u);
  ASSERT_TRUE(box.park(counting(calls)));
  box.close();
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(box.park(counting(calls))) << "it has ended";
  EXPECT_EQ(calls, 2);
}

TEST(mailbox, calls_no_action_that_was_withdrawn) {
  mailbox<int> box(4);
  int calls = 0;
  ASSERT_TRUE(box.park(counting(calls)));
  box.withdraw();
  ASSERT_EQ(box.try_push(1), push_outcome::pushed);
  box.close();
  EXPECT_EQ(calls, 0);
}

TEST(mailbox, a_park_that_is_followed_by_a_pop_leaves_no_action_behind) {
  box_of_numbers box(4);
  int calls = 0;
  ASSERT_TRUE(box.park(counting(calls)));
  int out = 0;
  scripted::meanwhile({[&] { ASSERT_EQ(box.try_push(1), push_outcome::pushed); }}, [&] { box.close(); });
  EXPECT_EQ(box.pop(out), pop_outcome::popped);
  EXPECT_FALSE(scripted::slept_for_ever());
  EXPECT_EQ(calls, 0) << "the pop has replaced it";
}

}  // namespace
}  // namespace weir::queue
