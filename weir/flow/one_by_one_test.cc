#include <weir/flow/one_by_one.h>

#include <atomic>
#include <optional>
#include <semaphore>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

using testing::outcome;
using testing::script;

TEST(one_by_one, conforms) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | one_by_one(); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

/// Waits inside pull for each item after the first, until somebody allows it.
struct reluctant {
  std::counting_semaphore<>* allowed;
  std::atomic<int>* made;
  int next = 0;
  std::optional<int> operator()() {
    if (next != 0) allowed->acquire();
    made->fetch_add(1);
    return next++;
  }
};

// Without it, the source would be asked for a batch, and wait for ever for its second item to be allowed.
TEST(one_by_one, lets_an_item_of_a_source_that_waits_through_a_hop_and_an_erased_flow) {
  std::counting_semaphore<> allowed{0};
  std::atomic<int> made{0};
  worker other;
  std::vector<int> seen;
  any_flow<int> numbers = generate(reluctant{&allowed, &made}) | one_by_one();
  ASSERT_TRUE(std::move(numbers) | one_by_one() | observe_on(other) | take(5) | for_each([&](int item) {
                seen.push_back(item);
                allowed.release();
              }));
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(one_by_one, lets_a_consumer_that_leaves_stop_the_source_after_one_more_item) {
  std::counting_semaphore<> allowed{0};
  std::atomic<int> made{0};
  {
    worker other;
    ASSERT_TRUE(generate(reluctant{&allowed, &made}) | one_by_one() | observe_on(other) | take(3) |
                for_each([&](int) { allowed.release(); }));
    allowed.release(1'000);
  }
  EXPECT_LE(made, 5);
}

}  // namespace
}  // namespace weir::flow
