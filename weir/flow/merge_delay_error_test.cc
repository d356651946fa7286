#include <weir/flow/merge_delay_error.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/concat.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/two_inputs.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::event;
using testing::outcome;
using testing::script;
using testing::test_consumer;

TEST(merge_delay_error, conforms_as_an_operator_over_its_outer_flow) {
  const auto complaint = testing::conforms(
      [](script from) {
        return std::move(from) | map([](counted&& of) { return just(std::move(of)); }) | merge_delay_error();
      },
      [](const std::vector<int>& numbers, step end) {
        return outcome{numbers, end};
      },
      {.fails_at_once = true});
  EXPECT_EQ(complaint, "");
}

TEST(merge_delay_error, conforms_as_an_operator_over_an_inner_flow) {
  const auto complaint = testing::conforms([](script from) { return merge_delay_error(just(std::move(from))); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(merge_delay_error, of_two_flows_gives_all_items_of_both_although_they_fail) {
  const auto complaint = testing::conforms_with_two_inputs(
      [](script a, script b) { return merge_delay_error(std::move(a), std::move(b)); },
      [](testing::two_ends ends, const outcome& seen) {
        using kind = event::kind;
        if (ends.first == kind::cancelled || ends.second == kind::cancelled) return seen.end == step::cancelled;
        auto sorted = seen.numbers;
        std::ranges::sort(sorted);
        return sorted == std::vector<int>{1, 2, 3, 11, 12} &&
               seen.end == (ends.both_done() ? step::done : step::failed);
      });
  EXPECT_EQ(complaint, "");
}

TEST(merge_delay_error, tells_all_failures_in_one) {
  const auto broken = [](int name) {
    return concat(range(name, name + 2), fail<int>(weir::fail(errc::io, "number " + std::to_string(name), name)));
  };
  std::vector<int> seen;
  const auto one = merge_delay_error(broken(10), range(0, 3)) | for_each([&](int i) { seen.push_back(i); });
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 10, 11}));
  EXPECT_EQ(one.error().message, "number 10");
  EXPECT_EQ(one.error().system, 10);

  std::vector<decltype(broken(0))> flows;
  flows.push_back(broken(10));
  flows.push_back(broken(20));
  const auto two = to_vector(merge_delay_error(std::move(flows)));
  EXPECT_EQ(two.error().code, errc::io);
  EXPECT_EQ(two.error().message, "2 flows failed: number 10; number 20");

  const auto many = to_vector(range(0, 20) | map(broken) | merge_delay_error());
  EXPECT_EQ(many.error().message.substr(0, 42), "20 flows failed: number 0; number 1; numbe");
  EXPECT_EQ(many.error().message.substr(many.error().message.size() - 23), "; number 15; and 4 more");
}

TEST(merge_delay_error, an_exception_of_a_flow_is_its_failure) {
  std::vector<int> seen;
  const auto ended = merge_delay_error(range(0, 3) | map([](int i) {
                                         if (i == 1) throw std::runtime_error("one");
                                         return i;
                                       }),
                                       range(10, 12)) |
                     for_each([&](int i) { seen.push_back(i); });
  EXPECT_EQ(ended.error().code, errc::threw);
  std::ranges::sort(seen);
  EXPECT_EQ(seen, (std::vector<int>{0, 10, 11}));
}

TEST(merge_delay_error, an_exception_of_the_consumer_ends_it_at_once) {
  int seen = 0;
  const auto ended = merge_delay_error(range(0, 3), range(10, 12)) | for_each([&](int) {
                       ++seen;
                       throw std::runtime_error("enough");
                     });
  EXPECT_EQ(ended.error().message, "enough");
  EXPECT_EQ(seen, 1);
}

TEST(merge_delay_error, of_no_flows_is_done) {
  EXPECT_TRUE(to_vector(merge_delay_error(std::vector<any_flow<int>>{}))->empty());
}

}  // namespace
}  // namespace weir::flow
