#include <weir/flow/chunks.h>

#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;

using groups = std::vector<std::vector<int>>;

TEST(chunks, conforms) {
  const auto same = [](const std::vector<int>& numbers, step end) { return outcome{numbers, end}; };
  for (const std::size_t items_max : {1u, 2u, 3u, 100u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | chunks(items_max); }, same);
    EXPECT_EQ(complaint, "") << items_max;
  }
  for (const std::size_t weight_max : {1u, 2u, 3u, 4u, 100u}) {
    const auto weight = [](const counted& of) { return static_cast<std::size_t>(of.number()); };
    const auto complaint =
        testing::conforms([=](script from) { return std::move(from) | chunks(3, weight_max, weight); }, same);
    EXPECT_EQ(complaint, "") << weight_max;
  }
}

TEST(chunks, closes_when_full_and_at_the_end) {
  const auto all = to_vector(range(0, 7) | chunks(3));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (groups{{0, 1, 2}, {3, 4, 5}, {6}}));
}

TEST(chunks, are_never_empty) {
  EXPECT_TRUE(to_vector(empty<int>() | chunks(3))->empty());
  EXPECT_EQ(to_vector(range(0, 6) | chunks(3))->size(), 2u);
}

TEST(chunks, closes_when_nothing_more_is_ready) {
  testing::stage on;
  auto flow = script({item(1), item(2), pending(), item(3), pending(), pending(), item(4)}, on) | chunks(100);
  groups seen;
  error failure;
  context cx({}, failure);
  for (;;) {
    std::size_t demand = unbounded;
    const step why = flow.pull(
        demand, [&](std::vector<counted>&& chunk) { seen.push_back(testing::numbers_in(chunk)); }, cx);
    if (why == step::done) break;
    ASSERT_EQ(why, step::pending);
    on.fire();
  }
  EXPECT_EQ(seen, (groups{{1, 2}, {3}, {4}}));
}

TEST(chunks, closes_with_the_item_that_fills_the_weight) {
  const auto all =
      to_vector(from_range({4, 4, 4, 1, 20, 1, 1}) | chunks(3, 8, [](int i) { return static_cast<std::size_t>(i); }));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (groups{{4, 4}, {4, 1, 20}, {1, 1}}));
}

TEST(chunks, adds_up_weights_of_any_size) {
  const auto all = to_vector(range(0, 4) | chunks(10, std::numeric_limits<std::size_t>::max(),
                                                  [](int) { return std::numeric_limits<std::size_t>::max() / 2 + 1; }));
  ASSERT_TRUE(all);
  EXPECT_EQ(*all, (groups{{0, 1}, {2, 3}}));
}

TEST(chunks, gives_the_items_before_a_failure_first) {
  std::vector<std::vector<int>> seen;
  const auto outcome = range(0, 9) | map([](int i) {
                         if (i == 4) throw std::runtime_error("four");
                         return i;
                       }) |
                       chunks(3) | for_each([&](std::vector<int> chunk) { seen.push_back(chunk); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(seen, (groups{{0, 1, 2}, {3}}));
}

}  // namespace
}  // namespace weir::flow
