#include <weir/flow/limit_rate.h>

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::outcome;
using testing::script;

/// Counts up, and writes down what it was asked for.
class asked_source {
 public:
  using value_type = int;
  explicit asked_source(std::vector<std::size_t>& asked) : asked_(&asked) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    asked_->push_back(demand);
    for (; demand != 0; --demand) emit(next_++);
    return step::more;
  }

 private:
  std::vector<std::size_t>* asked_;
  int next_ = 0;
};

TEST(limit_rate, conforms) {
  for (const std::size_t most : {1u, 2u, 3u, 9u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | limit_rate(most); },
                                             [](const std::vector<int>& numbers, step end) {
                                               return outcome{numbers, end};
                                             });
    EXPECT_EQ(complaint, "") << most;
  }
}

TEST(limit_rate, asks_in_portions_for_all_that_is_wanted) {
  std::vector<std::size_t> asked;
  testing::test_consumer seen(limit_rate(asked_source(asked), 4));
  EXPECT_EQ(seen.request(10), step::more);
  EXPECT_EQ(asked, (std::vector<std::size_t>{4, 4, 2}));
  EXPECT_EQ(seen.request(4), step::more);
  EXPECT_EQ(asked, (std::vector<std::size_t>{4, 4, 2, 4}));
  EXPECT_EQ(seen.came({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}), "");
}

TEST(limit_rate, asks_for_nothing_that_is_not_wanted) {
  std::vector<std::size_t> asked;
  testing::test_consumer seen(asked_source(asked) | limit_rate(100));
  EXPECT_EQ(seen.request(3), step::more);
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(asked, (std::vector<std::size_t>{3, 0}));
}

// What gathers before it gives has the first items sooner: without the limit, an any_flow makes 256 before it gives
// one.
TEST(limit_rate, lets_the_first_items_out_of_what_gathers) {
  int made = 0;
  int made_at_the_first = 0;
  ASSERT_TRUE(range(0, 1'000) | map([&](int i) { return ++made, i; }) | erase() | limit_rate(8) | for_each([&](int i) {
                if (i == 0) made_at_the_first = made;
              }));
  EXPECT_EQ(made_at_the_first, 8);
  EXPECT_EQ(made, 1'000);
}

TEST(limit_rate, is_as_synchronous_as_its_source) {
  static_assert(synchronous<decltype(range(0, 3) | limit_rate(2))>);
  static_assert(!synchronous<decltype(std::declval<any_flow<int>>() | limit_rate(2))>);
  EXPECT_EQ(*to_vector(range(0, 5) | limit_rate(2) | take(4)), (std::vector<int>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace weir::flow
