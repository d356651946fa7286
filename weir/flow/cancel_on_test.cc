#include <weir/flow/cancel_on.h>

#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/worker.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::pending;
using testing::script;

TEST(cancel_on, conforms_while_nobody_asks_to_stop) {
  const std::stop_source stop;
  for (const std::stop_token& token : {stop.get_token(), std::stop_token()}) {
    const auto complaint = testing::conforms([&](script from) { return std::move(from) | cancel_on(token); },
                                             [](const std::vector<int>& numbers, step end) {
                                               return outcome{numbers, end};
                                             });
    EXPECT_EQ(complaint, "");
  }
}

TEST(cancel_on, ends_as_cancelled_not_as_done) {
  std::stop_source stop;
  stop.request_stop();
  const auto items = to_vector(range(0, 3) | cancel_on(stop.get_token()));
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().code, errc::cancelled);
}

TEST(cancel_on, wakes_a_consumer_that_sleeps) {
  testing::stage on;
  std::stop_source stop;
  auto flow = script({pending()}, on) | cancel_on(stop.get_token());
  error failure;
  int wakes = 0;
  context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
  std::size_t demand = 1;
  ASSERT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::pending);
  EXPECT_EQ(wakes, 0);
  stop.request_stop();
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(flow.pull(
                demand, [](counted&&) {}, cx),
            step::cancelled);
}

TEST(cancel_on, does_not_call_the_waker_after_its_destruction) {
  testing::stage on;
  std::stop_source stop;
  int wakes = 0;
  {
    auto flow = script({pending()}, on) | cancel_on(stop.get_token());
    error failure;
    context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
    std::size_t demand = 1;
    ASSERT_EQ(flow.pull(
                  demand, [](counted&&) {}, cx),
              step::pending);
  }
  stop.request_stop();
  EXPECT_EQ(wakes, 0);
}

TEST(cancel_on, interrupts_an_endless_source_that_is_asked_for_everything) {
  std::stop_source stop;
  int made = 0;
  const auto outcome = generate([&]() -> std::optional<int> {
                         if (++made == 10) stop.request_stop();
                         return made;
                       }) |
                       cancel_on(stop.get_token()) | for_each([](int) {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::cancelled);
  EXPECT_LE(made, 4096);
}

// A stop from another thread, at any moment of a pipeline with two hops and a merge.
TEST(cancel_on, stops_a_whole_pipeline_from_another_thread) {
  worker first("first");
  worker second("second");
  for (int round = 0; round < 200; ++round) {
    std::stop_source stop;
    std::thread other([&] {
      for (int i = 0; i < round * 10; ++i) queue::relax();
      stop.request_stop();
    });
    const auto endless = [] { return generate([]() -> std::optional<int> { return 1; }); };
    const auto outcome = merge(endless() | observe_on(first), endless() | observe_on(second)) |
                         cancel_on(stop.get_token()) | for_each([](int) {});
    other.join();
    ASSERT_FALSE(outcome);
    ASSERT_EQ(outcome.error().code, errc::cancelled);
  }
}

}  // namespace
}  // namespace weir::flow
