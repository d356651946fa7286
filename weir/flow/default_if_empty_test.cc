#include <weir/flow/default_if_empty.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/filter.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

TEST(default_if_empty, conforms) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | default_if_empty(counted(70)); },
                                           [](std::vector<int> numbers, step end) {
                                             if (numbers.empty() && end == step::done) numbers.push_back(70);
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(fail_if_empty, conforms) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | fail_if_empty(); },
                                           [](const std::vector<int>& numbers, step end) {
                                             const bool fails = numbers.empty() && end == step::done;
                                             return outcome{numbers, fails ? step::failed : end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(default_if_empty, waits_until_its_item_is_asked_for) {
  testing::test_consumer items(empty<int>() | default_if_empty(7));
  EXPECT_EQ(items.request(0), step::more);
  EXPECT_EQ(items.request(0), step::more);
  EXPECT_TRUE(items.items.empty());
  EXPECT_EQ(items.request(1), step::done);
  EXPECT_EQ(items.items, std::vector<int>{7});
}

TEST(default_if_empty, counts_what_passes_and_not_what_was_filtered_out) {
  EXPECT_EQ(*to_vector(range(0, 9) | filter([](int) { return false; }) | default_if_empty(7)), std::vector<int>{7});
  EXPECT_EQ(*to_vector(empty<std::string>() | default_if_empty("none")), std::vector<std::string>{"none"});
}

TEST(fail_if_empty, says_what_the_caller_wants_it_to_say) {
  const auto items = to_vector(empty<int>() | fail_if_empty(weir::fail(errc::refused, "no peers")));
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().code, errc::refused);
  EXPECT_EQ(items.error().message, "no peers");
}

}  // namespace
}  // namespace weir::flow
