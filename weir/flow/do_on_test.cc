#include <weir/flow/do_on.h>

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

/// What was told, in order.
using told = std::vector<std::string>;

/// A flow with every function of this file on it, each of which says its name.
template <flow Source>
auto watched(Source from, told& by) {
  const auto says = [&by](std::string what) { return [&by, what] { by.push_back(what); }; };
  return std::move(from) | do_on_item([&by](const int& i) { by.push_back(std::to_string(i)); }) |
         do_on_subscribe(says("subscribe")) | do_on_done(says("done")) |
         do_on_error([&by](const error& why) { by.push_back("error " + why.message); }) | do_on_cancel(says("cancel")) |
         do_finally(says("finally"));
}

int throws_at_two(int i) {
  if (i == 2) throw std::runtime_error("two");
  return i;
}

/// A source that says it was cancelled.
struct stopped {
  using value_type = int;
  template <class Emit>
  step pull(std::size_t&, Emit&&, context&) {
    return step::cancelled;
  }
};

TEST(do_on, conforms) {
  const auto same = [](const std::vector<int>& numbers, step end) { return outcome{numbers, end}; };
  const auto conforms = [&](auto what) {
    return testing::conforms([what](script from) { return std::move(from) | what; }, same);
  };
  EXPECT_EQ(conforms(do_on_item([](const counted&) {})), "");
  EXPECT_EQ(conforms(do_on_subscribe([] {})), "");
  EXPECT_EQ(conforms(do_on_done([] {})), "");
  EXPECT_EQ(conforms(do_on_error([](const error&) {})), "");
  EXPECT_EQ(conforms(do_on_cancel([] {})), "");
  EXPECT_EQ(conforms(do_finally([] {})), "");
}

TEST(do_on, tells_a_flow_that_is_done_from_the_beginning_to_the_end) {
  told by;
  EXPECT_EQ(to_vector(watched(range(0, 2), by))->size(), 2u);
  EXPECT_EQ(by, (told{"subscribe", "0", "1", "done", "finally"}));
}

TEST(do_on, tells_a_failure_and_no_other_end) {
  told by;
  EXPECT_FALSE(to_vector(watched(fail<int>(weir::fail(errc::io, "broke")), by)));
  EXPECT_EQ(by, (told{"subscribe", "error broke", "finally"}));
}

TEST(do_on, tells_an_exception_as_a_failure) {
  told by;
  const auto ended = to_vector(watched(range(0, 5) | map(throws_at_two), by));
  EXPECT_EQ(ended.error().message, "two") << "it passes on";
  EXPECT_EQ(by, (told{"subscribe", "0", "1", "error two", "finally"}));
}

TEST(do_on, tells_that_the_consumer_has_enough) {
  told by;
  EXPECT_EQ(to_vector(watched(range(0, 5), by) | take(1))->size(), 1u);
  EXPECT_EQ(by, (told{"subscribe", "0", "cancel", "finally"}));
}

TEST(do_on, tells_that_the_consumer_threw_as_a_cancel_and_not_as_a_failure) {
  told by;
  EXPECT_FALSE(to_vector(watched(range(0, 5), by) | map(throws_at_two)));
  EXPECT_EQ(by, (told{"subscribe", "0", "1", "2", "cancel", "finally"}));
}

TEST(do_on, tells_that_the_flow_says_it_was_cancelled) {
  told by;
  EXPECT_EQ(to_vector(watched(stopped(), by)).error().code, errc::cancelled);
  EXPECT_EQ(by, (told{"subscribe", "cancel", "finally"}));
}

TEST(do_on, tells_nothing_of_a_flow_that_is_never_pulled) {
  told by;
  { auto flow = watched(range(0, 5), by); }
  EXPECT_EQ(by, told{});
}

TEST(do_on, a_flow_that_is_moved_before_its_first_pull_is_told_once) {
  told by;
  {
    auto first = watched(range(0, 5), by);
    testing::test_consumer all(std::move(first));
    EXPECT_EQ(all.request(1), step::more);
  }
  EXPECT_EQ(by, (told{"subscribe", "0", "cancel", "finally"}));
}

TEST(do_on, what_was_told_at_the_end_is_not_told_again_by_the_destructor) {
  told by;
  {
    testing::test_consumer all(watched(range(0, 1), by));
    EXPECT_EQ(all.request(unbounded), step::done);
    EXPECT_EQ(by, (told{"subscribe", "0", "done", "finally"})) << "not only when it is destroyed";
  }
  EXPECT_EQ(by.size(), 4u);
}

TEST(do_on, a_cancel_is_told_before_the_flow_is_destroyed_and_finally_after_it) {
  told by;
  const auto leaves = [&by](std::string what) {
    return std::shared_ptr<int>(new int(0), [&by, what](int* it) {
      delete it;
      by.push_back(what);
    });
  };
  {
    testing::test_consumer all(range(0, 5) | map([it = leaves("gone")](int i) { return i + *it; }) |
                               do_on_cancel([&by] { by.push_back("cancel"); }) |
                               do_finally([&by] { by.push_back("finally"); }));
    EXPECT_EQ(all.request(1), step::more);
  }
  EXPECT_EQ(by, (told{"cancel", "gone", "finally"}));
}

TEST(do_on, a_function_that_throws_ends_the_flow_before_that_item) {
  std::vector<int> seen;
  const auto ended =
      range(0, 5) | do_on_item([](int i) { throws_at_two(i); }) | for_each([&](int i) { seen.push_back(i); });
  EXPECT_EQ(ended.error().message, "two");
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
}

TEST(do_on, lets_things_pass_that_can_only_be_moved) {
  told by;
  const auto items = to_vector(do_on_item(just(std::make_unique<int>(7)),
                                          [&](const std::unique_ptr<int>& p) { by.push_back(std::to_string(*p)); }));
  EXPECT_EQ(**items->begin(), 7);
  EXPECT_EQ(by, told{"7"});
}

}  // namespace
}  // namespace weir::flow
