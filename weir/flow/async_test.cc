#include <weir/flow/async.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/map.h>
#include <weir/flow/next.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/testing/script.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using queue::testing::steady;
using testing::counted;
using testing::item;
using testing::manual_executor;
using testing::pending;
using testing::script;

async<int> seven() { co_return 7; }
async<int> twice(async<int> of) { co_return 2 * co_await std::move(of); }
async<void> broken() {
  throw std::runtime_error("broken");
  co_return;
}

async<result<long>> sum(any_flow<int> numbers) {
  reader in(std::move(numbers));
  long total = 0;
  for (;;) {
    auto number = co_await next(in);
    if (!number) co_return number.error();
    if (!*number) co_return total;
    total += **number;
  }
}

async<void> count(any_flow<counted> items, int& so_far) {
  reader in(std::move(items));
  for (;;) {
    auto next_one = co_await next(in);
    if (!next_one || !*next_one) co_return;
    ++so_far;
  }
}

TEST(async, answers_through_others) { EXPECT_EQ(block_on(twice(twice(seven()))), 28); }

TEST(async, answers_what_can_only_be_moved) {
  const auto make = []() -> async<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  EXPECT_EQ(*block_on(make()), 3);
}

TEST(async, passes_an_exception_to_who_awaits_it) {
  const auto caught_by_parent = []() -> async<std::string> {
    std::string what;
    try {
      co_await broken();
    } catch (const std::runtime_error& thrown) {
      what = thrown.what();
    }
    co_return what;
  };
  EXPECT_EQ(block_on(caught_by_parent()), "broken");
  EXPECT_THROW(block_on(broken()), std::runtime_error);
}

TEST(async, begins_only_when_it_is_run_and_frees_its_parameters_if_it_never_is) {
  const life_balance lives;
  int begun = 0;
  {
    const auto take = [](steady, int& counter) -> async<void> {
      ++counter;
      co_return;
    };
    auto never = take(steady(1), begun);
    EXPECT_EQ(lives.surplus(), 1);
  }
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(lives.surplus(), 0);
}

// In a build without tail calls, coroutines that resume each other would pile up a frame for each of these.
TEST(async, a_million_that_answer_at_once_need_no_stack) {
  const auto many = []() -> async<long> {
    long total = 0;
    for (int i = 0; i < 1'000'000; ++i) total += co_await seven();
    co_return total;
  };
  EXPECT_EQ(block_on(many()), 7'000'000);
}

TEST(async, a_deep_recursion_needs_no_stack_at_its_end) {
  struct nested {
    static async<int> down(int depth) {
      if (depth == 0) co_return 0;
      co_return 1 + co_await down(depth - 1);
    }
  };
  EXPECT_EQ(block_on(nested::down(100'000)), 100'000);
}

TEST(block_on, sleeps_while_a_flow_from_another_thread_is_pending) {
  worker there;
  EXPECT_EQ(*block_on(sum(range(0, 100'000) | observe_on(there, {16}))), 100'000L * 99'999 / 2);
}

TEST(block_on, gives_a_failure_of_the_flow_as_the_coroutine_does) {
  const auto outcome = block_on(sum(flow::fail<int>(weir::fail(errc::io, "unplugged"))));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "unplugged");
}

TEST(spawn, runs_on_the_executor_and_gives_the_answer_there) {
  manual_executor there;
  std::optional<result<long>> answer;
  const auto running = spawn(sum(range(0, 100)), there, [&](result<long> of) { answer = std::move(of); });
  EXPECT_FALSE(answer);
  there.run_all();
  ASSERT_TRUE(answer);
  EXPECT_EQ(**answer, 4950);
}

TEST(spawn, makes_an_exception_a_failure) {
  manual_executor there;
  std::optional<result<void>> answer;
  const auto running = spawn(broken(), there, [&](result<void> of) { answer = std::move(of); });
  there.run_all();
  ASSERT_TRUE(answer);
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code, errc::threw);
  EXPECT_EQ(answer->error().message, "broken");
}

TEST(spawn, gives_up_the_executor_after_a_bounded_number_of_items) {
  manual_executor there;
  long seen = 0;
  const auto look = [](long& counter) -> async<void> {
    reader in(range(0, 1'000'000));
    for (;;) {
      const auto number = co_await next(in);
      if (!*number) co_return;
      ++counter;
    }
  };
  const auto running = spawn(look(seen), there, [](const result<void>&) {});
  ASSERT_TRUE(there.run_one());
  // The item that was in hand when the turn ended comes with the next one.
  EXPECT_EQ(seen, 4096);
  EXPECT_FALSE(there.idle()) << "it has posted itself again";
  there.run_all();
  EXPECT_EQ(seen, 1'000'000);
}

TEST(spawn, is_woken_by_its_flow_and_stopped_where_it_waits) {
  const life_balance lives;
  testing::stage on;
  manual_executor there;
  int seen = 0;
  bool ended = false;
  {
    auto running = spawn(count(script({item(1), pending(), item(2), pending(), item(3)}, on), seen), there,
                         [&](const result<void>&) { ended = true; });
    there.run_all();
    EXPECT_EQ(seen, 1);
    on.fire();
    there.run_all();
    EXPECT_EQ(seen, 2);
    EXPECT_TRUE(on.someone_sleeps());
  }
  there.run_all();
  EXPECT_FALSE(on.someone_sleeps()) << "the frame, and the flow in it, are gone";
  EXPECT_FALSE(ended);
  EXPECT_EQ(on.complaint(), "");
  EXPECT_EQ(lives.surplus(), 0);
}

// The subscription goes at many moments of a coroutine that is woken from another thread.
TEST(spawn, may_be_cancelled_at_any_moment) {
  worker source("source");
  worker there("there");
  for (int round = 0; round < 500; ++round) {
    auto running = spawn(sum(range(0, 1'000'000) | observe_on(source, {8})), there, [](const result<long>&) {});
    for (int i = 0; i < round; ++i) queue::relax();
  }
}

}  // namespace
}  // namespace weir::flow
