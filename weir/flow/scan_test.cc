#include <weir/flow/scan.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/start_with.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(scan, conforms) {
  const auto complaint = testing::conforms(
      [](script from) {
        return std::move(from) | scan(100, [](int sum, counted&& item) { return sum + item.number(); }) |
               map([](int sum) { return counted(sum); });
      },
      [](std::vector<int> numbers, step end) {
        int sum = 100;
        for (int& number : numbers) number = sum += number;
        return outcome{numbers, end};
      });
  EXPECT_EQ(complaint, "");
}

TEST(scan, gives_what_was_made_of_the_items_so_far_and_not_the_seed) {
  const auto joined = [](std::string so_far, char item) { return so_far + item; };
  EXPECT_EQ(*to_vector(from_range({'a', 'b', 'c'}) | scan(std::string(">"), joined)),
            (std::vector<std::string>{">a", ">ab", ">abc"}));
  EXPECT_EQ(*to_vector(scan(empty<char>(), std::string(">"), joined)), std::vector<std::string>{});
  EXPECT_EQ(*to_vector(from_range({'a'}) | scan(std::string(">"), joined) | start_with(">")),
            (std::vector<std::string>{">", ">a"}));
}

TEST(scan, calls_its_function_only_for_what_is_asked_for) {
  int calls = 0;
  testing::test_consumer sums(range(0, 100) | scan(0, [&](int sum, int i) { return ++calls, sum + i; }));
  EXPECT_EQ(sums.request(3), step::more);
  EXPECT_EQ(sums.items, (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(calls, 3);
}

TEST(scan, a_function_that_throws_ends_the_flow_after_the_items_before) {
  std::vector<int> seen;
  const auto outcome = range(0, 5) |
                       scan(0,
                            [](int, int i) {
                              if (i == 2) throw std::runtime_error("two");
                              return i;
                            }) |
                       for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "two");
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace weir::flow
