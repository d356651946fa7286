#include <weir/flow/combine_latest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
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
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::test_consumer;

int sum(const counted& a, int b) { return a.number() + b; }
counted hundreds(const counted& a, const counted& b) { return counted(100 * a.number() + b.number()); }

// Beside a flow of one item there is a combination for each of the other's.
TEST(combine_latest, conforms_beside_a_flow_of_one_item) {
  const auto complaint =
      testing::conforms([](script from) { return combine_latest(hundreds, just(counted(7)), std::move(from)); },
                        [](std::vector<int> numbers, step end) {
                          for (int& number : numbers) number += 700;
                          return outcome{numbers, end};
                        });
  EXPECT_EQ(complaint, "");
}

TEST(combine_latest, of_two_flows_never_goes_back_and_ends_on_the_last_of_both) {
  const auto complaint = testing::conforms_with_two_inputs(
      [](script a, script b) { return combine_latest(hundreds, std::move(a), std::move(b)); },
      [](testing::two_ends ends, const outcome& seen) {
        for (std::size_t i = 1; i < seen.numbers.size(); ++i) {
          const int a = seen.numbers[i] / 100 - seen.numbers[i - 1] / 100;
          const int b = seen.numbers[i] % 100 - seen.numbers[i - 1] % 100;
          if (!(a == 1 && b == 0) && !(a == 0 && b == 1)) return false;  // one flow goes on, by one item
        }
        if (ends.both_done()) return seen.end == step::done && seen.numbers.back() == 312;
        return seen.end == testing::end_of(ends.first) || seen.end == testing::end_of(ends.second);
      });
  EXPECT_EQ(complaint, "");
}

TEST(combine_latest, of_flows_that_are_ready_lets_them_take_turns) {
  using pair = std::tuple<int, int>;
  EXPECT_EQ(*to_vector(combine_latest(range(1, 4), range(10, 12))),
            (std::vector<pair>{{1, 10}, {2, 10}, {2, 11}, {3, 11}}));
  EXPECT_EQ(*to_vector(range(1, 3) | combine_latest_with(just(std::string("x")))),
            (std::vector<std::tuple<int, std::string>>{{1, "x"}, {2, "x"}}));
  EXPECT_EQ(
      *to_vector(range(1, 3) | combine_latest_with([](int a, int b, int c) { return a + b + c; }, just(10), just(100))),
      (std::vector<int>{111, 112}));
}

TEST(combine_latest, takes_flows_whose_types_are_forgotten) {
  EXPECT_EQ(to_vector(erase(erase(range(0, 2)) | combine_latest_with(erase(range(5, 7)))))->size(), 3u);
}

TEST(combine_latest, keeps_only_the_last_item_until_all_have_given_one) {
  testing::stage on;
  test_consumer seen(combine_latest([](int a, const counted& b) { return a + b.number(); }, range(0, 100),
                                    script({pending(), item(1000)}, on)));
  EXPECT_EQ(seen.request(5), step::pending);
  on.fire();
  EXPECT_EQ(seen.request(5), step::done);
  EXPECT_EQ(seen.came({1099}, step::done), "");
}

TEST(combine_latest, is_done_when_a_flow_is_done_without_an_item) {
  testing::stage on;
  test_consumer seen(combine_latest(sum, script({pending(), item(1)}, on), empty<int>()));
  EXPECT_EQ(seen.request(5), step::done);
}

TEST(combine_latest, beside_an_endless_flow_and_one_that_waits_gives_up_its_turn) {
  testing::stage on;
  test_consumer seen(
      combine_latest(sum, script({pending(), item(1)}, on), generate([]() -> std::optional<int> { return 1; })));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
}

TEST(combine_latest, gives_no_more_than_is_wanted_and_loses_nothing_by_it) {
  test_consumer slow(combine_latest([](int a, int b) { return 10 * a + b; }, range(0, 5), range(0, 5)));
  while (slow.request(1) == step::more) {
  }
  const auto fast = to_vector(combine_latest([](int a, int b) { return 10 * a + b; }, range(0, 5), range(0, 5)));
  EXPECT_EQ(slow.came(*fast, step::done), "");
  EXPECT_EQ(fast->size(), 9u);
}

}  // namespace
}  // namespace weir::flow
