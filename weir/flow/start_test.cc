#include <weir/flow/start.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/testing/script.h>
#include <weir/flow/worker.h>
#include <weir/queue/park_point.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;
using testing::item;
using testing::manual_executor;
using testing::pending;
using testing::script;

/// What a sink was told.
struct story {
  std::vector<int> items;
  std::optional<step> end;
  error why;
  int sinks_alive = 0;
};

struct telling {
  explicit telling(story& to) : of(&to) { ++of->sinks_alive; }
  telling(telling&& other) noexcept : of(other.of) { ++of->sinks_alive; }
  telling& operator=(telling&&) = delete;
  ~telling() { --of->sinks_alive; }
  void on_item(int number) { of->items.push_back(number); }
  void on_item(counted&& from) { of->items.push_back(from.number()); }
  void on_end(step end, error why) {
    EXPECT_FALSE(of->end) << "a flow ends once";
    of->end = end;
    of->why = std::move(why);
  }
  story* of;
};

TEST(start, gives_items_and_end_on_the_executor_only) {
  manual_executor on;
  story told;
  const subscription running = start(range(0, 3), on, telling(told));
  EXPECT_TRUE(told.items.empty()) << "nothing happens inside start";
  on.run_all();
  EXPECT_EQ(told.items, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(told.end, step::done);
  EXPECT_EQ(told.sinks_alive, 0);
}

TEST(start, gives_others_their_turn_every_4096_items) {
  manual_executor on;
  story told;
  const subscription running = start(range(0, 10'000), on, telling(told));
  ASSERT_TRUE(on.run_one());
  EXPECT_EQ(told.items.size(), 4096u);
  ASSERT_TRUE(on.run_one());
  EXPECT_EQ(told.items.size(), 8192u);
  ASSERT_TRUE(on.run_one());
  EXPECT_EQ(told.end, step::done);
  EXPECT_TRUE(on.idle());
}

TEST(start, sleeps_while_the_flow_is_pending) {
  testing::stage stage;
  manual_executor on;
  story told;
  const subscription running = start(script({item(1), pending(), item(2)}, stage), on, telling(told));
  on.run_all();
  EXPECT_EQ(told.items, (std::vector<int>{1}));
  EXPECT_TRUE(on.idle());
  stage.fire();
  EXPECT_EQ(on.run_all(), 1u) << "two wakes, one run";
  EXPECT_EQ(told.items, (std::vector<int>{1, 2}));
  EXPECT_EQ(told.end, step::done);
}

TEST(start, tells_of_failures_and_exceptions) {
  manual_executor on;
  story failed;
  const subscription one = start(fail<int>(weir::fail(errc::io, "broken")), on, telling(failed));
  story threw;
  const subscription two = start(range(0, 3) | map([](int i) {
                                   if (i == 1) throw std::runtime_error("one");
                                   return i;
                                 }),
                                 on, telling(threw));
  on.run_all();
  EXPECT_EQ(failed.end, step::failed);
  EXPECT_EQ(failed.why.message, "broken");
  EXPECT_EQ(threw.items, (std::vector<int>{0}));
  EXPECT_EQ(threw.end, step::failed);
  EXPECT_EQ(threw.why.code, errc::threw);
}

TEST(start, a_cancelled_subscription_hears_nothing_more) {
  const life_balance lives;
  for (std::size_t runs = 0; runs < 3; ++runs) {
    testing::stage stage;
    manual_executor on;
    story told;
    {
      const subscription running =
          start(script({item(1), pending(), item(2), pending(), item(3)}, stage), on, telling(told));
      for (std::size_t i = 0; i < runs; ++i) {
        on.run_all();
        stage.fire();
      }
    }
    const auto so_far = told.items;
    stage.fire();
    on.run_all();
    EXPECT_EQ(told.items, so_far);
    EXPECT_EQ(told.end, std::nullopt);
    EXPECT_EQ(told.sinks_alive, 0) << "destroyed on the executor";
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(start, may_be_cancelled_from_inside_its_sink) {
  struct cancelling {
    std::vector<int>* seen;
    subscription* mine;
    void on_item(int number) {
      seen->push_back(number);
      if (number == 2) mine->cancel();
    }
    void on_end(step, error) { seen->push_back(-1); }
  };
  manual_executor on;
  std::vector<int> seen;
  subscription mine;
  mine = start(range(0, 100), on, cancelling{&seen, &mine});
  on.run_all();
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

TEST(start, may_be_let_go_from_inside_its_end) {
  struct last_words {
    std::unique_ptr<subscription>* mine;
    void on_item(int) {}
    void on_end(step, error) { mine->reset(); }
  };
  manual_executor on;
  auto mine = std::make_unique<subscription>();
  *mine = start(range(0, 1), on, last_words{&mine});
  on.run_all();
  EXPECT_EQ(mine, nullptr);
}

// Cancelled from another thread than the executor's, at many moments; the sanitizers watch.
TEST(start, may_be_cancelled_from_another_thread_at_any_moment) {
  struct counting {
    std::shared_ptr<long> seen;
    void on_item(int) { ++*seen; }
    void on_end(step, error) {}
  };
  worker far("source");  // outlives the driver, which lets go of what runs on it
  worker on("driver");
  for (int round = 0; round < 500; ++round) {
    subscription running = start(generate([]() -> std::optional<int> { return 1; }) | observe_on(far, {64}), on,
                                 counting{std::make_shared<long>(0)});
    for (int i = 0; i < round * 5; ++i) queue::relax();
    running.cancel();
  }
}

TEST(start, runs_to_the_end_on_a_worker) {
  struct summing {
    long* sum;
    queue::park_point* done;
    void on_item(int i) { *sum += i; }
    void on_end(step, error) { done->wake(); }
  };
  long sum = 0;
  queue::park_point done;
  worker far("source");  // outlives the driver, which lets go of what runs on it
  worker on("driver");
  const subscription running = start(range(0, 100'000) | observe_on(far), on, summing{&sum, &done});
  done.wait();
  EXPECT_EQ(sum, 100'000L * 99'999 / 2);
}

}  // namespace
}  // namespace weir::flow
