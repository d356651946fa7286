#include <weir/flow/map.h>

#include <memory>
#include <stdexcept>
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

TEST(map, conforms) {
  const auto complaint = testing::conforms(
      [](script from) { return std::move(from) | map([](counted&& item) { return counted(item.number() * 10); }); },
      [](std::vector<int> numbers, step end) {
        for (int& number : numbers) number *= 10;
        return outcome{numbers, end};
      });
  EXPECT_EQ(complaint, "");
}

TEST(map, passes_things_that_can_only_be_moved) {
  const auto items = to_vector(range(0, 3) | map([](int i) { return std::make_unique<int>(i); }) |
                               map([](std::unique_ptr<int> p) { return *p + 1; }));
  ASSERT_TRUE(items);
  EXPECT_EQ(*items, (std::vector<int>{1, 2, 3}));
}

TEST(map, calls_its_function_only_for_what_is_asked_for) {
  int calls = 0;
  auto flow = map(range(0, 100), [&](int i) { return ++calls, i; });
  error failure;
  context cx({}, failure);
  std::size_t demand = 3;
  EXPECT_EQ(flow.pull(
                demand, [](int&&) {}, cx),
            step::more);
  EXPECT_EQ(calls, 3);
}

TEST(map, a_function_that_throws_ends_the_flow_after_the_items_before) {
  std::vector<int> seen;
  const auto outcome = range(0, 5) | map([](int i) {
                         if (i == 2) throw std::runtime_error("two");
                         return i;
                       }) |
                       for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::threw);
  EXPECT_EQ(outcome.error().message, "two");
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace weir::flow
