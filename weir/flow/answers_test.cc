#include <weir/flow/answers.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

/// Endless, and counts what is made of it.
auto numbers(int& made) {
  return generate([&made]() -> std::optional<int> { return made++; });
}

auto broken() { return fail<int>(weir::fail(errc::io, "broke")); }

TEST(answers, of_a_flow_that_fails_are_its_failure) {
  const auto is_zero = [](int i) { return i == 0; };
  EXPECT_EQ(last(broken()).error().message, "broke");
  EXPECT_EQ(single(broken()).error().message, "broke");
  EXPECT_EQ(count(broken()).error().message, "broke");
  EXPECT_EQ(any(broken(), is_zero).error().message, "broke");
  EXPECT_EQ(all(broken(), is_zero).error().message, "broke");
  EXPECT_EQ(contains(broken(), 0).error().message, "broke");
  EXPECT_EQ((range(0, 3) | any([](int) -> bool { throw std::runtime_error("no answer"); })).error().message,
            "no answer");
}

TEST(answers, come_from_flows_that_are_pending_too) {
  worker there;
  EXPECT_EQ(*(range(0, 100'000) | observe_on(there) | count()), 100'000u);
  EXPECT_EQ(**(range(0, 100'000) | observe_on(there) | last()), 99'999);
}

TEST(last, is_the_last_item_or_none) {
  EXPECT_EQ(*(range(0, 5) | last()), std::optional<int>(4));
  EXPECT_EQ(*last(empty<int>()), std::nullopt);
  EXPECT_EQ(***(range(0, 5) | map([](int i) { return std::make_unique<int>(i); }) | last()), 4);
}

TEST(single, is_the_only_item) {
  EXPECT_EQ(*(just(7) | single()), 7);
  EXPECT_EQ(single(empty<int>()).error().code, errc::not_found);
  EXPECT_EQ(**single(just(std::make_unique<int>(7))), 7);
}

TEST(single, asks_for_two_items_to_know_that_there_is_not_only_one) {
  int made = 0;
  EXPECT_EQ(single(numbers(made)).error().code, errc::too_large);
  EXPECT_EQ(made, 2);
}

TEST(count, is_the_number_of_items) {
  EXPECT_EQ(*(range(0, 1'000) | count()), 1'000u);
  EXPECT_EQ(*count(empty<int>()), 0u);
}

TEST(any, is_known_at_the_first_item_that_fits) {
  int made = 0;
  int calls = 0;
  EXPECT_TRUE(*(numbers(made) | any([&](int i) { return ++calls, i == 3; })));
  EXPECT_EQ(calls, 4);
  EXPECT_LE(made, 256) << "an endless flow ends with its batch";
  EXPECT_FALSE(*(range(0, 3) | any([](int i) { return i > 5; })));
  EXPECT_FALSE(*(empty<int>() | any([](int) { return true; })));
}

TEST(all, is_known_at_the_first_item_that_does_not_fit) {
  int made = 0;
  EXPECT_FALSE(*(numbers(made) | all([](int i) { return i < 3; })));
  EXPECT_LE(made, 256);
  EXPECT_TRUE(*(range(0, 3) | all([](int i) { return i < 3; })));
  EXPECT_TRUE(*(empty<int>() | all([](int) { return false; })));
}

TEST(contains, compares_with_what_can_be_compared) {
  int made = 0;
  EXPECT_TRUE(*(numbers(made) | contains(3)));
  EXPECT_FALSE(*(range(0, 3) | contains(3)));
  EXPECT_TRUE(*(just(std::string("a")) | contains(std::string("a"))));
}

TEST(any, an_answer_that_is_known_stands_whatever_the_flow_does_behind_it) {
  const auto breaks_at_two = map([](int i) {
    if (i == 2) throw std::runtime_error("two");
    return i;
  });
  EXPECT_TRUE(*(range(0, 5) | breaks_at_two | contains(1)));
  EXPECT_EQ((range(0, 5) | breaks_at_two | contains(3)).error().message, "two");
}

}  // namespace
}  // namespace weir::flow
