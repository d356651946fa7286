#include <weir/flow/buffer.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;

using groups = std::vector<std::vector<int>>;

/// The buffers of some numbers, by the definition: one begins every `skip` numbers and has up to `count`.
groups buffers_of(const std::vector<int>& numbers, std::size_t count, std::size_t skip) {
  groups all;
  for (std::size_t begin = 0; begin < numbers.size(); begin += skip) {
    const std::size_t end = std::min(begin + count, numbers.size());
    all.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                     numbers.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return all;
}

TEST(buffer, conforms) {
  for (const std::size_t count : {1u, 2u, 3u, 100u}) {
    const auto complaint = testing::conforms([=](script from) { return std::move(from) | buffer(count); },
                                             [](const std::vector<int>& numbers, step end) {
                                               return outcome{numbers, end};
                                             });
    EXPECT_EQ(complaint, "") << count;
  }
}

// Two items are enough for an overlap and a gap; longer flows are below.
TEST(buffer, with_a_skip_conforms) {
  for (const std::size_t count : {1u, 2u, 3u}) {
    for (const std::size_t skip : {1u, 2u, 3u}) {
      const auto complaint = testing::conforms(
          [=](script from) {
            // Numbers, because counted items cannot be copied.
            return std::move(from) | map([](counted&& i) { return i.number(); }) | buffer(count, skip) |
                   map([](const std::vector<int>& numbers) {
                     int digits = 0;
                     for (const int number : numbers) digits = digits * 10 + number;
                     return counted(digits);
                   });
          },
          [=](const std::vector<int>& numbers, step end) {
            outcome expected{{}, end};
            for (const std::vector<int>& one : buffers_of(numbers, count, skip)) {
              int digits = 0;
              for (const int number : one) digits = digits * 10 + number;
              expected.numbers.push_back(digits);
            }
            return expected;
          },
          {.items_max = 2});
      EXPECT_EQ(complaint, "") << count << ' ' << skip;
    }
  }
}

TEST(buffer, has_the_items_that_its_definition_says) {
  for (int total = 0; total < 12; ++total) {
    const std::vector<int> numbers = *to_vector(range(0, total));
    for (std::size_t count = 1; count < 6; ++count) {
      EXPECT_EQ(*to_vector(from_range(numbers) | buffer(count)), buffers_of(numbers, count, count));
      for (std::size_t skip = 1; skip < 6; ++skip) {
        EXPECT_EQ(*to_vector(from_range(numbers) | buffer(count, skip)), buffers_of(numbers, count, skip))
            << total << ' ' << count << ' ' << skip;
      }
    }
  }
}

TEST(buffer, waits_until_it_is_full) {
  testing::stage on;
  testing::test_consumer all(script({item(1), item(2), pending(), item(3), item(4), pending(), item(5)}, on) |
                             buffer(3) | map([](std::vector<counted> one) { return testing::numbers_in(one); }));
  EXPECT_EQ(all.request(unbounded), step::pending);
  EXPECT_TRUE(all.items.empty()) << "chunks would close here";
  on.fire();
  EXPECT_EQ(all.request(unbounded), step::pending);
  EXPECT_EQ(all.items, (groups{{1, 2, 3}}));
  on.fire();
  EXPECT_EQ(all.request(unbounded), step::done);
  EXPECT_EQ(all.items, (groups{{1, 2, 3}, {4, 5}}));
}

TEST(buffer, asks_for_no_more_items_than_close_what_was_asked_for) {
  const auto made_for = [](auto apply, std::size_t demand) {
    int made = 0;
    testing::test_consumer all(iterate(0, [&](int i) { return ++made, i + 1; }) | apply);
    EXPECT_EQ(all.request(0), step::more);
    EXPECT_EQ(made, 0);
    EXPECT_EQ(all.request(demand), step::more);
    EXPECT_EQ(all.items.size(), demand);
    return made + 1;  // and the seed
  };
  EXPECT_EQ(made_for(buffer(5), 1), 5);
  EXPECT_EQ(made_for(buffer(5), 3), 15);
  EXPECT_EQ(made_for(buffer(5, 2), 3), 5 + 2 * 2);
  EXPECT_EQ(made_for(buffer(2, 5), 3), 2 + 2 * 5);
}

TEST(buffer, takes_things_that_can_only_be_moved) {
  const auto all = to_vector(range(0, 5) | map([](int i) { return std::make_unique<int>(i); }) | buffer(2) |
                             map([](std::vector<std::unique_ptr<int>> one) { return one.size(); }));
  EXPECT_EQ(*all, (std::vector<std::size_t>{2, 2, 1}));
}

TEST(buffer, of_any_size_and_skip_does_not_overflow) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(*to_vector(range(0, 3) | buffer(most)), (groups{{0, 1, 2}}));
  EXPECT_EQ(*to_vector(range(0, 3) | buffer(most, 2)), (groups{{0, 1, 2}, {2}}));
  EXPECT_EQ(*to_vector(range(0, 3) | buffer(2, most)), (groups{{0, 1}}));
}

TEST(buffer, that_is_long_or_far_lets_others_have_their_turn) {
  testing::test_consumer large(iterate(0, [](int i) { return i + 1; }) | buffer(5'000));
  EXPECT_EQ(large.request(1), step::pending);
  EXPECT_EQ(large.wakes, 1u);
  EXPECT_EQ(large.request(1), step::more);
  EXPECT_EQ(large.items.front().size(), 5'000u);
  testing::test_consumer far(iterate(0, [](int i) { return i + 1; }) | buffer(1, 5'000));
  EXPECT_EQ(far.request(1), step::more);
  EXPECT_EQ(far.request(1), step::pending);
  EXPECT_EQ(far.wakes, 1u);
  EXPECT_EQ(far.request(1), step::more);
  EXPECT_EQ(far.items, (groups{{0}, {5'000}}));
}

TEST(buffer, gives_the_items_before_a_failure_first) {
  groups seen;
  const auto failing = [](int i) {
    if (i == 4) throw std::runtime_error("four");
    return i;
  };
  const auto ended =
      range(0, 9) | map(failing) | buffer(3) | for_each([&](std::vector<int> one) { seen.push_back(one); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "four");
  EXPECT_EQ(seen, (groups{{0, 1, 2}, {3}}));
}

TEST(buffer, an_exception_of_the_consumer_is_not_kept_for_later) {
  testing::test_consumer all(range(0, 9) | buffer(3) | map([](std::vector<int> one) {
                               if (one.front() == 3) throw std::runtime_error("three");
                               return one;
                             }));
  EXPECT_EQ(all.request(unbounded), step::failed);
  EXPECT_EQ(all.failure.message, "three");
  EXPECT_EQ(all.items, (groups{{0, 1, 2}}));
}

// Overlapping buffers, of which some are open when the consumer throws: it gets none of them after that.
TEST(buffer, that_overlaps_gives_no_more_to_a_consumer_that_threw) {
  std::vector<std::vector<int>> seen;
  const auto ended = range(0, 9) | buffer(3, 1) | for_each([&](std::vector<int> one) {
                       seen.push_back(one);
                       if (one.front() == 2) throw std::runtime_error("enough");
                     });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "enough");
  EXPECT_EQ(seen, (groups{{0, 1, 2}, {1, 2, 3}, {2, 3, 4}}));
}

}  // namespace
}  // namespace weir::flow
