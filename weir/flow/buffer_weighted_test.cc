#include <weir/flow/buffer_weighted.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <weir/flow/concat.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;
using testing::test_consumer;
using groups = std::vector<std::vector<std::size_t>>;

constexpr auto itself = [](std::size_t weight) { return weight; };

TEST(buffer_weighted, conforms) {
  for (const std::size_t weight_max : {1u, 3u, 4u, 100u}) {
    const auto complaint = testing::conforms(
        [=](script from) {
          return std::move(from) | buffer_weighted(weight_max, [](const counted& item) {
                   return static_cast<std::size_t>(item.number());
                 });
        },
        [](const std::vector<int>& numbers, step end) {
          return outcome{numbers, end};
        });
    EXPECT_EQ(complaint, "") << weight_max;
  }
}

TEST(buffer_weighted, closes_before_the_item_that_does_not_fit) {
  EXPECT_EQ(
      *to_vector(from_range(std::vector<std::size_t>{3, 4, 3, 1, 9, 5, 5, 11, 0, 2}) | buffer_weighted(10, itself)),
      (groups{{3, 4, 3}, {1, 9}, {5, 5}, {11}, {0, 2}}));
}

TEST(buffer_weighted, gives_a_buffer_that_is_full_without_waiting_for_the_next_item) {
  test_consumer seen(concat(from_range(std::vector<std::size_t>{4, 6}), never<std::size_t>()) |
                     buffer_weighted(10, itself));
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({{4, 6}}), "");
}

TEST(buffer_weighted, weights_do_not_overflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(*to_vector(from_range(std::vector<std::size_t>{5, most, most, 1}) | buffer_weighted(most, itself)),
            (groups{{5}, {most}, {most}, {1}}));
}

TEST(buffer_weighted, lets_others_have_their_turn) {
  test_consumer seen(range(0, 1'000'000) | buffer_weighted(1, [](int) { return std::size_t{0}; }));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
}

// The model is the greedy rule, item by item.
TEST(buffer_weighted, groups_as_a_plain_loop_does) {
  rc::check([](const std::vector<std::uint8_t>& octets, std::uint8_t bound, std::uint8_t at_once) {
    const std::size_t weight_max = bound + 1u;
    const std::vector<std::size_t> weights(octets.begin(), octets.end());
    groups expected;
    std::size_t sum = 0;
    bool open = false;
    for (const std::size_t weight : weights) {
      if (!open || sum + weight > weight_max || sum >= weight_max) {
        expected.emplace_back();
        sum = 0;
      }
      open = true;
      expected.back().push_back(weight);
      sum += weight;
    }
    test_consumer seen(from_range(weights) | buffer_weighted(weight_max, itself));
    while (!seen.end()) seen.request(at_once % 5 + 1u);
    RC_ASSERT(seen.came(expected, step::done) == "");
  });
}

}  // namespace
}  // namespace weir::flow
