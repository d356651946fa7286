#include <weir/flow/retry.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::script;

/// The items 0, 1 and then an exception.
auto two_and_a_failure() {
  return range(0, 5) | map([](int i) {
           if (i == 2) throw std::runtime_error("two");
           return i;
         });
}

/// Gives the scripted flow first, and then flows of one item that end as told.
auto script_then(script first, step second) {
  return [first = std::optional<script>(std::in_place, std::move(first)), second, number = 70]() mutable {
    if (first) {
      any_flow<counted> scripted(std::move(*first));
      first.reset();
      return scripted;
    }
    any_flow<counted> other(
        generate([number = number++, second, given = false]() mutable -> result<std::optional<counted>> {
          if (!std::exchange(given, true)) return std::optional<counted>(std::in_place, number);
          if (second == step::failed) return weir::fail(errc::io, "again");
          return std::optional<counted>();
        }));
    return other;
  };
}

TEST(retry, conforms) {
  for (const step second : {step::done, step::failed}) {
    for (const std::size_t count : {0u, 1u, 3u}) {
      const auto complaint =
          testing::conforms([=](script from) { return retry(script_then(std::move(from), second), count); },
                            [=](std::vector<int> numbers, step end) {
                              if (end != step::failed || count == 0) return outcome{numbers, end};
                              const int more = second == step::failed ? static_cast<int>(count) : 1;
                              for (int i = 0; i < more; ++i) numbers.push_back(70 + i);
                              return outcome{numbers, second};
                            });
      EXPECT_EQ(complaint, "") << count;
    }
  }
}

TEST(retry, gives_what_each_flow_gives_until_one_does_not_fail) {
  int made = 0;
  const auto make = [&] {
    const int now = ++made;
    return range(0, 3) | map([now](int i) {
             if (i == now) throw std::runtime_error("broke");
             return i;
           });
  };
  EXPECT_EQ(*to_vector(retry(make)), (std::vector<int>{0, 0, 1, 0, 1, 2}));
  EXPECT_EQ(made, 3);
}

TEST(retry, tries_again_as_often_as_it_is_told_and_then_fails_with_the_last_error) {
  int made = 0;
  const auto make = [&] { return fail<int>(weir::fail(errc::io, std::to_string(++made))); };
  const auto ended = to_vector(defer(make) | retry(3));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "4");
  EXPECT_EQ(made, 4);
}

TEST(retry, asks_whether_to_go_on_with_the_error_and_the_number_of_failures) {
  std::vector<std::string> asked;
  int made = 0;
  const auto make = [&] { return fail<int>(weir::fail(errc::io, std::string(1, static_cast<char>('a' + made++)))); };
  const auto ended = to_vector(defer(make) | retry([&](const error& why, std::size_t failures) {
                                 asked.push_back(why.message + std::to_string(failures));
                                 return why.message != "c";
                               }));
  EXPECT_EQ(ended.error().message, "c");
  EXPECT_EQ(asked, (std::vector<std::string>{"a1", "b2", "c3"}));
}

// R6: an exception must not come after the last item that was asked for, and the failure may come with that.
TEST(retry, an_exception_from_the_predicate_is_its_failure) {
  testing::test_consumer seen(
      retry(two_and_a_failure, [](const error&, std::size_t) -> bool { throw std::runtime_error("no idea"); }));
  EXPECT_EQ(seen.request(9), step::failed);
  EXPECT_EQ(seen.items, (std::vector<int>{0, 1}));
  EXPECT_EQ(seen.failure.code, errc::threw);
}

/// two_and_a_failure, and what it was asked for.
struct watching {
  using value_type = int;
  std::vector<std::size_t>* asked;
  decltype(two_and_a_failure()) source = two_and_a_failure();

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    asked->push_back(demand);
    return source.pull(demand, emit, cx);
  }
};

// Credit is not lost and not granted twice when the source changes (ReactiveX: retry with a predicate, 2844; requests
// that went to the old source, 2997).
TEST(retry, asks_each_flow_for_what_is_still_wanted) {
  std::vector<std::size_t> asked;
  testing::test_consumer all(retry([&] { return watching{&asked}; }));
  EXPECT_EQ(all.request(5), step::more);
  EXPECT_EQ(all.items, (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(asked, (std::vector<std::size_t>{5, 3, 1}));
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_EQ(all.request(2), step::more);
  EXPECT_EQ(all.items, (std::vector<int>{0, 1, 0, 1, 0, 1, 0}));
}

TEST(retry, makes_no_flow_for_nobody) {
  int made = 0;
  testing::test_consumer all(retry([&] { return ++made, fail<int>(weir::fail(errc::io, "x")); }));
  EXPECT_EQ(all.request(0), step::more);
  EXPECT_EQ(made, 0);
}

TEST(retry, of_a_flow_that_always_fails_gives_up_its_turn_and_no_stack) {
  std::size_t made = 0;
  testing::test_consumer all(retry([&] { return ++made, fail<int>(weir::fail(errc::io, "x")); }, 1'000'000));
  EXPECT_EQ(all.request(1), step::pending);
  EXPECT_EQ(made, 4096u);
  EXPECT_EQ(all.wakes, 1u);
  step why;
  while ((why = all.request(1)) == step::pending) {
  }
  EXPECT_EQ(why, step::failed);
  EXPECT_EQ(made, 1'000'001u);
}

TEST(retry, leaves_others_their_turn_in_a_merge) {
  const auto items =
      to_vector(merge(retry([] { return fail<int>(weir::fail(errc::io, "x")); }), range(0, 10'000)) | take(10'000));
  EXPECT_EQ(items->size(), 10'000u);
}

TEST(retry, counts_a_flow_that_cannot_be_made_as_failed) {
  int made = 0;
  const auto make = [&] {
    if (++made < 3) throw std::runtime_error("not yet");
    return range(0, 2);
  };
  EXPECT_EQ(*to_vector(retry(make, 2)), (std::vector<int>{0, 1}));
  made = 0;
  EXPECT_EQ(to_vector(retry(make, 1)).error().message, "not yet");
}

TEST(retry, does_not_mend_what_the_consumer_broke) {
  int made = 0;
  std::vector<int> seen;
  const auto ended = for_each(retry([&] { return ++made, range(0, 5); }), [&](int i) {
    if (i == 2) throw std::runtime_error("two");
    seen.push_back(i);
  });
  ASSERT_FALSE(ended);
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
  EXPECT_EQ(made, 1);
}

TEST(retry, destroys_a_flow_that_failed_before_it_makes_the_next) {
  std::weak_ptr<int> before;
  bool alone = true;
  const auto make = [&] {
    alone = alone && before.expired();
    auto held = std::make_shared<int>(0);
    before = held;
    return range(0, 2) | map([held](int i) {
             if (i == 1) throw std::runtime_error("one");
             return i;
           });
  };
  EXPECT_FALSE(to_vector(retry(make, 5)));
  EXPECT_TRUE(alone);
}

}  // namespace
}  // namespace weir::flow
