// Threads that sleep at a mailbox on both sides. A lost wake-up would hang these tests. What stress has in common for
// all queues is in testing/every_queue_stress_test.cc.

#include <weir/queue/mailbox.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/arrivals.h>
#include <weir/queue/testing/counted.h>

namespace weir::queue {
namespace {

using testing::arrivals;
using testing::counted;
using testing::item_number;
using testing::life_balance;
using testing::steady;
using clock = std::chrono::steady_clock;

constexpr int producers = 3;

/// Puts in all items, one by one and in batches by turns; how many were taken.
template <class Box>
int send(Box& box, int sender, int total) {
  int sent = 0;
  for (int step = 0; sent < total; ++step) {
    if (step % 2 == 0) {
      if (box.push(steady(item_number(sender, sent))) != push_outcome::pushed) return sent;
      ++sent;
    } else {
      std::vector<steady> items;
      for (int i = 0; i < std::min(step % 7 + 1, total - sent); ++i) items.emplace_back(item_number(sender, sent + i));
      const std::size_t more = box.push_n(items);
      sent += static_cast<int>(more);
      if (more < items.size()) return sent;
    }
  }
  return sent;
}

template <class Receive>
void exchange(std::size_t capacity, int total, Receive receive) {
  mailbox<steady> box(capacity, start_position{~0ULL - 1'000});
  std::atomic<int> sending{producers};
  std::vector<std::thread> threads;
  for (int sender = 0; sender < producers; ++sender) {
    threads.emplace_back([&, sender] {
      EXPECT_EQ(send(box, sender, total), total);
      if (sending.fetch_sub(1, std::memory_order_relaxed) == 1) box.close();
    });
  }
  arrivals got(producers);
  receive(box, got);
  for (std::thread& one : threads) one.join();
  got.expect_all(std::vector<int>(producers, total));
  EXPECT_TRUE(box.ended());
}

constexpr int items_for(std::size_t capacity) { return capacity < 16 ? 2'000 : 20'000; }

TEST(mailbox_stress, producers_and_a_consumer_that_sleep_always_wake_each_other) {
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u, 64u}) {
    exchange(capacity, items_for(capacity), [](mailbox<steady>& box, arrivals& got) {
      steady out(0);
      while (box.pop(out) == pop_outcome::popped) got.see(out.number());
    });
    exchange(capacity, items_for(capacity), [](mailbox<steady>& box, arrivals& got) {
      while (box.wait()) box.consume(5, [&](steady&& item) { got.see(item.number()); });
    });
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// Peers have lost items, and left a consumer spinning for ever, when a wait timed out just as something was put in.
// Deadlines in the past, now, and about as far ahead as items come.
TEST(mailbox_stress, an_item_that_comes_as_a_deadline_passes_is_delivered_once) {
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u, 64u}) {
    exchange(capacity, items_for(capacity), [](mailbox<steady>& box, arrivals& got) {
      const std::chrono::microseconds ahead[] = {std::chrono::hours(-1), std::chrono::microseconds(0),
                                                 std::chrono::microseconds(50), std::chrono::microseconds(7)};
      steady out(0);
      for (std::size_t step = 0;; ++step) {
        const auto deadline = clock::now() + ahead[step % 4];
        const pop_outcome outcome = box.pop_until(out, deadline);
        if (outcome == pop_outcome::ended) return;
        if (outcome == pop_outcome::popped) {
          got.see(out.number());
        } else {
          EXPECT_EQ(outcome, pop_outcome::empty);
          EXPECT_GE(clock::now(), deadline) << "not before the deadline";
        }
      }
    });
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// As an event loop does: it never sleeps in the mailbox; the action rings the loop's own bell.
TEST(mailbox_stress, a_consumer_that_parks_with_an_action_misses_nothing) {
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u, 64u}) {
    exchange(capacity, items_for(capacity), [](mailbox<steady>& box, arrivals& got) {
      park_point bell;
      while (!box.ended()) {
        box.consume(3, [&](steady&& item) { got.see(item.number()); });
        if (box.park(bell.action())) bell.wait();
      }
      box.withdraw();  // the bell goes first
    });
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// One at a time there and back: each side sleeps for every item.
TEST(mailbox_stress, two_mailboxes_pass_a_ball_to_and_fro) {
  mailbox<int, 1> there;
  mailbox<int, 1> back;
  std::thread other([&] {
    for (int ball = 0; there.pop(ball) == pop_outcome::popped;) EXPECT_EQ(back.push(ball + 1), push_outcome::pushed);
    back.close();
  });
  int ball = 0;
  for (int round = 0; round < 3'000; ++round) {
    ASSERT_EQ(there.push(ball), push_outcome::pushed);
    ASSERT_EQ(back.pop(ball), pop_outcome::popped);
  }
  there.close();
  EXPECT_EQ(back.pop(ball), pop_outcome::ended);
  other.join();
  EXPECT_EQ(ball, 3'000);
}

TEST(mailbox_stress, producers_that_sleep_at_a_full_mailbox_learn_that_it_was_closed_or_cancelled) {
  const life_balance lives;
  for (int round = 0; round < 200; ++round) {
    mailbox<steady> box(std::size_t{1} << round % 2);
    std::vector<int> sent(producers, 0);
    std::vector<std::thread> threads;
    for (int sender = 0; sender < producers; ++sender) {
      threads.emplace_back([&, sender] { sent[static_cast<std::size_t>(sender)] = send(box, sender, 10'000'000); });
    }
    arrivals got(producers);
    steady out(0);
    while (got.count() < round % 50) {
      ASSERT_EQ(box.pop(out), pop_outcome::popped);
      got.see(out.number());
    }
    if (round % 4 < 2) {
      box.close();
      while (box.pop(out) == pop_outcome::popped) got.see(out.number());
      for (std::thread& one : threads) one.join();
      got.expect_all(sent);
    } else {
      box.cancel();
      for (std::thread& one : threads) one.join();
      EXPECT_TRUE(got.in_order());
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

/// Throws on every third move; what it was moved from keeps it.
struct fussy : steady {
  explicit fussy(int number) : steady(number) {}
  fussy(fussy&& other) noexcept(false) : steady(checked(std::move(other))) { refusals = 0; }
  fussy& operator=(fussy&&) = default;
  int refusals = 0;

 private:
  static steady&& checked(fussy&& other) {
    if (++other.refusals % 3 != 0) throw steady::thrown();
    return std::move(other);
  }
};

// A push that throws leaves a place that is free only when the consumer has passed over it; those who wait for it must
// be told.
TEST(mailbox_stress, pushes_that_throw_leave_nobody_asleep_and_lose_nothing) {
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u}) {
    constexpr int total = 1'500;
    mailbox<fussy> box(capacity);
    std::atomic<int> sending{producers};
    std::vector<std::thread> threads;
    for (int sender = 0; sender < producers; ++sender) {
      threads.emplace_back([&, sender] {
        for (int sent = 0; sent < total; ++sent) {
          fussy item(item_number(sender, sent));
          for (bool pushed = false; !pushed;) {
            try {
              EXPECT_EQ(box.push(std::move(item)), push_outcome::pushed);
              pushed = true;
            } catch (const steady::thrown&) {
            }
          }
        }
        if (sending.fetch_sub(1, std::memory_order_relaxed) == 1) box.close();
      });
    }
    arrivals got(producers);
    fussy out(0);
    while (box.pop(out) == pop_outcome::popped) got.see(out.number());
    for (std::thread& one : threads) one.join();
    got.expect_all(std::vector<int>(producers, total));
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue
