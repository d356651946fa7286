#include <weir/flow/asio_executor.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/start.h>
#include <weir/flow/take.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;

/// An io_context that so many threads run, until the end of this.
class running_context {
 public:
  explicit running_context(int threads) : guard_(io.get_executor()) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { io.run(); });
  }
  ~running_context() {
    guard_.reset();
    for (std::thread& one : threads_) one.join();
  }
  running_context(const running_context&) = delete;
  running_context& operator=(const running_context&) = delete;

  asio::io_context io;

 private:
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::vector<std::thread> threads_;
};

/// Runs a function, each time it is posted.
template <class Function>
struct calling : task {
  Function function;
  explicit calling(Function what) : function(std::move(what)) {
    run = [](task* self) noexcept { static_cast<calling*>(self)->function(); };
  }
};

TEST(asio_executor, runs_the_work_of_a_hop_inside_run_and_keeps_its_order) {
  for (const int threads : {1, 2}) {
    running_context there(threads);
    asio_executor on(there.io.get_executor());
    bool inside = true;
    std::vector<int> seen;
    ASSERT_TRUE(range(0, 20'000) | map([&](int i) {
                  inside = inside && there.io.get_executor().running_in_this_thread();
                  return i;
                }) |
                observe_on(on, {64}) | for_each([&](int i) { seen.push_back(i); }));
    EXPECT_TRUE(inside);
    ASSERT_EQ(seen.size(), 20'000u);
    for (int i = 0; i < 20'000; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
  }
}

// A plain number that all tasks count: the thread sanitizer sees two at a time, and the sum does.
TEST(asio_executor, runs_one_task_at_a_time_in_the_order_of_posting_though_four_threads_run_the_context) {
  constexpr int tasks = 20'000;
  running_context there(4);
  std::vector<int> order;
  std::atomic<bool> all{false};
  const auto count = [&order, &all](int i) {
    return [&order, &all, i] {
      order.push_back(i);
      if (order.size() == tasks) all = true;
    };
  };
  std::deque<calling<decltype(count(0))>> work;
  asio_executor on(there.io.get_executor());
  for (int i = 0; i < tasks; ++i) on.post(work.emplace_back(count(i)));
  queue::spin wait;
  while (!all) wait.pause();
  ASSERT_EQ(order.size(), static_cast<std::size_t>(tasks));
  for (int i = 0; i < tasks; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(asio_executor, takes_turns_with_the_other_handlers_of_a_strand) {
  constexpr int each = 5'000;
  running_context there(3);
  auto strand = asio::make_strand(there.io);
  int both = 0;  // by tasks and handlers: on no other terms may they touch it
  std::atomic<int> tasks_left{each};
  std::atomic<int> handlers_left{each};
  const auto count = [&] {
    ++both;
    --tasks_left;
  };
  std::deque<calling<decltype(count)>> posted;
  asio_executor on(strand);
  for (int i = 0; i < each; ++i) {
    on.post(posted.emplace_back(count));
    asio::post(strand, [&] {
      ++both;
      --handlers_left;
    });
  }
  queue::spin wait;
  while (tasks_left != 0 || handlers_left != 0) wait.pause();
  EXPECT_EQ(both, 2 * each);
}

TEST(asio_executor, runs_nothing_inside_post_also_where_the_context_runs) {
  asio::io_context io;
  asio_executor on(io.get_executor());
  bool inside = false;
  int ran = 0;
  calling second([&] {
    EXPECT_FALSE(inside);
    ++ran;
  });
  calling first([&] {
    inside = true;
    on.post(second);
    inside = false;
    ++ran;
  });
  asio::post(io, [&] {
    inside = true;
    on.post(first);
    inside = false;
  });
  io.run();
  EXPECT_EQ(ran, 2);
}

TEST(asio_executor, gives_other_handlers_a_turn_between_two_rounds) {
  asio::io_context io;
  asio_executor on(io.get_executor());
  int rounds = 0;
  int rounds_before_the_handler = -1;
  struct repeating : task {
    asio_executor<asio::io_context::executor_type>* on;
    int* rounds;
  } work;
  work.on = &on;
  work.rounds = &rounds;
  work.run = [](task* self) noexcept {
    auto& me = *static_cast<repeating*>(self);
    if (++*me.rounds < 100) me.on->post(me);
  };
  on.post(work);
  asio::post(io, [&] { rounds_before_the_handler = rounds; });
  io.run();
  EXPECT_EQ(rounds, 100);
  EXPECT_EQ(rounds_before_the_handler, 1);
}

/// Counts items, and the end.
struct counting_sink {
  long* sum;
  std::optional<step>* end;
  void on_item(int i) { *sum += i; }
  void on_end(step how, error) { *end = how; }
};

TEST(asio_executor, loses_nothing_when_its_context_is_stopped_and_restarted) {
  asio::io_context io;
  asio_executor there(io.get_executor());
  asio_executor here(io.get_executor());
  long sum = 0;
  std::optional<step> end;
  auto running = start(range(0, 10'000) | map([&](int i) {
                         if (i % 500 == 0) io.stop();
                         return i;
                       }) | observe_on(there, {64}),
                       here, counting_sink{&sum, &end});
  int times = 0;
  for (; !end && times < 1'000; ++times) {
    io.run();
    io.restart();
  }
  EXPECT_EQ(end, step::done);
  EXPECT_EQ(sum, 10'000L * 9'999 / 2);
  EXPECT_GT(times, 5);
}

TEST(asio_executor, that_goes_runs_what_nobody_runs_any_more) {
  int ran = 0;
  std::optional<asio::io_context> io(std::in_place);
  // The tasks outlive the executor, which runs them when it goes.
  std::optional<asio_executor<asio::io_context::executor_type>> on(io->get_executor());
  executor& there = *on;  // also while it goes, where `on` may not be asked any more
  calling second([&] { ++ran; });
  calling first([&] {
    ++ran;
    there.post(second);
  });
  there.post(first);
  on.reset();
  EXPECT_EQ(ran, 2);
  io->run();  // finds a round that has nothing to do
  EXPECT_EQ(ran, 2);

  calling last([&] { ++ran; });
  on.emplace(io->get_executor());
  on->post(last);
  io.reset();
  on.reset();
  EXPECT_EQ(ran, 3);
}

// The usual order in a program: the subscription goes, then the executor, and nobody runs the context meanwhile.
TEST(asio_executor, lets_a_flow_go_that_waits_for_it) {
  const life_balance lives;
  std::size_t seen = 0;
  {
    asio::io_context io;
    asio_executor there(io.get_executor());
    {
      auto flow = range(0, 1'000'000) | map([](int i) { return counted(i); }) | observe_on(there, {16});
      error failure;
      context cx({}, failure);
      for (int i = 0; i < 4; ++i) {
        std::size_t demand = 10;
        (void)flow.pull(
            demand, [&](counted&&) { ++seen; }, cx);
        io.restart();
        io.poll();
      }
    }
  }
  EXPECT_GT(seen, 0u);
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(asio_executor, may_go_at_any_moment_while_threads_run_its_context) {
  running_context there(2);
  for (int round = 0; round < 300; ++round) {
    const life_balance lives;
    {
      asio_executor on(there.io.get_executor());
      ASSERT_TRUE(range(0, 10'000'000) | map([](int i) { return counted(i); }) | observe_on(on, {32}) |
                  take(static_cast<std::size_t>(round) + 1) | for_each([](counted&&) {}));
    }
    ASSERT_EQ(lives.surplus(), 0);
  }
}

TEST(asio_executor, takes_executors_whose_type_is_forgotten) {
  running_context there(2);
  asio_executor on(asio::any_io_executor(there.io.get_executor()));
  EXPECT_EQ(*to_vector(range(0, 5) | observe_on(on)), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(asio_executor, carries_a_failure_after_the_items_before_it) {
  running_context there(1);
  asio_executor on(there.io.get_executor());
  std::vector<int> seen;
  const auto outcome = range(0, 5) | map([](int i) {
                         if (i == 3) throw std::runtime_error("three");
                         return i;
                       }) |
                       observe_on(on) | for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "three");
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace weir::flow
