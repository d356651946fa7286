#include <weir/flow/take.h>

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using testing::outcome;
using testing::script;

TEST(take, conforms) {
  for (const std::size_t count : {0u, 1u, 2u, 3u, 9u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | take(count); },
                                             [=](std::vector<int> numbers, step end) {
                                               const bool enough = numbers.size() >= count;
                                               numbers.resize(std::min(numbers.size(), count));
                                               return outcome{numbers, enough ? step::done : end};
                                             });
    EXPECT_EQ(complaint, "") << count;
  }
}

TEST(take, asks_for_no_item_it_does_not_give) {
  int made = 0;
  const auto items = to_vector(range(0, 100) | map([&](int i) { return ++made, i; }) | take(3));
  ASSERT_TRUE(items);
  EXPECT_EQ(*items, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(made, 3);
}

TEST(take, of_nothing_does_not_touch_its_source) {
  const auto items = to_vector(take(fail<int>(weir::fail(errc::io, "not to be seen")), 0));
  ASSERT_TRUE(items);
  EXPECT_TRUE(items->empty());
}

}  // namespace
}  // namespace weir::flow
