#include <weir/flow/checkpoint.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using testing::outcome;
using testing::script;

TEST(checkpoint, conforms) {
  EXPECT_EQ(testing::conforms([](script from) { return std::move(from) | checkpoint("here"); },
                              [](const std::vector<int>& numbers, step end) {
                                return outcome{numbers, end};
                              }),
            "");
}

TEST(checkpoint, a_failure_says_where_the_flow_was_put_together) {
  const int orders_line = __LINE__ + 1;
  auto orders = fail<int>({errc::malformed, "'x1' is not a number", 7}) | checkpoint("orders");
  const int report_line = __LINE__ + 1;
  const auto end = to_vector(merge(std::move(orders), never<int>()) | checkpoint());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, errc::malformed);
  EXPECT_EQ(end.error().system, 7);
  const std::string file = __FILE__;
  EXPECT_EQ(end.error().message, "'x1' is not a number\n  in 'orders' of " + file + ":" + std::to_string(orders_line) +
                                     "\n  in a flow of " + file + ":" + std::to_string(report_line));
}

TEST(checkpoint, an_exception_from_above_too_but_not_the_consumers) {
  const auto throws = [](int) -> int { throw std::runtime_error("two"); };
  const auto end = to_vector(just(1) | map(throws) | checkpoint("numbers"));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, errc::threw);
  EXPECT_NE(end.error().message.find("two\n  in 'numbers' of "), std::string::npos) << end.error().message;
  const auto below = to_vector(just(1) | checkpoint("numbers") | map(throws));
  ASSERT_FALSE(below);
  EXPECT_EQ(below.error().message.find("numbers"), std::string::npos) << below.error().message;
}

}  // namespace
}  // namespace weir::flow
