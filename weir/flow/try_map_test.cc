#include <weir/flow/try_map.h>

#include <optional>
#include <string>
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

TEST(try_map, conforms) {
  for (const int failing : {0, 1, 2, 3}) {
    const auto complaint = testing::conforms(
        [=](script from) {
          return std::move(from) | try_map([=](counted&& item) -> result<counted> {
                   if (item.number() == failing) return weir::fail(errc::malformed, "bad");
                   return counted(item.number() + 10);
                 });
        },
        [=](const std::vector<int>& numbers, step end) {
          outcome expected{{}, end};
          for (const int number : numbers) {
            if (number == failing) return outcome{expected.numbers, step::failed};
            expected.numbers.push_back(number + 10);
          }
          return expected;
        });
    EXPECT_EQ(complaint, "") << failing;
  }
}

TEST(try_map, says_the_first_error_and_calls_its_function_no_more) {
  std::vector<int> called;
  std::vector<int> seen;
  const auto outcome = range(0, 5) | try_map([&](int i) -> result<int> {
                         called.push_back(i);
                         if (i == 2) return weir::fail(errc::malformed, "two");
                         return i;
                       }) |
                       for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::malformed);
  EXPECT_EQ(outcome.error().message, "two");
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
  EXPECT_EQ(called, (std::vector<int>{0, 1, 2}));
}

TEST(try_map, ends_an_endless_source_that_is_asked_for_everything) {
  int made = 0;
  const auto outcome = generate([&]() -> std::optional<int> { return made++; }) | try_map([](int i) -> result<int> {
                         if (i == 5) return weir::fail(errc::malformed, "five");
                         return i;
                       }) |
                       for_each([](int) {});
  EXPECT_FALSE(outcome);
  EXPECT_LE(made, 256);
}

}  // namespace
}  // namespace weir::flow
