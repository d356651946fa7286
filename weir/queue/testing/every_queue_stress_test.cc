// Real threads at every queue: as many producers and consumers as it is made for. A pass proves little on a strongly
// ordered machine; under the thread sanitizer every access to an item must be ordered by the queue and by nothing else
// here.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include <gtest/gtest.h>

#include <weir/queue/spin.h>
#include <weir/queue/testing/arrivals.h>
#include <weir/queue/testing/history.h>
#include <weir/queue/testing/queue_kinds.h>

namespace weir::queue::testing {
namespace {

/// What the threads at a queue do.
template <class Kind>
class sides {
 public:
  using item = typename Kind::item;
  using queue = typename Kind::template of<item>;

  // A mailbox has no spans at all.
  static constexpr bool takes_many_producers = has_reservations<queue> || !has_write_spans<queue>;
  static constexpr int producers = takes_many_producers ? 3 : 1;
  static constexpr int consumers = has_batches<queue> ? 3 : 1;

  /// Sends the items `from` to `total` - 1 of a sender, one by one, in batches and in place by turns; gives back how
  /// many it could, which is fewer than all only if the queue is closed or cancelled.
  static int send(queue& to, int sender, int total) {
    spin wait;
    int sent = 0;
    for (std::size_t step = 0; sent < total; ++step) {
      const auto most = std::min<std::size_t>(step * 7 % 23 + 1, static_cast<std::size_t>(total - sent));
      std::size_t more = 0;
      if (step % 3 == 0) {
        const push_outcome outcome = to.try_push(item(item_number(sender, sent)));
        if (outcome == push_outcome::closed || outcome == push_outcome::cancelled) return sent;
        more = outcome == push_outcome::pushed ? 1 : 0;
      } else if (step % 3 == 1) {
        std::vector<item> items;
        for (std::size_t i = 0; i < most; ++i) items.emplace_back(item_number(sender, sent + static_cast<int>(i)));
        more = to.try_push_n(items);
      } else {
        more = send_in_place(to, sender, sent, most);
      }
      if (more == 0) wait.pause();
      sent += static_cast<int>(more);
    }
    return sent;
  }

  /// Takes items in all ways by turns until `enough()` or the end.
  template <class Enough>
  static void receive(queue& from, arrivals& got, Enough enough) {
    spin wait;
    const auto see = [&](item&& one) noexcept { got.see(one.number()); };
    for (std::size_t step = 0; !enough(); ++step) {
      const std::size_t most = step * 5 % 17 + 1;
      std::size_t more = 0;
      if (step % 3 == 0) {
        item out(0);
        const pop_outcome outcome = from.try_pop(out);
        if (outcome == pop_outcome::ended) return;
        if (outcome == pop_outcome::popped) {
          got.see(out.number());
          more = 1;
        }
      } else if (step % 3 == 1) {
        more = from.consume(most, see);
      } else {
        more = take_in_place(from, most, see);
      }
      if (more == 0) wait.pause();
    }
  }
  static void receive(queue& from, arrivals& got) {
    receive(from, got, [] { return false; });
  }

 private:
  static std::size_t send_in_place(queue& to, int sender, int sent, std::size_t most) {
    if constexpr (has_write_spans<queue>) {
      // A queue that is closed by its producer only, which is this thread; cancelled shows at the next push.
      const auto places = to.prepare(most);
      for (int nth = sent; item & place : places) std::construct_at(&place, item_number(sender, nth++));
      to.commit(places.size());
      return places.size();
    } else if constexpr (has_reservations<queue>) {
      auto places = to.reserve(most);
      // Every other place is given up: items that follow each other need not lie next to each other.
      const std::size_t used = (places.size() + 1) / 2;
      for (std::size_t i = 0; i < used; ++i) places.emplace(item_number(sender, sent + static_cast<int>(i)));
      return used;
    } else {
      return 0;
    }
  }

  template <class See>
  static std::size_t take_in_place(queue& from, std::size_t most, See& see) {
    if constexpr (has_read_spans<queue>) {
      const auto items = from.readable(most);
      const std::size_t used = (items.size() + 1) / 2;
      for (item& one : items.up_to(used)) see(std::move(one));
      from.release(used);
      return used;
    } else if constexpr (has_batches<queue>) {
      const auto items = from.claim(most);
      for (item& one : items) see(std::move(one));
      return items.size();
    } else {
      return 0;
    }
  }
};

template <class Kind>
class every_queue_stress : public ::testing::Test {};
TYPED_TEST_SUITE(every_queue_stress, every_kind, kind_names);

TYPED_TEST(every_queue_stress, each_item_arrives_once_and_in_the_order_of_its_producer_however_it_is_sent_and_taken) {
  using test = sides<TypeParam>;
  const life_balance lives;
  for (const std::size_t capacity : {1u, 2u, 64u}) {
    // A queue of one or two places changes threads for nearly every item, which on a busy machine takes a time slice
    // each.
    const int total = (TypeParam::room(capacity) < 16 ? 10'000 : 100'000) / test::producers;
    auto queue = TypeParam::template make<typename TypeParam::item>(capacity, start_position{~0ULL - 1'000});
    std::vector<arrivals> got(test::consumers, arrivals(test::producers));
    std::atomic<int> sending{test::producers};
    std::vector<std::thread> threads;
    for (int sender = 0; sender < test::producers; ++sender) {
      threads.emplace_back([&, sender] {
        EXPECT_EQ(test::send(queue, sender, total), total);
        if (sending.fetch_sub(1, std::memory_order_relaxed) == 1) queue.close();
      });
    }
    for (arrivals& one : got) threads.emplace_back([&] { test::receive(queue, one); });
    for (std::thread& one : threads) one.join();
    arrivals::expect_all(got, std::vector<int>(test::producers, total));
    EXPECT_TRUE(queue.ended());
    EXPECT_EQ(queue.size(), 0u);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TYPED_TEST(every_queue_stress, a_consumer_that_cancels_stops_all_producers_and_nothing_leaks) {
  using test = sides<TypeParam>;
  const life_balance lives;
  for (int round = 0; round < 40; ++round) {
    auto queue = TypeParam::template make<typename TypeParam::item>(std::size_t{1} << round % 7);
    std::vector<arrivals> got(test::consumers, arrivals(test::producers));
    std::vector<std::thread> threads;
    for (int sender = 0; sender < test::producers; ++sender) {
      threads.emplace_back([&, sender] { test::send(queue, sender, 10'000'000); });
    }
    for (arrivals& one : got) {
      threads.emplace_back([&] {
        test::receive(queue, one, [&] { return one.count() > round || queue.cancelled(); });
        queue.cancel();
      });
    }
    for (std::thread& one : threads) one.join();
    for (const arrivals& one : got) EXPECT_TRUE(one.in_order());
  }
  EXPECT_EQ(lives.surplus(), 0);
}

void look_closely(unsigned tries) {
  // Hardly any wait: the moment between the two is short. But the other may need this processor.
  if (tries % 512 == 0) ::sched_yield();
}

// The end is close behind the last item, and the consumer looks at both: thousands of queues of one item each, so that
// now and then its look falls between the two.
TYPED_TEST(every_queue_stress, the_last_item_comes_before_the_end_however_close_they_are) {
  using item = typename TypeParam::item;
  using queue = typename TypeParam::template of<item>;
  constexpr int total = 6'000;
  const life_balance lives;
  {
    std::vector<std::unique_ptr<queue>> queues;
    for (int i = 0; i < total; ++i) queues.emplace_back(new queue(TypeParam::template make<item>(1)));
    std::atomic<int> reached{0};
    std::thread producer([&] {
      for (int i = 0; i < total; ++i) {
        for (unsigned tries = 1; reached.load(std::memory_order_relaxed) < i; ++tries) look_closely(tries);
        EXPECT_EQ(queues[static_cast<std::size_t>(i)]->try_push(item(i)), push_outcome::pushed);
        queues[static_cast<std::size_t>(i)]->close();
      }
    });
    int missed = 0;
    for (int i = 0; i < total; ++i) {
      queue& from = *queues[static_cast<std::size_t>(i)];
      reached.store(i, std::memory_order_relaxed);
      int got = 0;
      unsigned tries = 0;
      const auto take = [&](item&& one) noexcept { got += one.number() == i ? 1 : 2; };
      if (i % 2 == 0) {
        item out(0);
        pop_outcome outcome = pop_outcome::empty;
        while ((outcome = from.try_pop(out)) != pop_outcome::ended) {
          outcome == pop_outcome::popped ? take(std::move(out)) : look_closely(++tries);
        }
      } else {
        while (!from.ended()) {
          if (from.consume(1, take) == 0) look_closely(++tries);
        }
      }
      missed += got == 1 ? 0 : 1;
    }
    producer.join();
    EXPECT_EQ(missed, 0);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// --- small histories -------------------------------------------------------------------------------------------------

// Strict answers: `full` and `empty` are true at some moment between call and return, and so is the order. See
// history.h.
TYPED_TEST(every_queue_stress, every_answer_is_right_at_a_moment_between_call_and_return) {
  using test = sides<TypeParam>;
  using item = typename TypeParam::item;
  for (int round = 0; round < 300; ++round) {
    const std::size_t capacity = std::size_t{1} << round % 3;
    auto queue = TypeParam::template make<item>(capacity, start_position{~0ULL - 3});
    history of(TypeParam::room(capacity), test::producers + test::consumers);
    std::atomic<int> waiting{test::producers + test::consumers};
    std::atomic<int> sending{test::producers};
    const auto all_together = [&] {
      spin wait;
      for (waiting.fetch_sub(1); waiting.load() != 0;) wait.pause();
    };
    std::vector<std::thread> threads;
    for (int sender = 0; sender < test::producers; ++sender) {
      threads.emplace_back([&, sender] {
        all_together();
        spin wait;
        for (int nth = 0; nth < 8;) {
          const int number = item_number(sender, nth);
          if (of.push(sender, number, [&] { return queue.try_push(item(number)); })) {
            ++nth;
          } else {
            wait.pause();
          }
        }
        if (sending.fetch_sub(1) == 1) queue.close();
      });
    }
    for (int consumer = 0; consumer < test::consumers; ++consumer) {
      threads.emplace_back([&, consumer] {
        all_together();
        spin wait;
        item out(-7);
        for (;;) {
          const pop_outcome outcome = of.pop(
              test::producers + consumer, [&] { return queue.try_pop(out); }, [&] { return out.number(); });
          if (outcome == pop_outcome::ended) return;
          if (outcome != pop_outcome::popped) wait.pause();
        }
      });
    }
    for (std::thread& one : threads) one.join();
    of.expect_linear();
    if (::testing::Test::HasFailure()) return;
  }
}

// --- closed meanwhile ------------------------------------------------------------------------------------------------

template <class Kind>
class many_producers_stress : public ::testing::Test {};
using many_producers = ::testing::Types<mpsc, mpsc_in_place, boxed, boxed_in_place>;
TYPED_TEST_SUITE(many_producers_stress, many_producers, kind_names);

TYPED_TEST(many_producers_stress, what_is_closed_meanwhile_gives_exactly_the_items_whose_push_said_so) {
  using test = sides<TypeParam>;
  const life_balance lives;
  for (int round = 0; round < 60; ++round) {
    auto queue = TypeParam::template make<typename TypeParam::item>(std::size_t{1} << round % 7);
    std::vector<int> sent(3, 0);
    std::vector<std::thread> threads;
    for (int sender = 0; sender < 3; ++sender) {
      threads.emplace_back(
          [&, sender] { sent[static_cast<std::size_t>(sender)] = test::send(queue, sender, 10'000'000); });
    }
    arrivals got(3);
    test::receive(queue, got, [&] { return got.count() > 3 * round; });
    if (round % 2 == 0) {
      queue.close();
    } else {
      threads.emplace_back([&] { queue.close(); });
    }
    test::receive(queue, got);
    for (std::thread& one : threads) one.join();
    got.expect_all(sent);
    EXPECT_EQ(queue.size(), 0u);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::queue::testing
