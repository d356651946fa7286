#include <weir/flow/reduce.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(reduce, conforms) {
  const auto complaint = testing::conforms(
      [](script from) {
        return std::move(from) | reduce(counted(100), [](counted so_far, counted item) {
                 return counted(so_far.number() * 2 + item.number());
               });
      },
      [](const std::vector<int>& numbers, step end) {
        int made = 100;
        for (const int number : numbers) made = made * 2 + number;
        return end == step::done ? outcome{{made}, end} : outcome{{}, end};
      });
  EXPECT_EQ(complaint, "");
}

TEST(collect, conforms) {
  const auto complaint = testing::conforms(
      [](script from) {
        return std::move(from) | collect(std::vector<counted>(), [](std::vector<counted>& all, counted&& item) {
                 all.push_back(std::move(item));
               });
      },
      [](const std::vector<int>& numbers, step end) {
        return end == step::done ? outcome{numbers, end} : outcome{{}, end};
      });
  EXPECT_EQ(complaint, "");
}

TEST(reduce, of_nothing_is_the_seed) {
  EXPECT_EQ(*to_vector(empty<int>() | reduce(7, [](int a, int b) { return a + b; })), std::vector<int>{7});
  EXPECT_EQ(*to_vector(range(1, 101) | reduce(0, [](int a, int b) { return a + b; })), std::vector<int>{5050});
}

TEST(reduce, moves_what_can_only_be_moved) {
  const auto items = to_vector(range(0, 4) |
                               reduce(std::make_unique<int>(0),
                                      [](std::unique_ptr<int> sum, int i) {
                                        *sum += i;
                                        return sum;
                                      }) |
                               map([](std::unique_ptr<int> sum) { return *sum; }));
  EXPECT_EQ(*items, std::vector<int>{6});
}

TEST(reduce, does_nothing_until_it_is_asked_and_lets_others_have_their_turn) {
  int calls = 0;
  testing::test_consumer sum(range(0, 10'000) | reduce(0, [&](int a, int) { return ++calls, a + 1; }));
  EXPECT_EQ(sum.request(0), step::more);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(sum.request(1), step::pending);
  EXPECT_EQ(calls, 4096);
  EXPECT_EQ(sum.wakes, 1u) << "pending, and woken at once";
  EXPECT_EQ(sum.request(1), step::pending);
  EXPECT_EQ(sum.request(1), step::done);
  EXPECT_EQ(sum.items, std::vector<int>{10'000});
}

TEST(reduce, a_failure_comes_without_an_item) {
  std::vector<int> seen;
  const auto outcome = range(0, 5) | map([](int i) {
                         if (i == 2) throw std::runtime_error("two");
                         return i;
                       }) |
                       reduce(0, [](int a, int b) { return a + b; }) | for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "two");
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace weir::flow
