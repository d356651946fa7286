#include <weir/flow/sequence_equal.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

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

/// The answer as a counted, 1 or 0, which the kit can read.
auto as_number() {
  return map([](bool same) { return counted(same ? 1 : 0); });
}

TEST(sequence_equal, conforms_beside_the_numbers_one_and_two) {
  const auto complaint = testing::conforms(
      [](script from) {
        return sequence_equal(std::move(from), range(1, 3), [](const counted& a, int b) { return a.number() == b; }) |
               as_number();
      },
      [](const std::vector<int>& numbers, step end) {
        // A third item tells; with fewer the end does.
        if (numbers.size() > 2) return outcome{{0}, step::done};
        if (end != step::done) return outcome{{}, end};
        return outcome{{numbers.size() == 2 ? 1 : 0}, step::done};
      });
  EXPECT_EQ(complaint, "");
}

TEST(sequence_equal, of_two_flows_tells_the_first_difference_before_what_comes_after_it) {
  const auto complaint = testing::conforms_with_two_inputs(
      [](script a, script b) {
        return sequence_equal(std::move(a), std::move(b),
                              [](const counted& x, const counted& y) { return x.number() + 10 == y.number(); }) |
               as_number();
      },
      // Equal twice; then the first one has a third item, and the second one its end.
      [](testing::two_ends ends, const outcome& seen) {
        return ends.second == event::kind::done ? seen == outcome{{0}, step::done}
                                                : seen == outcome{{}, testing::end_of(ends.second)};
      });
  EXPECT_EQ(complaint, "");
}

TEST(sequence_equal, tells_equal_from_different_from_shorter_and_longer) {
  const auto same = [](std::vector<int> a, std::vector<int> b) {
    return *to_vector(sequence_equal(from_range(std::move(a)), from_range(std::move(b))));
  };
  EXPECT_EQ(same({}, {}), std::vector<bool>{true});
  EXPECT_EQ(same({1, 2}, {1, 2}), std::vector<bool>{true});
  EXPECT_EQ(same({1, 2}, {1, 3}), std::vector<bool>{false});
  EXPECT_EQ(same({1, 2}, {1}), std::vector<bool>{false});
  EXPECT_EQ(same({}, {1}), std::vector<bool>{false});
}

TEST(sequence_equal, tells_a_difference_although_neither_flow_ends) {
  const auto ones = generate([]() -> std::optional<int> { return 1; });
  int n = 0;
  const auto counts = generate([&]() -> std::optional<int> { return n++ < 10'000 ? 1 : 2; });
  EXPECT_EQ(*to_vector(sequence_equal(ones, counts)), std::vector<bool>{false});
  EXPECT_EQ(n, 10'001);
}

TEST(sequence_equal, destroys_both_flows_with_the_answer) {
  const queue::testing::life_balance lives;
  const auto three = [] {
    std::vector<counted> items;
    for (int i = 0; i < 3; ++i) items.emplace_back(i);
    return from_range(std::move(items));
  };
  test_consumer seen(sequence_equal(three(), three(), [](const counted&, const counted&) { return false; }));
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(lives.surplus(), 6);
  EXPECT_EQ(seen.request(1), step::done);
  EXPECT_EQ(seen.items, std::vector<bool>{false});
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::flow
