#include <weir/flow/until.h>

#include <cstddef>
#include <optional>
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

bool begins(const std::vector<int>& some, const std::vector<int>& all) {
  return some.size() <= all.size() &&
         std::vector<int>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(some.size())) == some;
}

TEST(take_until, conforms_while_the_other_flow_says_nothing) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | take_until(never<int>()); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(take_until, conforms_as_an_operator_over_the_other_flow) {
  // The flow itself never ends: so the end is what the other one's first item, or its end, makes it.
  const auto complaint = testing::conforms([](script other) { return take_until(never<counted>(), std::move(other)); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{{}, numbers.empty() ? end : step::done};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(take_until, of_two_flows_gives_a_beginning_of_the_first) {
  const auto complaint = testing::conforms_with_two_inputs(
      [](script a, script b) { return take_until(std::move(a), std::move(b)); },
      [](testing::two_ends ends, const outcome& seen) {
        if (!begins(seen.numbers, {1, 2, 3})) return false;
        return seen.end == step::done || (seen.numbers.size() == 3 && seen.end == testing::end_of(ends.first));
      });
  EXPECT_EQ(complaint, "");
}

TEST(take_until, is_done_with_the_other_flow_s_item_or_end_and_woken_by_it) {
  for (const bool with_item : {true, false}) {
    testing::stage on;
    test_consumer seen(script({item(1), pending(), pending(), item(2)}, on) |
                       take_until(script(with_item ? std::vector{pending(), item(9)} : std::vector{pending()}, on)));
    EXPECT_EQ(seen.request(10), step::pending);
    EXPECT_EQ(seen.items.size(), 1u);
    on.fire();
    EXPECT_GT(seen.wakes, 0u);
    EXPECT_EQ(seen.request(10), step::done);
    EXPECT_EQ(seen.items.size(), 1u);
  }
}

/// Is pending so many times; then it gives an item.
class late {
 public:
  using value_type = int;
  explicit late(int pendings) : left_(pendings) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    if (left_-- > 0) return step::pending;
    --demand;
    emit(1);
    return step::more;
  }

 private:
  int left_;
};

TEST(take_until, stops_an_endless_flow_within_256_items) {
  const auto soon = generate([]() -> std::optional<int> { return 1; });
  test_consumer at_once(generate([]() -> std::optional<int> { return 7; }) | take_until(soon));
  EXPECT_EQ(at_once.request(unbounded), step::done);
  EXPECT_TRUE(at_once.items.empty());

  test_consumer seen(generate([]() -> std::optional<int> { return 7; }) | take_until(late(3)));
  EXPECT_EQ(seen.request(unbounded), step::done);
  EXPECT_EQ(seen.items.size(), 3u * 256);
}

TEST(skip_until, conforms_when_the_other_flow_has_begun) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | skip_until(just(1)); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(skip_until, conforms_while_the_other_flow_says_nothing) {
  const auto complaint = testing::conforms([](script from) { return std::move(from) | skip_until(never<int>()); },
                                           [](const std::vector<int>&, step end) {
                                             return outcome{{}, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(skip_until, of_two_flows_gives_an_end_of_the_first) {
  const auto complaint =
      testing::conforms_with_two_inputs([](script a, script b) { return skip_until(std::move(a), std::move(b)); },
                                        [](testing::two_ends ends, const outcome& seen) {
                                          for (std::size_t i = 0; i < seen.numbers.size(); ++i) {
                                            if (seen.numbers[i] != static_cast<int>(4 - seen.numbers.size() + i))
                                              return false;
                                          }
                                          return seen.end == testing::end_of(ends.first);
                                        });
  EXPECT_EQ(complaint, "");
}

TEST(skip_until, gives_what_comes_after_the_other_flow_s_item) {
  testing::stage on;
  test_consumer seen(script({item(1), item(2), pending(), item(3), item(4)}, on) |
                     skip_until(script({pending(), item(9)}, on)));
  EXPECT_EQ(seen.request(10), step::pending);
  EXPECT_TRUE(seen.items.empty());
  on.fire();
  EXPECT_EQ(seen.request(1), step::more);
  EXPECT_EQ(seen.request(10), step::done);
  ASSERT_EQ(seen.items.size(), 2u);
  EXPECT_EQ(seen.items[0].number(), 3);
}

TEST(skip_until, fails_with_the_other_flow_and_gives_up_its_turn_beside_an_endless_one) {
  const auto endless = generate([]() -> std::optional<int> { return 7; });
  test_consumer failed(endless | skip_until(fail<int>(weir::fail(errc::io, "broke"))));
  EXPECT_EQ(failed.request(1), step::failed);
  test_consumer seen(endless | skip_until(never<int>()));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
}

TEST(take_until, takes_flows_whose_types_are_forgotten) {
  EXPECT_EQ(to_vector(erase(erase(range(0, 2)) | take_until(erase(never<int>()))))->size(), 2u);
  EXPECT_EQ(to_vector(erase(erase(range(0, 2)) | skip_until(erase(just(1)))))->size(), 2u);
}

TEST(skip_until, drops_nothing_when_nothing_is_wanted) {
  int calls = 0;
  test_consumer seen(range(0, 9) | map([&](int i) { return ++calls, i; }) | skip_until(never<int>()));
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace weir::flow
