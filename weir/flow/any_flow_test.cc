#include <weir/flow/any_flow.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::outcome;
using testing::script;

static_assert(flow<any_flow<int>>);
static_assert(!std::is_copy_constructible_v<any_flow<int>>);
static_assert(std::is_nothrow_move_constructible_v<any_flow<int>>);

/// A thousand numbers, and the pulls it took.
struct counting {
  using value_type = int;
  int* calls;
  int at = 0;
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    ++*calls;
    for (; at < 1000; --demand) {
      if (demand == 0) return step::more;
      emit(at++);
    }
    return step::done;
  }
};

TEST(any_flow, conforms) {
  const auto complaint = testing::conforms([](script from) { return any_flow<counted>(std::move(from)); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(any_flow, that_holds_nothing_is_done) {
  const auto items = to_vector(any_flow<int>());
  ASSERT_TRUE(items);
  EXPECT_TRUE(items->empty());
}

TEST(any_flow, gives_what_the_flow_in_it_gives) {
  const auto items = to_vector(range(0, 1000) | erase() | map([](int i) { return i * 2; }) | erase());
  ASSERT_TRUE(items);
  ASSERT_EQ(items->size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ((*items)[static_cast<std::size_t>(i)], i * 2);
}

TEST(any_flow, makes_one_call_for_a_batch) {
  int calls = 0;
  ASSERT_TRUE(for_each(any_flow<int>(counting{&calls}), [](int) {}));
  EXPECT_EQ(calls, 4) << "1000 ints in batches of 256";
}

TEST(any_flow, carries_items_larger_than_its_buffer_one_by_one) {
  using large = std::array<char, 20'000>;
  int seen = 0;
  ASSERT_TRUE(range(0, 3) | map([](int i) {
                large of{};
                of[19'999] = static_cast<char>(i);
                return of;
              }) |
              erase() | for_each([&](large&& of) { EXPECT_EQ(of[19'999], seen++); }));
  EXPECT_EQ(seen, 3);
}

TEST(any_flow, gives_the_items_before_an_exception_first) {
  std::vector<int> seen;
  const auto outcome = range(0, 9) | map([](int i) {
                         if (i == 4) throw std::runtime_error("four");
                         return i;
                       }) |
                       erase() | for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "four");
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
}

TEST(any_flow, gives_or_destroys_each_item_once_when_emit_throws) {
  for (int throwing = 0; throwing < 5; ++throwing) {
    const life_balance lives;
    std::vector<int> seen;
    const auto outcome = range(0, 5) | map([](int i) { return counted(i); }) | erase() | for_each([&](counted&& item) {
                           seen.push_back(item.number());
                           if (item.number() == throwing) throw std::runtime_error("enough");
                         });
    EXPECT_FALSE(outcome);
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(throwing) + 1);
    EXPECT_EQ(lives.surplus(), 0);
  }
}

TEST(any_flow, survives_items_whose_moves_throw) {
  // range, map: one move to the caller's item, one into the buffer; every one of them throws in turn.
  for (int throwing = 1; throwing < 20; ++throwing) {
    const life_balance lives;
    std::size_t seen = 0;
    counted::moves_until_throw() = throwing;
    const auto outcome =
        range(0, 5) | map([](int i) { return counted(i); }) | erase() | for_each([&](counted&&) { ++seen; });
    if (!outcome) {
      EXPECT_EQ(outcome.error().code, errc::threw);
      EXPECT_LT(seen, 5u);
    } else {
      EXPECT_EQ(seen, 5u);
    }
    EXPECT_EQ(lives.surplus(), 0);
  }
}

}  // namespace
}  // namespace weir::flow
