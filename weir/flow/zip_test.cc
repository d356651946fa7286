#include <weir/flow/zip.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
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

using queue::testing::life_balance;
using testing::counted;
using testing::event;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::test_consumer;

auto numbers_from(int first, int last) {
  return range(first, last) | map([](int i) { return counted(i); });
}

counted sum(counted&& a, counted&& b) { return counted(a.number() + b.number()); }

TEST(zip, conforms_beside_a_flow_that_has_enough) {
  for (const bool first : {true, false}) {
    const auto complaint = testing::conforms(
        [=](script from) {
          using flow_type = any_flow<counted>;
          flow_type other(numbers_from(100, 200));
          return first ? zip(sum, flow_type(std::move(from)), std::move(other))
                       : zip(sum, std::move(other), flow_type(std::move(from)));
        },
        [](std::vector<int> numbers, step end) {
          for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += 100 + static_cast<int>(i);
          return outcome{numbers, end};
        });
    EXPECT_EQ(complaint, "") << first;
  }
}

TEST(zip, of_two_flows_pairs_them_and_ends_with_the_one_that_has_no_more) {
  const auto complaint =
      testing::conforms_with_two_inputs([](script a, script b) { return zip(sum, std::move(a), std::move(b)); },
                                        // The second flow ends after two items, when the first one has a third.
                                        [](testing::two_ends ends, const outcome& seen) {
                                          return seen == outcome{{12, 14}, testing::end_of(ends.second)};
                                        });
  EXPECT_EQ(complaint, "");
}

TEST(zip, makes_tuples_of_any_number_of_flows) {
  const auto all = to_vector(zip(range(0, 3), just(std::string("a"), std::string("b")), range(10, 99)));
  EXPECT_EQ(*all, (std::vector<std::tuple<int, std::string, int>>{{0, "a", 10}, {1, "b", 11}}));
  EXPECT_EQ(to_vector(range(0, 3) | zip_with(range(5, 7)))->size(), 2u);
  EXPECT_EQ(*to_vector(range(0, 3) | zip_with([](int a, int b, int c) { return a + b * c; }, range(1, 9), range(1, 9))),
            (std::vector<int>{1, 5, 11}));
}

TEST(zip, takes_flows_whose_types_are_forgotten) {
  EXPECT_EQ(to_vector(zip(erase(range(0, 3)), erase(range(5, 7))))->size(), 2u);
  EXPECT_EQ(to_vector(erase(range(0, 3)) | zip_with(erase(range(5, 7))))->size(), 2u);
  EXPECT_EQ(to_vector(erase(erase(range(0, 3)) | zip_with(erase(range(5, 7)))))->size(), 2u);
}

TEST(zip, moves_items_that_cannot_be_copied) {
  const auto all = to_vector(zip(just(std::make_unique<int>(1)), just(std::make_unique<int>(2))));
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(*std::get<1>(all->front()), 2);
}

TEST(zip, asks_each_flow_for_one_item_at_a_time_and_for_none_ahead) {
  int a = 0;
  int b = 0;
  test_consumer seen(
      zip(range(0, 99) | map([&](int i) { return ++a, i; }), range(0, 99) | map([&](int i) { return ++b, i; })));
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(a + b, 0);
  EXPECT_EQ(seen.request(2), step::more);
  EXPECT_EQ(a, 2);
  EXPECT_EQ(b, 2);
}

TEST(zip, asks_all_flows_although_the_first_is_pending) {
  testing::stage on;
  int asked = 0;
  test_consumer seen(zip(script({pending(), item(1)}, on), range(0, 9) | map([&](int i) { return ++asked, i; })));
  EXPECT_EQ(seen.request(5), step::pending);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(seen.request(5), step::pending);
  EXPECT_EQ(asked, 1) << "one item is kept, not two";
}

TEST(zip, fails_at_once_when_a_flow_has_failed_that_others_wait_for) {
  testing::stage on;
  test_consumer seen(zip(script({pending()}, on), fail<int>(weir::fail(errc::io, "broke"))));
  EXPECT_EQ(seen.request(1), step::failed);
  EXPECT_EQ(seen.failure.message, "broke");
}

/// Gives an item and breaks in the same pull.
class broken_behind {
 public:
  using value_type = int;
  explicit broken_behind(bool throws) : throws_(throws) {}
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    --demand;
    emit(7);
    if (throws_) throw std::runtime_error("broke");
    return cx.fail(weir::fail(errc::io, "broke"));
  }

 private:
  bool throws_;
};

TEST(zip, gives_the_item_before_the_failure_that_came_with_it) {
  for (const bool throws : {false, true}) {
    test_consumer seen(zip([](int a, int b) { return a + b; }, broken_behind(throws), range(1, 9)));
    EXPECT_EQ(seen.request_all(), step::failed);
    EXPECT_EQ(seen.items, std::vector<int>{8});
    EXPECT_EQ(seen.failure.message, "broke");
  }
}

TEST(zip, is_done_with_the_last_item_when_a_flow_says_that_there_are_no_more) {
  test_consumer seen(zip(just(1), generate([]() -> std::optional<int> { return 7; })));
  EXPECT_EQ(seen.request(1), step::done);
  EXPECT_EQ(seen.items.size(), 1u);
}

TEST(zip, a_function_that_throws_ends_the_flow_and_leaks_nothing) {
  const life_balance lives;
  {
    test_consumer seen(zip(
        [](counted&& a, counted&& b) {
          if (a.number() == 2) throw std::runtime_error("two");
          return sum(std::move(a), std::move(b));
        },
        numbers_from(0, 9), numbers_from(0, 9)));
    EXPECT_EQ(seen.request_all(), step::failed);
    EXPECT_EQ(seen.items.size(), 2u);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::flow
