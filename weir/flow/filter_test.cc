#include <weir/flow/filter.h>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(filter, conforms) {
  for (const unsigned wanted : {0u, 1u, 2u, 5u, 7u}) {  // each bit: whether the number's item passes
    const auto passes = [wanted](int number) { return (wanted >> (number - 1) & 1) != 0; };
    const auto complaint = testing::conforms(
        [=](script from) {
          return std::move(from) | filter([=](const counted& item) { return passes(item.number()); });
        },
        [=](std::vector<int> numbers, step end) {
          std::erase_if(numbers, [=](int number) { return !passes(number); });
          return outcome{numbers, end};
        });
    EXPECT_EQ(complaint, "") << wanted;
  }
}

TEST(filter, lets_others_have_their_turn_during_a_long_run_of_unwanted_items) {
  auto flow = range(0, 1'000'000'000) | filter([](int i) { return i == 10'000; });
  error failure;
  int wakes = 0;
  context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
  std::vector<int> seen;
  int pulls = 0;
  while (seen.empty()) {
    std::size_t demand = 1;
    const step why = flow.pull(
        demand, [&](int&& i) { seen.push_back(i); }, cx);
    ++pulls;
    ASSERT_EQ(wakes, why == step::pending ? pulls : pulls - 1) << "pending, and woken at once";
  }
  EXPECT_EQ(seen, (std::vector<int>{10'000}));
  EXPECT_EQ(pulls, 3) << "4096 items a pull";
}

TEST(filter, blocks_nobody_when_driven_to_the_end) {
  const auto items = to_vector(range(0, 100'000) | filter([](int i) { return i % 50'000 == 1; }));
  ASSERT_TRUE(items);
  EXPECT_EQ(*items, (std::vector<int>{1, 50'001}));
}

}  // namespace
}  // namespace weir::flow
