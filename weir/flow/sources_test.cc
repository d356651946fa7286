#include <weir/flow/sources.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

template <flow Source>
std::vector<value_of<Source>> all(Source from) {
  auto items = to_vector(std::move(from));
  EXPECT_TRUE(items);
  return *std::move(items);
}

/// Pulls with every small demand and checks that demand, items and steps agree.
template <class Make>
void gives_with_every_demand(Make make, const std::vector<int>& expected) {
  for (std::size_t portion = 1; portion <= expected.size() + 1; ++portion) {
    auto source = make();
    std::vector<int> seen;
    error failure;
    context cx({}, failure);
    for (;;) {
      std::size_t demand = 0;
      ASSERT_NE(source.pull(
                    demand, [](auto&&) { FAIL() << "nothing was asked for"; }, cx),
                step::pending);
      demand = portion;
      std::size_t given = 0;
      const step why = source.pull(
          demand, [&](auto&& i) { seen.push_back(i), ++given; }, cx);
      ASSERT_EQ(given, portion - demand);
      if (why == step::done) break;
      ASSERT_EQ(why, step::more);
      ASSERT_EQ(demand, 0u);
      if (seen.size() == expected.size()) break;
    }
    EXPECT_EQ(seen, expected) << portion;
  }
}

TEST(sources, a_range_gives_its_items_whatever_is_asked_for) {
  const std::vector<int> numbers{3, 1, 4, 1, 5};
  gives_with_every_demand([&] { return from_range(numbers); }, numbers);
  gives_with_every_demand([&] { return from_range(std::list<int>(numbers.begin(), numbers.end())); }, numbers);
  gives_with_every_demand([&] { return from_range(std::span<const int>(numbers)); }, numbers);
  gives_with_every_demand([&] { return from_range(numbers.begin(), numbers.end()); }, numbers);
  gives_with_every_demand([&] { return from_range({3, 1, 4, 1, 5}); }, numbers);
  gives_with_every_demand([&] { return from_range(std::array{3, 1, 4, 1, 5}); }, numbers);
  gives_with_every_demand([&] { return from_range(std::vector<int>{}); }, {});
  gives_with_every_demand([&] { return range(2, 6); }, {2, 3, 4, 5});
  gives_with_every_demand([&] { return range(2, 2); }, {});
  gives_with_every_demand([&] { return just(7); }, {7});
  gives_with_every_demand([&] { return empty<int>(); }, {});
  gives_with_every_demand(
      [&] { return generate([i = 0]() mutable { return i < 3 ? std::optional<int>(i++) : std::nullopt; }); },
      {0, 1, 2});
}

TEST(sources, a_container_is_owned_and_its_items_are_moved_out) {
  std::vector<std::unique_ptr<int>> pointers;
  pointers.push_back(std::make_unique<int>(7));
  const auto items = all(from_range(std::move(pointers)));
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(*items[0], 7);
}

TEST(sources, a_view_is_copied_from_and_stays_as_it_was) {
  std::vector<std::string> words{"a long enough word to be moved", "b"};
  EXPECT_EQ(all(from_range(std::span<std::string>(words))), words);
  EXPECT_EQ(words[0], "a long enough word to be moved");
  EXPECT_EQ(all(from_range(words)), words) << "an lvalue container is copied first";
  EXPECT_EQ(words[0], "a long enough word to be moved");
  EXPECT_EQ(all(from_range(std::string_view("abc"))), (std::vector<char>{'a', 'b', 'c'}));
}

TEST(sources, a_flow_that_is_moved_before_its_first_pull_takes_its_container_along) {
  auto first = from_range(std::array<int, 3>{1, 2, 3});
  auto second = std::move(first);
  EXPECT_EQ(all(std::move(second)), (std::vector<int>{1, 2, 3}));
}

TEST(sources, iterators_that_can_be_read_once_are_read_once) {
  std::istringstream text("4 5 6");
  EXPECT_EQ(all(from_range(std::istream_iterator<int>(text), std::istream_iterator<int>())),
            (std::vector<int>{4, 5, 6}));
}

TEST(sources, a_set_and_a_vector_of_bools_are_ranges_too) {
  EXPECT_EQ(all(from_range(std::set<int>{3, 1, 2})), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(all(from_range(std::vector<bool>{true, false})), (std::vector<bool>{true, false}));
}

TEST(sources, counting_goes_through_the_whole_width_of_its_type) {
  const auto bytes = all(range<std::int8_t>(-128, 127));
  ASSERT_EQ(bytes.size(), 255u);
  EXPECT_EQ(bytes.front(), -128);
  EXPECT_EQ(bytes.back(), 126);
  auto wide = range(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  error failure;
  context cx({}, failure);
  std::size_t demand = 2;
  std::vector<std::int64_t> seen;
  EXPECT_EQ(wide.pull(
                demand, [&](std::int64_t&& i) { seen.push_back(i); }, cx),
            step::more);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(),
                                             std::numeric_limits<std::int64_t>::min() + 1}));
}

TEST(sources, a_failed_flow_says_why) {
  const auto items = to_vector(fail<int>(weir::fail(errc::not_found, "nothing here")));
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().code, errc::not_found);
  EXPECT_EQ(items.error().message, "nothing here");
}

TEST(sources, a_generator_that_fails_ends_after_the_items_before) {
  std::vector<int> seen;
  int calls = 0;
  const auto outcome = for_each(generate([&]() -> result<std::optional<int>> {
                                  if (++calls == 3) return weir::fail(errc::io, "third");
                                  return std::optional<int>(calls);
                                }),
                                [&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "third");
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
}

TEST(sources, a_generator_is_not_called_again_after_its_end_or_before_it_is_asked) {
  int calls = 0;
  auto source = generate([&]() -> std::optional<int> {
    if (++calls > 2) return std::nullopt;
    return calls;
  });
  error failure;
  context cx({}, failure);
  std::size_t demand = 0;
  EXPECT_EQ(source.pull(
                demand, [](int&&) {}, cx),
            step::more);
  EXPECT_EQ(calls, 0);
  demand = 10;
  EXPECT_EQ(source.pull(
                demand, [](int&&) {}, cx),
            step::done);
  EXPECT_EQ(calls, 3);
}

TEST(sources, several_items_can_be_named_or_made_of_each_other) {
  gives_with_every_demand([&] { return just(3, 1, 2); }, {3, 1, 2});
  EXPECT_EQ(**all(just(std::make_unique<int>(1), std::make_unique<int>(2))).rbegin(), 2);
  int calls = 0;
  testing::test_consumer doubled(iterate(1, [&](int i) { return ++calls, i * 2; }));
  EXPECT_EQ(doubled.request(0), step::more);
  EXPECT_EQ(doubled.request(1), step::more);
  EXPECT_EQ(calls, 0) << "the seed needs none";
  EXPECT_EQ(doubled.request(3), step::more);
  EXPECT_EQ(doubled.items, (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(calls, 3);
}

TEST(sources, what_never_comes_is_awaited_until_its_flow_is_destroyed) {
  testing::test_consumer nothing(never<int>());
  EXPECT_EQ(nothing.request(0), step::pending);
  EXPECT_EQ(nothing.request(unbounded), step::pending);
  EXPECT_TRUE(nothing.items.empty());
  EXPECT_EQ(nothing.wakes, 0u);
}

TEST(sources, a_callable_is_called_once_and_when_its_item_is_asked_for) {
  int calls = 0;
  testing::test_consumer one(from_callable([&] { return ++calls, std::make_unique<int>(7); }));
  EXPECT_EQ(one.request(0), step::more);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(one.request(unbounded), step::done);
  EXPECT_EQ(**one.items.begin(), 7);
  EXPECT_EQ(calls, 1);
  gives_with_every_demand([&] { return from_callable([] { return 7; }); }, {7});
  gives_with_every_demand([&] { return from_callable([]() -> result<int> { return 7; }); }, {7});
}

TEST(sources, a_callable_may_fail_or_throw) {
  const auto failed = to_vector(from_callable([]() -> result<int> { return weir::fail(errc::io, "no disk"); }));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no disk");
  const auto thrown = to_vector(from_callable([]() -> int { throw std::runtime_error("no luck"); }));
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code, errc::threw);
}

TEST(sources, a_failure_by_exception_is_thrown_when_an_item_is_asked_for) {
  testing::test_consumer none(fail_by_exception<int>(std::out_of_range("far")));
  EXPECT_EQ(none.request(0), step::more);
  EXPECT_EQ(none.request(1), step::failed);
  EXPECT_EQ(none.failure.code, errc::threw);
  EXPECT_EQ(none.failure.message, "far");
}

}  // namespace
}  // namespace weir::flow
