#include <weir/flow/generator.h>

#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/async.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/next.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::outcome;
using testing::script;

generator<counted> pass_on(script from) {
  reader in(std::move(from));
  for (;;) {
    auto item = co_await next(in);
    if (!item) co_await item.error();
    if (!*item) co_return;
    co_yield std::move(**item);
  }
}

async<result<std::optional<counted>>> fetch(reader<script>& in) { co_return co_await next(in); }

generator<counted> pass_on_through_another_coroutine(script from) {
  reader in(std::move(from));
  for (;;) {
    auto item = co_await fetch(in);
    if (!item) co_await item.error();
    if (!*item) co_return;
    std::vector<counted> two;
    two.emplace_back((*item)->number());
    two.emplace_back((*item)->number() * 10);
    co_yield std::span<counted>(two);
  }
}

TEST(generator, conforms) {
  const auto complaint = testing::conforms([](script from) { return pass_on(std::move(from)); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(generator, that_gives_runs_and_awaits_coroutines_conforms) {
  const auto complaint =
      testing::conforms([](script from) { return pass_on_through_another_coroutine(std::move(from)); },
                        [](const std::vector<int>& numbers, step end) {
                          outcome expected{{}, end};
                          for (const int number : numbers) {
                            expected.numbers.push_back(number);
                            expected.numbers.push_back(number * 10);
                          }
                          return expected;
                        });
  EXPECT_EQ(complaint, "");
}

TEST(generator, runs_no_further_than_to_what_is_asked_for) {
  int made = 0;
  const auto count = [](int& counter) -> generator<int> {
    for (;;) {
      ++counter;
      co_yield int(counter);
    }
  };
  auto flow = count(made) | take(3);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(*to_vector(std::move(flow)), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(made, 3);
}

TEST(generator, gives_a_copy_of_a_variable_and_moves_what_is_moved) {
  const auto words = []() -> generator<std::string> {
    std::string word = "long enough to be on the heap, wherever that may be";
    co_yield word;
    EXPECT_EQ(word.substr(0, 4), "long");
    co_yield std::move(word);
    co_yield std::string("a temporary that is as long as the other one, or longer");
  };
  const auto all = *to_vector(words());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[2].substr(0, 11), "a temporary");
}

TEST(generator, gives_items_that_can_only_be_moved) {
  const auto some = []() -> generator<std::unique_ptr<int>> {
    for (int i = 0; i < 3; ++i) co_yield std::make_unique<int>(i);
  };
  int sum = 0;
  ASSERT_TRUE(some() | for_each([&](std::unique_ptr<int> item) { sum += *item; }));
  EXPECT_EQ(sum, 3);
}

struct row {
  int number;
  std::string text;
};

// Named before they are given, as g++ 12 wants it (async.h).
TEST(generator, gives_aggregates) {
  const auto rows = [](int count) -> generator<row> {
    for (int i = 0; i < count; ++i) {
      row now{i, "row of the number " + std::to_string(i) + ", with some text"};
      co_yield std::move(now);
    }
  };
  int sum = 0;
  ASSERT_TRUE(rows(10) | for_each([&](const row& now) {
                sum += now.number;
                EXPECT_EQ(now.text, "row of the number " + std::to_string(now.number) + ", with some text");
              }));
  EXPECT_EQ(sum, 45);
}

TEST(generator, gives_a_span_as_one_run) {
  struct runs {
    std::vector<std::size_t> sizes;
    void operator()(int&&) { sizes.push_back(1); }
    void run(std::span<int> items) { sizes.push_back(items.size()); }
  } seen;
  const auto chunks = []() -> generator<int> {
    std::array<int, 100> chunk{};
    for (int i = 0; i < 2; ++i) {
      co_yield std::span<int>(chunk);
      co_yield std::span<int>();
    }
  };
  auto flow = chunks();
  error failure;
  context cx({}, failure);
  std::size_t demand = 150;
  EXPECT_EQ(flow.pull(demand, seen, cx), step::more);
  demand = unbounded;
  EXPECT_EQ(flow.pull(demand, seen, cx), step::done);
  EXPECT_EQ(seen.sizes, (std::vector<std::size_t>{100, 50, 50}));
}

TEST(generator, fails_with_the_error_that_it_awaits) {
  const auto failing = []() -> generator<int> {
    co_yield 1;
    co_await fail(errc::io, "unplugged");
    ADD_FAILURE() << "resumed after its end";
  };
  std::vector<int> numbers;
  const auto end = failing() | for_each([&](int i) { numbers.push_back(i); });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "unplugged");
  EXPECT_EQ(numbers, (std::vector<int>{1}));
}

TEST(generator, lets_an_exception_pass_after_the_items_before_it) {
  const auto throwing = []() -> generator<int> {
    co_yield 1;
    throw std::runtime_error("no");
  };
  std::vector<int> numbers;
  const auto end = throwing() | for_each([&](int i) { numbers.push_back(i); });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, errc::threw);
  EXPECT_EQ(numbers, (std::vector<int>{1}));
}

TEST(generator, frees_its_variables_wherever_it_is_destroyed) {
  const life_balance lives;
  const auto some = [](counted) -> generator<counted> {
    counted variable(1);
    for (int i = 0; i < 5; ++i) co_yield counted(i);
  };
  for (std::size_t items = 0; items <= 5; ++items) {
    std::size_t seen = 0;
    ASSERT_TRUE(some(counted(0)) | take(items) | for_each([&](counted&&) { ++seen; }));
    EXPECT_EQ(seen, items);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(generator, that_drops_everything_gives_up_its_turn) {
  const auto none = [](any_flow<int> from) -> generator<int> {
    reader in(std::move(from));
    for (;;) {
      const auto item = co_await next(in);
      if (!*item) co_return;
    }
  };
  int made = 0;
  auto flow = none(range(0, 10'000) | map([&](int i) { return ++made, i; }));
  error failure;
  int wakes = 0;
  context cx(waker([](void* count) noexcept { ++*static_cast<int*>(count); }, &wakes), failure);
  std::size_t demand = 1;
  ASSERT_EQ(flow.pull(
                demand, [](int&&) {}, cx),
            step::pending);
  EXPECT_EQ(wakes, 1);
  EXPECT_LE(made, 4096 + 1);
  EXPECT_TRUE(for_each(std::move(flow), [](int) {}));
  EXPECT_EQ(made, 10'000);
}

TEST(generator, works_behind_a_hop_and_in_a_merge) {
  worker there;
  const auto numbers = [](int from) -> generator<int> {
    for (int i = from; i < from + 10'000; ++i) co_yield int(i);
  };
  long sum = 0;
  ASSERT_TRUE(merge(numbers(0) | observe_on(there), numbers(10'000) | observe_on(there)) |
              for_each([&](int i) { sum += i; }));
  EXPECT_EQ(sum, 20'000L * 19'999 / 2);
}

}  // namespace
}  // namespace weir::flow
