#include <weir/flow/take_last.h>

#include <algorithm>
#include <memory>
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

using testing::outcome;
using testing::script;

TEST(take_last, conforms) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 9u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | take_last(count); },
                                             [=](std::vector<int> numbers, step end) {
                                               if (end != step::done) return outcome{{}, end};
                                               const auto kept =
                                                   static_cast<std::ptrdiff_t>(std::min(count, numbers.size()));
                                               numbers.erase(numbers.begin(), numbers.end() - kept);
                                               return outcome{numbers, end};
                                             });
    EXPECT_EQ(complaint, "") << count;
  }
}

TEST(take_last, gives_the_last_ones_in_order_wherever_they_wrap) {
  for (int total = 0; total < 30; ++total) {
    const auto items = to_vector(range(0, total) | map([](int i) { return std::make_unique<int>(i); }) | take_last(7) |
                                 map([](std::unique_ptr<int> p) { return *p; }));
    EXPECT_EQ(*items, *to_vector(range(std::max(0, total - 7), total))) << total;
  }
}

TEST(take_last, gives_no_more_at_once_than_was_asked_for_and_does_nothing_before) {
  int made = 0;
  testing::test_consumer last(range(0, 10) | map([&](int i) { return ++made, i; }) | take_last(3));
  EXPECT_EQ(last.request(0), step::more);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(last.request(2), step::more);
  EXPECT_EQ(last.items, (std::vector<int>{7, 8}));
  EXPECT_EQ(last.request(0), step::more);
  EXPECT_EQ(last.request(2), step::done);
  EXPECT_EQ(last.items, (std::vector<int>{7, 8, 9}));
}

TEST(take_last, a_long_flow_lets_others_have_their_turn) {
  testing::test_consumer last(range(0, 10'000) | take_last(1));
  EXPECT_EQ(last.request(1), step::pending);
  EXPECT_EQ(last.request(1), step::pending);
  EXPECT_EQ(last.wakes, 2u);
  EXPECT_EQ(last.request(1), step::done);
  EXPECT_EQ(last.items, std::vector<int>{9'999});
}

}  // namespace
}  // namespace weir::flow
