#include <weir/flow/reactive_streams.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/flow/worker.h>

// The numbers are those of the rules of Reactive Streams 1.0.4.

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::item;
using testing::manual_executor;
using testing::outcome;
using testing::pending;
using testing::script;

// --- both ways ---------------------------------------------------------------------------------------------------

TEST(reactive_streams, a_flow_that_goes_out_and_comes_in_again_conforms) {
  for (const std::size_t window : {1u, 2u, 128u}) {
    manual_executor there;
    const auto complaint =
        testing::conforms([&](script from) { return from_publisher(std::move(from) | to_publisher(there), {window}); },
                          [](const std::vector<int>& numbers, step end) {
                            return outcome{numbers, end == step::done ? end : step::failed};
                          },
                          {.settle = [&](testing::stage& on) {
                            do {
                              there.run_all();
                              on.fire();
                            } while (!there.idle());
                          }});
    EXPECT_EQ(complaint, "") << window;
  }
}

TEST(reactive_streams, everything_goes_over_between_threads_in_order) {
  const life_balance lives;
  constexpr int items = 100'000;
  for (const std::size_t window : {1u, 16u, 128u}) {
    worker there;
    int expected = 0;
    const int count = window == 1 ? items / 20 : items;
    ASSERT_TRUE(
        from_publisher(range(0, count) | map([](int i) { return counted(i); }) | to_publisher(there), {window}) |
        for_each([&](counted&& of) { ASSERT_EQ(of.number(), expected++); }));
    EXPECT_EQ(expected, count);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(reactive_streams, a_consumer_may_leave_at_any_moment) {
  const life_balance lives;
  {
    worker there;
    for (std::size_t round = 1; round <= 300; ++round) {
      std::size_t seen = 0;
      ASSERT_TRUE(
          from_publisher(range(0, 10'000'000) | map([](int i) { return counted(i); }) | to_publisher(there), {8}) |
          take(round) | for_each([&](counted&&) { ++seen; }));
      ASSERT_EQ(seen, round);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// --- from_publisher ----------------------------------------------------------------------------------------------

/// A publisher that does what the test says, and sees what it is asked.
struct by_hand final : reactive::publisher<int>, std::enable_shared_from_this<by_hand> {
  struct credit final : reactive::subscription {
    explicit credit(by_hand* whose) : of(whose) {}
    void request(std::int64_t count) noexcept override {
      of->requests.push_back(count);
      if (of->on_request) of->on_request(count);
    }
    void cancel() noexcept override { ++of->cancels; }
    by_hand* of;
  };

  void subscribe(std::shared_ptr<reactive::subscriber<int>> by) override {
    to = std::move(by);
    if (greets) to->on_subscribe(std::make_shared<credit>(this));
  }

  bool greets = true;
  std::shared_ptr<reactive::subscriber<int>> to;
  std::vector<std::int64_t> requests;
  int cancels = 0;
  std::function<void(std::int64_t)> on_request;
};

/// A flow from such a publisher, pulled by hand.
struct hand {
  std::shared_ptr<by_hand> from = std::make_shared<by_hand>();
  std::optional<detail::received<int>> flow;
  std::vector<int> got;
  error failure;
  int wakes = 0;

  explicit hand(std::size_t window) { flow.emplace(from_publisher<int>(from, {window})); }
  step pull(std::size_t demand = unbounded) {
    context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
    return flow->pull(
        demand, [this](int&& of) { got.push_back(of); }, cx);
  }
  void push(int count) {
    for (int i = 0; i < count; ++i) from->to->on_next(int(next++));
  }
  int next = 0;
};

TEST(from_publisher, subscribes_when_it_is_asked_for_an_item_and_requests_its_window) {
  hand in(8);
  EXPECT_EQ(in.pull(0), step::more);
  EXPECT_FALSE(in.from->to);
  EXPECT_EQ(in.pull(), step::pending);
  EXPECT_EQ(in.from->requests, (std::vector<std::int64_t>{8}));
}

TEST(from_publisher, requests_again_when_half_of_the_window_is_taken) {
  hand in(8);
  EXPECT_EQ(in.pull(), step::pending);
  in.push(8);
  EXPECT_EQ(in.wakes, 1);
  EXPECT_EQ(in.pull(3), step::more);
  EXPECT_EQ(in.from->requests.size(), 1u);
  EXPECT_EQ(in.pull(1), step::more);
  EXPECT_EQ(in.from->requests, (std::vector<std::int64_t>{8, 4}));
  EXPECT_EQ(in.pull(), step::pending);
  EXPECT_EQ(in.from->requests, (std::vector<std::int64_t>{8, 4, 4}));
  EXPECT_EQ(in.got.size(), 8u);
}

// 3.10: items may come from inside request. 3.3: which must not lead to request again, or the stack grows.
TEST(from_publisher, takes_items_from_inside_request_without_recursion) {
  hand in(4);
  int depth = 0;
  int deepest = 0;
  in.from->on_request = [&](std::int64_t count) {
    deepest = std::max(deepest, ++depth);
    in.push(static_cast<int>(count));
    --depth;
  };
  EXPECT_EQ(in.pull(10'000), step::more);
  EXPECT_EQ(in.got.size(), 10'000u);
  EXPECT_EQ(in.got.back(), 9'999);
  EXPECT_EQ(deepest, 1);
}

TEST(from_publisher, waits_for_a_publisher_that_greets_later) {
  hand in(4);
  in.from->greets = false;
  EXPECT_EQ(in.pull(), step::pending);
  in.from->to->on_subscribe(std::make_shared<by_hand::credit>(in.from.get()));
  EXPECT_EQ(in.wakes, 1);
  EXPECT_TRUE(in.from->requests.empty()) << "2.7: only the consumer's thread calls the subscription";
  EXPECT_EQ(in.pull(), step::pending);
  EXPECT_EQ(in.from->requests, (std::vector<std::int64_t>{4}));
}

TEST(from_publisher, cancels_when_it_is_destroyed_and_drops_what_still_comes) {  // 2.6, 2.8
  hand in(4);
  EXPECT_EQ(in.pull(), step::pending);
  in.push(1);
  in.flow.reset();
  EXPECT_EQ(in.from->cancels, 1);
  in.push(1);
  in.from->to->on_complete();
  EXPECT_EQ(in.wakes, 1);
}

TEST(from_publisher, that_is_gone_cancels_a_publisher_that_greets_too_late) {
  hand in(4);
  in.from->greets = false;
  EXPECT_EQ(in.pull(), step::pending);
  in.flow.reset();
  in.from->to->on_subscribe(std::make_shared<by_hand::credit>(in.from.get()));
  EXPECT_EQ(in.from->cancels, 1);
  EXPECT_TRUE(in.from->requests.empty());
}

TEST(from_publisher, cancels_a_second_subscription) {  // 2.5
  hand in(4);
  EXPECT_EQ(in.pull(), step::pending);
  in.from->to->on_subscribe(std::make_shared<by_hand::credit>(in.from.get()));
  EXPECT_EQ(in.from->cancels, 1);
  in.push(1);
  EXPECT_EQ(in.pull(), step::pending);
  EXPECT_EQ(in.got.size(), 1u);
}

TEST(from_publisher, fails_and_cancels_when_it_is_given_more_than_it_asked_for) {  // 1.1
  hand in(3);
  EXPECT_EQ(in.pull(), step::pending);
  in.push(4);
  EXPECT_EQ(in.pull(), step::failed);
  EXPECT_EQ(in.got, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(in.failure.code, errc::unexpected);
  in.flow.reset();
  EXPECT_EQ(in.from->cancels, 1);
}

TEST(from_publisher, ends_once_after_the_items_before_the_end) {  // 1.7, 2.9, 2.10
  for (const bool well : {true, false}) {
    hand in(4);
    EXPECT_EQ(in.pull(), step::pending);
    in.push(2);
    if (well) {
      in.from->to->on_complete();
    } else {
      in.from->to->on_error(fail(errc::io, "unplugged"));
    }
    in.push(1);
    in.from->to->on_complete();
    EXPECT_EQ(in.pull(), well ? step::done : step::failed);
    EXPECT_EQ(in.got.size(), 2u);
    in.flow.reset();
    EXPECT_EQ(in.from->cancels, 0) << "2.4: it is over for both";
  }
}

// --- to_publisher ------------------------------------------------------------------------------------------------

/// A subscriber that writes down what it is told.
template <class T = int>
struct notes final : reactive::subscriber<T> {
  void on_subscribe(std::shared_ptr<reactive::subscription> of) override {
    by = std::move(of);
    if (on_begin) on_begin();
  }
  void on_next(T&& of) override {
    got.push_back(std::move(of));
    if (on_item) on_item();
  }
  void on_error(error of) override { why = std::move(of), ++ends; }
  void on_complete() override { ++ends; }

  std::shared_ptr<reactive::subscription> by;
  std::vector<T> got;
  std::optional<error> why;
  int ends = 0;
  std::function<void()> on_begin;
  std::function<void()> on_item;
};

struct publishing {
  manual_executor there;
  std::shared_ptr<notes<>> to = std::make_shared<notes<>>();

  template <class Flow>
  explicit publishing(Flow from) {
    to_publisher(std::move(from), there)->subscribe(to);
    there.run_all();
  }
  void request(std::int64_t count) {
    to->by->request(count);
    there.run_all();
  }
};

TEST(to_publisher, gives_no_more_than_was_requested) {  // 1.1, 3.8
  int made = 0;
  publishing out(range(0, 10) | map([&](int i) { return ++made, i; }));
  ASSERT_TRUE(out.to->by);
  EXPECT_TRUE(out.to->got.empty());
  out.request(2);
  EXPECT_EQ(out.to->got.size(), 2u);
  EXPECT_EQ(made, 2);
  out.to->by->request(1);
  out.to->by->request(2);
  out.there.run_all();
  EXPECT_EQ(out.to->got, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(out.to->ends, 0);
  out.request(5);
  EXPECT_EQ(out.to->got.size(), 10u);
  EXPECT_EQ(out.to->ends, 1);
  EXPECT_FALSE(out.to->why);
  out.request(1);  // 3.6, after the end
  EXPECT_EQ(out.to->ends, 1);
}

TEST(to_publisher, of_no_items_ends_without_a_request) {  // 1.5, 2.9
  publishing out(empty<int>());
  EXPECT_EQ(out.to->ends, 1);
  publishing broken(flow::fail<int>(weir::fail(errc::io, "unplugged")));
  ASSERT_TRUE(broken.to->why);
  EXPECT_EQ(broken.to->why->message, "unplugged");
}

TEST(to_publisher, gives_a_failure_or_an_exception_after_the_items_before_it) {  // 1.4
  publishing out(range(0, 10) | map([](int i) {
                   if (i == 3) throw std::runtime_error("three");
                   return i;
                 }));
  out.request(100);
  EXPECT_EQ(out.to->got.size(), 3u);
  ASSERT_TRUE(out.to->why);
  EXPECT_EQ(out.to->why->code, errc::threw);
  EXPECT_EQ(out.to->ends, 1);
}

TEST(to_publisher, answers_a_request_for_nothing_with_an_error) {  // 3.9
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}}) {
    publishing out(range(0, 10));
    out.request(count);
    ASSERT_TRUE(out.to->why);
    EXPECT_EQ(out.to->why->code, errc::invalid_argument);
    EXPECT_TRUE(out.to->got.empty());
  }
}

TEST(to_publisher, takes_requests_that_add_up_to_more_than_a_number_holds) {  // 3.17
  publishing out(range(0, 10'000));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  out.to->by->request(most);
  out.to->by->request(most);
  ASSERT_TRUE(out.there.run_one());
  EXPECT_EQ(out.to->got.size(), 4096u) << "one turn";
  out.there.run_all();
  EXPECT_EQ(out.to->got.size(), 10'000u);
  EXPECT_FALSE(out.to->why);
  EXPECT_EQ(out.to->ends, 1);
}

// 3.2: request is allowed from inside on_subscribe and on_next. 3.3: it must not call on_next there.
TEST(to_publisher, is_asked_for_one_more_from_inside_each_item_without_recursion) {
  manual_executor there;
  const auto to = std::make_shared<notes<>>();
  int depth = 0;
  int deepest = 0;
  to->on_begin = [&] { to->by->request(1); };
  to->on_item = [&] {
    deepest = std::max(deepest, ++depth);
    to->by->request(1);
    --depth;
  };
  to_publisher(range(0, 10'000), there)->subscribe(to);
  there.run_all();
  EXPECT_EQ(to->got.size(), 10'000u);
  EXPECT_EQ(to->ends, 1);
  EXPECT_EQ(deepest, 1);
}

TEST(to_publisher, stops_at_a_cancel_and_lets_go_of_flow_and_subscriber) {  // 1.8, 3.5, 3.7, 3.12, 3.13
  const life_balance lives;
  testing::stage on;
  manual_executor there;
  auto to = std::make_shared<notes<counted>>();
  const std::weak_ptr<notes<counted>> watched = to;
  to->on_item = [seen = to.get()] {
    if (seen->got.size() == 2) seen->by->cancel();
  };
  to_publisher(script({item(1), item(2), item(3), pending()}, on), there)->subscribe(to);
  there.run_all();
  to->by->request(100);
  there.run_all();
  EXPECT_EQ(to->got.size(), 2u);
  EXPECT_EQ(to->ends, 0);
  const auto by = std::exchange(to->by, nullptr);
  to.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(lives.surplus(), 0);
  by->cancel();
  by->request(1);
  by->request(0);
  there.run_all();
}

TEST(to_publisher, takes_an_exception_of_the_subscriber_for_a_cancel) {  // 2.13
  publishing out(range(0, 10));
  out.to->on_item = [] { throw std::runtime_error("no"); };
  out.request(5);
  EXPECT_EQ(out.to->got.size(), 1u);
  EXPECT_EQ(out.to->ends, 0);
}

TEST(to_publisher, refuses_a_second_subscriber) {  // 1.9: on_subscribe first
  manual_executor there;
  const auto from = to_publisher(range(0, 10), there);
  const auto first = std::make_shared<notes<>>();
  const auto second = std::make_shared<notes<>>();
  from->subscribe(first);
  from->subscribe(second);
  EXPECT_TRUE(second->by);
  ASSERT_TRUE(second->why);
  EXPECT_EQ(second->why->code, errc::refused);
  there.run_all();
  EXPECT_TRUE(first->by);
  first->by->cancel();
  there.run_all();
}

TEST(to_publisher, frees_a_flow_that_nobody_subscribed_to) {
  const life_balance lives;
  manual_executor there;
  {
    const auto from = to_publisher(just(counted(1)), there);
    EXPECT_EQ(lives.surplus(), 1);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

// 1.3: one signal at a time, whoever requests from wherever.
TEST(to_publisher, gives_one_signal_at_a_time_to_threads_that_all_request) {
  struct checking final : reactive::subscriber<int> {
    void on_subscribe(std::shared_ptr<reactive::subscription> of) override {
      by = std::move(of);
      begun.store(true, std::memory_order_release);
    }
    void on_next(int&& of) override { in_order = in_order && of == count++; }
    void on_error(error) override { in_order = false; }
    void on_complete() override { over.store(true, std::memory_order_release); }
    std::shared_ptr<reactive::subscription> by;
    std::atomic<bool> begun{false};
    std::atomic<bool> over{false};
    int count = 0;  // of the executor's thread, and so seen to race if signals do
    bool in_order = true;
  };
  worker there;
  const auto to = std::make_shared<checking>();
  to_publisher(range(0, 30'000), there)->subscribe(to);
  while (!to->begun.load(std::memory_order_acquire)) queue::relax();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int asked = 0; asked < 10'000; ++asked) to->by->request(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (!to->over.load(std::memory_order_acquire)) queue::relax();
  EXPECT_TRUE(to->in_order);
  EXPECT_EQ(to->count, 30'000);
  to->by->cancel();
  to->by.reset();
}

}  // namespace
}  // namespace weir::flow
