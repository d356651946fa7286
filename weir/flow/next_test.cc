#include <weir/flow/next.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/async.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/testing/script.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::event;
using testing::item;
using testing::manual_executor;
using testing::pending;
using testing::script;

/// What a coroutine that reads item by item has seen: numbers, and how it ended.
struct reading {
  std::vector<int> numbers;
  std::optional<result<void>> end;
};

async<void> read_all(script from, reading& seen) {
  reader in(std::move(from));
  for (;;) {
    auto now = co_await next(in);
    if (!now) {
      seen.end = now.error();
      // It says the same again, without pulling what has ended; the script would complain.
      const auto again = co_await next(in);
      EXPECT_EQ(again.error().message, now.error().message);
      co_return;
    }
    if (!*now) {
      seen.end.emplace();
      const auto again = co_await next(in);
      EXPECT_FALSE(*again);
      co_return;
    }
    seen.numbers.push_back((*now)->number());
  }
}

/// Runs a coroutine to its end, waking its sources when it waits.
void run(async<void> work, testing::stage& on) {
  manual_executor there;
  auto running = spawn(std::move(work), there, [](const result<void>& end) { EXPECT_TRUE(end); });
  for (int round = 0; round < 100; ++round) {
    there.run_all();
    on.fire();
  }
  there.run_all();
}

TEST(next, gives_each_item_and_the_end_whatever_is_pending_between) {
  const life_balance lives;
  for (const auto end : {event::kind::done, event::kind::failed, event::kind::cancelled, event::kind::throws}) {
    for (unsigned pendings = 0; pendings < 16; ++pendings) {
      std::vector<event> events;
      for (int i = 0; i < 4; ++i) {
        if (pendings >> i & 1) events.push_back(pending());
        events.push_back(i < 3 ? item(i) : event{end, 0});
      }
      testing::stage on;
      reading seen;
      run(read_all(script(events, on), seen), on);
      EXPECT_EQ(on.complaint(), "");
      EXPECT_EQ(seen.numbers, (std::vector<int>{0, 1, 2}));
      ASSERT_TRUE(seen.end);
      ASSERT_EQ(seen.end->ok(), end == event::kind::done);
      if (end == event::kind::done) continue;
      EXPECT_EQ(seen.end->error().code, end == event::kind::failed      ? errc::io
                                        : end == event::kind::cancelled ? errc::cancelled
                                                                        : errc::threw);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// just() says that it is done together with its item.
TEST(next, gives_the_item_that_came_with_the_end) {
  const auto look = []() -> async<void> {
    reader in(just(5));
    const auto first = co_await next(in);
    EXPECT_EQ(**first, 5);
    EXPECT_TRUE(in.ended());
    const auto second = co_await next(in);
    EXPECT_FALSE(*second);
  };
  block_on(look());
}

TEST(next_batch, gives_what_is_ready_and_no_more_than_fits) {
  const auto look = []() -> async<std::vector<std::size_t>> {
    reader in(range(0, 10));
    std::array<int, 4> into{};
    std::vector<std::size_t> sizes;
    int expected = 0;
    for (;;) {
      const auto count = co_await next_batch(in, std::span<int>(into));
      sizes.push_back(*count);
      if (*count == 0) co_return sizes;
      for (std::size_t i = 0; i < *count; ++i) EXPECT_EQ(into[i], expected++);
    }
  };
  EXPECT_EQ(block_on(look()), (std::vector<std::size_t>{4, 4, 2, 0}));
}

TEST(next_batch, waits_for_no_company_and_gives_a_failure_after_the_items_before_it) {
  testing::stage on;
  std::vector<std::size_t> sizes;
  std::optional<error> why;
  const auto look = [](script from, std::vector<std::size_t>& seen, std::optional<error>& failure) -> async<void> {
    reader in(std::move(from));
    std::vector<counted> into;
    for (int i = 0; i < 8; ++i) into.emplace_back(0);
    for (;;) {
      const auto count = co_await next_batch(in, std::span<counted>(into));
      if (!count) {
        failure = count.error();
        co_return;
      }
      seen.push_back(*count);
    }
  };
  run(look(script({item(1), pending(), item(2), item(3), event{event::kind::failed, 0}}, on), sizes, why), on);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2}));
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code, errc::io);
}

TEST(next_batch, reads_across_threads_in_order) {
  worker there;
  const auto look = [](any_flow<int> from) -> async<int> {
    reader in(std::move(from));
    std::array<int, 64> into{};
    int expected = 0;
    for (;;) {
      const auto count = co_await next_batch(in, std::span<int>(into));
      if (*count == 0) co_return expected;
      for (std::size_t i = 0; i < *count; ++i) {
        if (into[i] != expected++) co_return -1;
      }
    }
  };
  EXPECT_EQ(block_on(look(range(0, 200'000) | observe_on(there, {128}))), 200'000);
}

TEST(for_each_await, gives_every_item_and_says_how_the_flow_ended) {
  const auto look = [](int fails_at) -> async<result<long>> {
    long sum = 0;
    auto end = co_await for_each_await(range(0, 10'000), [&sum, fails_at](int i) -> result<void> {
      if (i == fails_at) return weir::fail(errc::too_large, "enough");
      sum += i;
      return {};
    });
    if (!end && fails_at < 0) co_return std::move(end).error();
    co_return sum;
  };
  EXPECT_EQ(*block_on(look(-1)), 10'000L * 9'999 / 2);
  EXPECT_EQ(*block_on(look(100)), 100L * 99 / 2);
}

// Named before they are awaited, as g++ 12 wants it (async.h).
TEST(for_each_await, owns_its_function_and_frees_it_once) {
  const life_balance lives;
  const auto look = []() -> async<int> {
    int sum = 0;
    auto add = [&sum, one = std::make_shared<counted>(1)](int i) { sum += i * one->number(); };
    const auto first = co_await for_each_await(range(0, 10), std::move(add));
    auto all =
        for_each_await(range(0, 10), [&sum, two = std::make_shared<counted>(2)](int i) { sum += i * two->number(); });
    const auto second = co_await std::move(all);
    co_return first&& second ? sum : -1;
  };
  EXPECT_EQ(block_on(look()), 45 + 90);
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(for_each_await, makes_an_exception_of_the_function_a_failure) {
  const auto look = []() -> async<errc> {
    const auto end = co_await for_each_await(range(0, 10), [](int) { throw std::runtime_error("no"); });
    co_return end.error().code;
  };
  EXPECT_EQ(block_on(look()), errc::threw);
}

TEST(for_each_await, gives_up_its_turn_after_a_bounded_number_of_items) {
  manual_executor there;
  long seen = 0;
  const auto look = [](long& counter) -> async<void> {
    const auto end = co_await for_each_await(range(0, 100'000), [&counter](int) { ++counter; });
    EXPECT_TRUE(end);
  };
  const auto running = spawn(look(seen), there, [](const result<void>&) {});
  ASSERT_TRUE(there.run_one());
  EXPECT_LE(seen, 2 * 4096);
  EXPECT_FALSE(there.idle());
  there.run_all();
  EXPECT_EQ(seen, 100'000);
}

}  // namespace
}  // namespace weir::flow
