#include <weir/flow/with_latest_from.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/two_inputs.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::event;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::test_consumer;

counted hundreds(const counted& a, const counted& b) { return counted(100 * a.number() + b.number()); }

TEST(with_latest_from, conforms_beside_a_flow_of_one_item) {
  const auto complaint =
      testing::conforms([](script from) { return std::move(from) | with_latest_from(hundreds, just(counted(7))); },
                        [](std::vector<int> numbers, step end) {
                          for (int& number : numbers) number = 100 * number + 7;
                          return outcome{numbers, end};
                        });
  EXPECT_EQ(complaint, "");
}

TEST(with_latest_from, of_two_flows_gives_the_first_with_what_the_second_had_and_ends_with_the_first) {
  const auto complaint = testing::conforms_with_two_inputs(
      [](script a, script b) { return std::move(a) | with_latest_from(hundreds, std::move(b)); },
      [](testing::two_ends ends, const outcome& seen) {
        int before = 0;
        for (const int number : seen.numbers) {
          // The first flow goes on with each; the second one never goes back.
          if (number / 100 <= before / 100 || number % 100 < before % 100 || number % 100 < 11) return false;
          before = number;
        }
        if (ends.both_done()) return seen.end == step::done;
        return seen.end == testing::end_of(ends.first) || seen.end == testing::end_of(ends.second);
      });
  EXPECT_EQ(complaint, "");
}

TEST(with_latest_from, takes_the_last_that_the_others_have) {
  using triple = std::tuple<int, int, char>;
  EXPECT_EQ(*to_vector(range(0, 2) | with_latest_from(range(10, 1000), just('a', 'b'))),
            (std::vector<triple>{{0, 999, 'b'}, {1, 999, 'b'}}));
}

TEST(with_latest_from, drops_items_until_the_others_have_given_one) {
  testing::stage on;
  test_consumer seen(script({item(1), item(2), pending(), item(3)}, on) |
                     with_latest_from(hundreds, script({pending(), item(11), pending(), item(12)}, on)));
  EXPECT_EQ(seen.request(10), step::pending);
  EXPECT_TRUE(seen.items.empty());
  on.fire();
  EXPECT_EQ(seen.request(10), step::done);
  ASSERT_EQ(seen.items.size(), 1u);
  EXPECT_EQ(seen.items[0].number(), 311);
  EXPECT_EQ(seen.complaint(), "");
}

TEST(with_latest_from, takes_flows_whose_types_are_forgotten) {
  EXPECT_EQ(to_vector(erase(erase(range(0, 2)) | with_latest_from(erase(range(5, 7)))))->size(), 2u);
}

TEST(with_latest_from, is_done_when_another_flow_is_done_without_an_item) {
  test_consumer seen(range(0, 9) | with_latest_from(empty<int>()));
  EXPECT_EQ(seen.request(3), step::done);
}

TEST(with_latest_from, gives_up_its_turn_beside_an_endless_source_and_a_flow_that_waits) {
  testing::stage on;
  test_consumer seen(
      generate([]() -> std::optional<int> { return 1; }) |
      with_latest_from([](int a, const counted& b) { return a + b.number(); }, script({pending(), item(6)}, on)));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
  on.fire();
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.items, std::vector<int>{7});
}

}  // namespace
}  // namespace weir::flow
