#include <weir/flow/on_error.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

int throws_at_two(int i) {
  if (i == 2) throw std::runtime_error("two");
  return i;
}

TEST(on_error_resume, conforms) {
  // What goes on ends in each of the ways, and its failure is not mended again.
  for (const step second : {step::done, step::failed, step::cancelled}) {
    const auto complaint = testing::conforms(
        [=](script from) {
          return std::move(from) | on_error_resume([=](const error&) {
                   return generate([=, given = 0]() mutable -> result<std::optional<counted>> {
                     if (given < 2) return std::optional<counted>(std::in_place, 70 + given++);
                     if (second == step::failed) return weir::fail(errc::io, "again");
                     return std::optional<counted>();
                   });
                 });
        },
        [=](std::vector<int> numbers, step end) {
          if (end != step::failed) return outcome{numbers, end};
          numbers.insert(numbers.end(), {70, 71});
          return outcome{numbers, second == step::failed ? step::failed : step::done};
        });
    EXPECT_EQ(complaint, "") << static_cast<int>(second);
  }
}

TEST(on_error_return, conforms) {
  const auto complaint = testing::conforms(
      [](script from) { return std::move(from) | on_error_return([](const error&) { return counted(70); }); },
      [](std::vector<int> numbers, step end) {
        if (end != step::failed) return outcome{numbers, end};
        numbers.push_back(70);
        return outcome{numbers, step::done};
      });
  EXPECT_EQ(complaint, "");
}

TEST(on_error_resume, goes_on_behind_the_items_before_the_failure) {
  error seen;
  const auto items = to_vector(range(0, 5) | map(throws_at_two) | on_error_resume([&](error why) {
                                 seen = std::move(why);
                                 return range(10, 12);
                               }));
  EXPECT_EQ(*items, (std::vector<int>{0, 1, 10, 11}));
  EXPECT_EQ(seen.code, errc::threw);
  EXPECT_EQ(seen.message, "two");
}

TEST(on_error_resume, knows_what_is_still_wanted_after_an_exception) {
  // The source takes all it was asked for off the demand before it gives any; two have come when it breaks.
  testing::test_consumer all(range(0, 5) | map(throws_at_two) |
                             on_error_resume([](const error&) { return range(10, 100); }));
  EXPECT_EQ(all.request(4), step::more);
  EXPECT_EQ(all.items, (std::vector<int>{0, 1, 10, 11}));
  EXPECT_EQ(all.request(1), step::more);
  EXPECT_EQ(all.items.back(), 12);
}

TEST(on_error_resume, destroys_the_flow_that_failed_before_it_asks_for_another) {
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = held;
  bool gone = false;
  const auto items = to_vector(range(0, 5) | map([held = std::move(held)](int i) { return throws_at_two(i); }) |
                               on_error_resume([&](const error&) {
                                 gone = watch.expired();
                                 return empty<int>();
                               }));
  EXPECT_EQ(*items, (std::vector<int>{0, 1}));
  EXPECT_TRUE(gone);
}

TEST(on_error_resume, does_not_mend_what_the_consumer_broke) {
  const auto mend = [](const error&) { return range(10, 12); };
  std::vector<int> seen;
  const auto ended =
      for_each(range(0, 5) | on_error_resume(mend) | map(throws_at_two), [&](int i) { seen.push_back(i); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "two");
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

TEST(on_error_resume, calls_its_function_at_a_failure_only) {
  int calls = 0;
  const auto mend = [&](const error&) { return ++calls, empty<int>(); };
  EXPECT_EQ(to_vector(range(0, 3) | on_error_resume(mend))->size(), 3u);
  EXPECT_EQ(to_vector(range(0, 3) | map(throws_at_two) | on_error_resume(mend) | take(2))->size(), 2u);
  EXPECT_EQ(calls, 0);
}

TEST(on_error_resume, a_function_that_throws_ends_the_flow) {
  const auto ended = to_vector(fail<int>(weir::fail(errc::io, "x")) | on_error_resume([](const error& why) {
                                 if (why.code == errc::io) throw std::runtime_error("no mending");
                                 return empty<int>();
                               }));
  EXPECT_EQ(ended.error().message, "no mending");
}

/// Ends in the pull that gives its item.
struct one_and_a_failure {
  using value_type = int;
  step pull(std::size_t& demand, auto&& emit, context& cx) {
    if (demand == 0) return step::more;
    --demand;
    emit(1);
    return cx.fail({errc::io, "x"});
  }
};

// R6: an exception must not come after the last item that was asked for, and the failure may come with that.
TEST(on_error_resume, a_function_that_throws_does_not_throw_after_the_last_item) {
  std::size_t demand = 1;
  error failure;
  context cx({}, failure);
  auto mended = one_and_a_failure() |
                on_error_resume([](const error&) -> decltype(empty<int>()) { throw std::runtime_error("no mending"); });
  EXPECT_EQ(mended.pull(
                demand, [](int) {}, cx),
            step::failed);
  EXPECT_EQ(failure.message, "no mending");
}

TEST(on_error_return, makes_an_item_of_the_error_when_one_is_asked_for) {
  testing::test_consumer all(fail<std::string>(weir::fail(errc::io, "broke")) |
                             on_error_return([](error why) { return why.message; }));
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_TRUE(all.items.empty());
  EXPECT_EQ(all.request(1), step::done);
  EXPECT_EQ(all.items, std::vector<std::string>{"broke"});
}

TEST(on_error_return, passes_things_that_can_only_be_moved) {
  const auto items = to_vector(on_error_return(fail<std::unique_ptr<int>>(weir::fail(errc::io, "x")),
                                               [](const error&) { return std::make_unique<int>(7); }));
  EXPECT_EQ(**items->begin(), 7);
}

}  // namespace
}  // namespace weir::flow
