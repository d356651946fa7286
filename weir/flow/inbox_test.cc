#include <weir/flow/inbox.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/start.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/manual_executor.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;
using testing::manual_executor;
using testing::outcome;
using testing::script;

constexpr std::array every_policy{overflow::block, overflow::fail, overflow::drop_newest, overflow::drop_oldest,
                                  overflow::latest};

/// What a flow gives until it is pending or at its end.
template <class Flow>
struct seen {
  std::vector<int> numbers;
  step why = step::more;
  error failure;
  int wakes = 0;

  explicit seen(Flow& from, std::size_t demand = unbounded) { look(from, demand); }
  void look(Flow& from, std::size_t demand = unbounded) {
    context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
    why = from.pull(
        demand, [this](int&& item) { numbers.push_back(item); }, cx);
  }
};

// --- conformance ------------------------------------------------------------------------------------------------

/// A flow whose items go through an inbox: a driver on an executor pushes what the source gives.
class through_inbox {
  struct pushing {
    std::unique_ptr<inbox<counted>> to;
    void on_item(counted&& item) { EXPECT_EQ(to->push(std::move(item)), inbox_push::pushed); }
    void on_end(step end, error why) {
      if (end == step::done) to->close();
      if (end == step::failed) to->fail(std::move(why));
      if (end == step::cancelled) to->fail(weir::fail(errc::cancelled, "cancelled"));
    }
  };

 public:
  using value_type = counted;

  through_inbox(script from, executor& on, inbox_options options)
      : through_inbox(std::move(from), on, std::make_unique<inbox<counted>>(options)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return items_.pull(demand, emit, cx);
  }

 private:
  through_inbox(script from, executor& on, std::unique_ptr<inbox<counted>> to)
      : items_(to->items()), running_(start(std::move(from), on, pushing{std::move(to)})) {}

  detail::inbox_flow<counted> items_;
  subscription running_;
};

TEST(inbox, conforms) {
  for (const overflow policy : {overflow::block, overflow::fail, overflow::drop_newest, overflow::drop_oldest}) {
    manual_executor there;
    const auto complaint = testing::conforms(
        [&](script from) {
          return through_inbox(std::move(from), there, {8, policy});
        },
        [](const std::vector<int>& numbers, step end) {
          return outcome{numbers, end == step::cancelled ? step::failed : end};
        },
        {.settle = [&](testing::stage& on) {
          do {
            there.run_all();
            on.fire();
          } while (!there.idle());
        }});
    EXPECT_EQ(complaint, "") << static_cast<int>(policy);
  }
}

// --- what is full -----------------------------------------------------------------------------------------------

TEST(inbox, that_is_full_answers_full_and_leaves_the_item_alone) {
  for (const overflow policy : {overflow::fail, overflow::block}) {
    inbox<std::unique_ptr<int>> box({2, policy});
    auto flow = box.items();
    EXPECT_EQ(box.try_push(std::make_unique<int>(1)), inbox_push::pushed);
    EXPECT_EQ(box.try_push(std::make_unique<int>(2)), inbox_push::pushed);
    auto third = std::make_unique<int>(3);
    EXPECT_EQ(box.try_push(std::move(third)), inbox_push::full);
    ASSERT_TRUE(third);
    EXPECT_EQ(*third, 3);
    EXPECT_EQ(box.counts().pushed, 2u);
    EXPECT_EQ(box.counts().refused, 1u);
  }
}

TEST(inbox, of_drop_newest_keeps_the_first_items) {
  inbox<int> box({4, overflow::drop_newest});
  auto flow = box.items();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(box.push(i), inbox_push::pushed);
  for (int i = 4; i < 10; ++i) EXPECT_EQ(box.push(i), inbox_push::dropped);
  box.close();
  EXPECT_EQ(*to_vector(std::move(flow)), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(box.counts().pushed, 4u);
  EXPECT_EQ(box.counts().dropped, 6u);
}

TEST(inbox, of_drop_oldest_keeps_the_last_items_in_order) {
  inbox<int> box({3, overflow::drop_oldest});
  auto flow = box.items();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(box.push(i), inbox_push::pushed);
  box.close();
  EXPECT_EQ(*to_vector(std::move(flow)), (std::vector<int>{7, 8, 9}));
  EXPECT_EQ(box.counts().pushed, 10u);
  EXPECT_EQ(box.counts().dropped, 7u);
}

TEST(inbox, of_latest_keeps_the_last_item) {
  inbox<int> box({100, overflow::latest});
  auto flow = box.items();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(box.push(i), inbox_push::pushed);
  seen now(flow);
  EXPECT_EQ(now.numbers, (std::vector<int>{9}));
  EXPECT_EQ(now.why, step::pending);
  EXPECT_EQ(box.push(10), inbox_push::pushed);
  EXPECT_EQ(now.wakes, 1);
  now.look(flow);
  EXPECT_EQ(now.numbers, (std::vector<int>{9, 10}));
}

TEST(inbox, push_n_says_how_many_were_taken_and_why_no_more) {
  std::array<int, 5> items{1, 2, 3, 4, 5};
  const auto push = [&](overflow policy) {
    inbox<int> box({2, policy});
    const auto flow = box.items();
    return box.push_n(items);
  };
  EXPECT_EQ(push(overflow::fail).count, 2u);
  EXPECT_EQ(push(overflow::fail).answer, inbox_push::full);
  EXPECT_EQ(push(overflow::drop_newest).count, 2u);
  EXPECT_EQ(push(overflow::drop_newest).answer, inbox_push::dropped);
  EXPECT_EQ(push(overflow::drop_oldest).count, 5u);
  EXPECT_EQ(push(overflow::latest).answer, inbox_push::pushed);
}

TEST(inbox, push_until_gives_up_at_its_deadline) {
  inbox<int> box({1, overflow::block});
  auto flow = box.items();
  EXPECT_EQ(box.push(1), inbox_push::pushed);
  // A moment that has passed, so that nobody waits for it.
  EXPECT_EQ(box.push_until(2, std::chrono::steady_clock::time_point{}), inbox_push::full);
  seen now(flow, 1);
  EXPECT_EQ(box.push_until(3, std::chrono::steady_clock::time_point{}), inbox_push::pushed);
  now.look(flow);
  EXPECT_EQ(now.numbers, (std::vector<int>{1, 3}));
}

// --- ends -------------------------------------------------------------------------------------------------------

TEST(inbox, gives_what_is_in_before_its_end_and_takes_nothing_after_it) {
  for (const overflow policy : every_policy) {
    inbox<int> box({4, policy});
    auto flow = box.items();
    EXPECT_EQ(box.push(1), inbox_push::pushed);
    box.fail(fail(errc::io, "unplugged"));
    box.close();  // too late: the first end counts
    EXPECT_EQ(box.push(2), inbox_push::closed);
    const seen all(flow);
    EXPECT_EQ(all.numbers, (std::vector<int>{1}));
    EXPECT_EQ(all.why, step::failed);
    EXPECT_EQ(all.failure.message, "unplugged");
  }
}

TEST(inbox, that_is_destroyed_has_ended_its_flow_well) {
  for (const overflow policy : every_policy) {
    auto box = std::make_unique<inbox<int>>(inbox_options{4, policy});
    auto flow = box->items();
    EXPECT_EQ(box->push(1), inbox_push::pushed);
    box.reset();
    EXPECT_EQ(*to_vector(std::move(flow)), (std::vector<int>{1}));
  }
}

TEST(inbox, whose_flow_is_gone_says_so_to_producers_and_destroys_what_is_in) {
  for (const overflow policy : every_policy) {
    const life_balance lives;
    inbox<counted> box({4, policy});
    {
      const auto flow = box.items();
      EXPECT_EQ(box.push(counted(1)), inbox_push::pushed);
      EXPECT_FALSE(box.cancelled());
    }
    EXPECT_EQ(lives.surplus(), 0);
    EXPECT_TRUE(box.cancelled());
    EXPECT_EQ(box.push(counted(2)), inbox_push::cancelled);
    EXPECT_EQ(box.try_push(counted(2)), inbox_push::cancelled);
    EXPECT_EQ(box.counts().refused, 2u);
  }
}

TEST(inbox, without_a_flow_keeps_its_items_and_frees_them) {
  const life_balance lives;
  for (const overflow policy : every_policy) {
    inbox<counted> box({4, policy});
    EXPECT_EQ(box.push(counted(1)), inbox_push::pushed);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(inbox, a_producer_that_waits_is_told_that_the_flow_is_gone_or_the_inbox_closed) {
  for (const bool by_leaving : {false, true}) {
    for (int round = 0; round < 200; ++round) {
      inbox<int> box({1, overflow::block});
      auto flow = std::make_unique<detail::inbox_flow<int>>(box.items());
      ASSERT_EQ(box.push(1), inbox_push::pushed);
      inbox_push answer{};
      std::atomic<bool> begun{false};
      std::thread producer([&] {
        begun = true;
        answer = box.push(2);
      });
      while (!begun) queue::relax();
      // From before it looks for a place to after it has gone to sleep.
      for (int i = 0; i < round * 100; ++i) queue::relax();
      if (by_leaving) {
        flow.reset();
      } else {
        box.close();
      }
      producer.join();
      if (by_leaving) {
        // A push that had looked before the flow left may find the place that became free with it.
        ASSERT_TRUE(answer == inbox_push::cancelled || answer == inbox_push::pushed) << static_cast<int>(answer);
        ASSERT_EQ(box.push(3), inbox_push::cancelled);
      } else {
        ASSERT_EQ(answer, inbox_push::closed);
      }
    }
  }
}

// An item whose move throws is not in the inbox, and the inbox goes on.
TEST(inbox, survives_an_item_that_throws_when_it_is_moved) {
  for (const overflow policy : every_policy) {
    const life_balance lives;
    inbox<counted> box({4, policy});
    auto flow = box.items();
    counted first(1);
    counted::moves_until_throw() = 1;
    EXPECT_THROW((void)box.push(std::move(first)), counted::thrown);
    EXPECT_EQ(box.push(counted(2)), inbox_push::pushed);
    box.close();
    std::vector<int> numbers;
    ASSERT_TRUE(std::move(flow) | for_each([&](counted&& item) { numbers.push_back(item.number()); }));
    EXPECT_EQ(numbers, (std::vector<int>{2}));
  }
}

TEST(inbox, a_consumer_may_push_to_it_while_it_is_given_an_item) {
  for (const overflow policy : {overflow::fail, overflow::drop_oldest}) {
    inbox<int> box({8, policy});
    std::vector<int> numbers;
    ASSERT_EQ(box.push(3), inbox_push::pushed);
    ASSERT_TRUE(box.items() | for_each([&](int item) {
                  numbers.push_back(item);
                  if (item == 0) return box.close();
                  ASSERT_EQ(box.push(item - 1), inbox_push::pushed);
                }));
    EXPECT_EQ(numbers, (std::vector<int>{3, 2, 1, 0}));
  }
}

// --- threads ----------------------------------------------------------------------------------------------------

constexpr int producers = 3;

/// Three threads push `each` items; what came out is checked against what the pushes answered.
void push_from_threads(overflow policy, int each) {
  inbox<counted> box({16, policy});
  auto flow = box.items();
  std::atomic<int> left{producers};
  std::array<std::uint64_t, producers> taken{};
  std::vector<std::thread> threads;
  for (int name = 0; name < producers; ++name) {
    threads.emplace_back([&, name] {
      for (int i = 0; i < each; ++i) {
        if (box.push(counted(i * producers + name)) == inbox_push::pushed) ++taken[static_cast<std::size_t>(name)];
      }
      if (left.fetch_sub(1) == 1) box.close();
    });
  }
  std::uint64_t came = 0;
  std::array<int, producers> last{-1, -1, -1};
  bool in_order = true;
  ASSERT_TRUE(std::move(flow) | for_each([&](counted&& item) {
                ++came;
                auto& before = last[static_cast<std::size_t>(item.number() % producers)];
                in_order = in_order && item.number() / producers > before;
                before = item.number() / producers;
              }));
  for (std::thread& thread : threads) thread.join();
  const inbox_counts counts = box.counts();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(counts.pushed, taken[0] + taken[1] + taken[2]);
  const bool drops_taken = policy == overflow::drop_oldest || policy == overflow::latest;
  EXPECT_EQ(came, drops_taken ? counts.pushed - counts.dropped : counts.pushed);
  const auto all = static_cast<std::uint64_t>(each) * producers;
  EXPECT_EQ(counts.pushed + counts.refused + (drops_taken ? 0 : counts.dropped), all);
  if (policy == overflow::block) {
    EXPECT_EQ(came, all);
  }
}

TEST(inbox, accounts_for_every_item_that_any_thread_pushed) {
  const life_balance lives;
  for (const overflow policy : every_policy) push_from_threads(policy, 20'000);
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(inbox, batches_of_several_threads_come_whole_and_in_order) {
  constexpr int rounds = 2'000;
  inbox<int> box({32, overflow::block});
  auto flow = box.items();
  std::atomic<int> left{producers};
  std::vector<std::thread> threads;
  for (int name = 0; name < producers; ++name) {
    threads.emplace_back([&, name] {
      for (int round = 0; round < rounds; ++round) {
        std::array<int, 10> batch{};
        for (int i = 0; i < 10; ++i) batch[static_cast<std::size_t>(i)] = (round * 10 + i) * producers + name;
        EXPECT_EQ(box.push_n(batch).count, batch.size());
      }
      if (left.fetch_sub(1) == 1) box.close();
    });
  }
  std::array<int, producers> next{};
  bool in_order = true;
  ASSERT_TRUE(std::move(flow) | for_each([&](int item) {
                in_order = in_order && item / producers == next[static_cast<std::size_t>(item % producers)]++;
              }));
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(in_order);
  for (const int count : next) EXPECT_EQ(count, rounds * 10);
}

// The consumer leaves at many moments, with producers anywhere; its waker's target is freed right after (R7).
TEST(inbox, may_lose_its_consumer_at_any_moment) {
  const life_balance lives;
  struct consumer {
    std::atomic<int> wakes{0};
    static void wake(void* target) noexcept { ++static_cast<consumer*>(target)->wakes; }
  };
  for (const overflow policy : every_policy) {
    for (int round = 0; round < 300; ++round) {
      inbox<counted> box({4, policy});
      auto me = std::make_unique<consumer>();
      std::thread producer([&] {
        int i = 0;
        while (box.push(counted(++i)) != inbox_push::cancelled) {
        }
      });
      {
        auto flow = box.items();
        error failure;
        context cx(waker(&consumer::wake, me.get()), failure);
        for (int pulls = 0; pulls < 3; ++pulls) {
          std::size_t demand = 3;
          (void)flow.pull(
              demand, [](counted&&) {}, cx);
          for (int i = 0; i < round % 40; ++i) queue::relax();
        }
      }
      me.reset();
      producer.join();
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(inbox, several_of_them_merge_into_one_flow) {
  inbox<int> first({4, overflow::block});
  inbox<int> second({4, overflow::block});
  std::thread one([&] {
    for (int i = 0; i < 5'000; ++i) EXPECT_EQ(first.push(1), inbox_push::pushed);
    first.close();
  });
  std::thread two([&] {
    for (int i = 0; i < 5'000; ++i) EXPECT_EQ(second.push(2), inbox_push::pushed);
    second.close();
  });
  long sum = 0;
  ASSERT_TRUE(merge(first.items(), second.items()) | for_each([&](int i) { sum += i; }));
  one.join();
  two.join();
  EXPECT_EQ(sum, 15'000);
}

}  // namespace
}  // namespace weir::flow
