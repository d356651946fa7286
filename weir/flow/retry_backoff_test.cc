#include <weir/flow/retry_backoff.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/concat.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/virtual_time.h>

namespace weir::flow {
namespace {

using namespace std::chrono_literals;
using testing::counted;
using testing::outcome;
using testing::script;
using testing::stage;
using testing::test_consumer;
using testing::virtual_time;

/// Always the same: 0 is the beginning of its range, ~0 the end.
class the_same final : public randomness {
 public:
  explicit the_same(std::uint8_t octet) : octet_(octet) {}
  void fill(std::span<std::uint8_t> octets) override { std::memset(octets.data(), octet_, octets.size()); }

 private:
  std::uint8_t octet_;
};

const error broken{errc::io, "broken"};

/// The moments, in ms, at which a flow that always fails is made.
std::vector<long> tries(backoff how, std::uint8_t chance) {
  virtual_time time;
  the_same random(chance);
  std::vector<long> at;
  how.count = 6;
  test_consumer seen(retry(
      [&] {
        at.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(time.passed()).count());
        return fail<int>(broken);
      },
      how, time, random));
  while (seen.request(1) == step::pending) time.advance_by(1ms);
  EXPECT_EQ(seen.failure.message, "broken");
  return at;
}

TEST(retry_backoff, conforms) {
  for (const std::size_t count : {0u, 1u}) {
    virtual_time time;
    const auto complaint = testing::conforms(
        [&](script from) {
          return retry(
              [first = std::optional<script>(std::in_place, std::move(from))]() mutable {
                if (!first) return any_flow<counted>(just(counted(70)));
                any_flow<counted> scripted(std::move(*first));
                first.reset();
                return scripted;
              },
              {.first = 10ms, .count = count}, time);
        },
        [&](std::vector<int> numbers, step end) {
          if (end != step::failed || count == 0) return outcome{numbers, end};
          numbers.push_back(70);
          return outcome{numbers, step::done};
        },
        {.settle = [&](stage& on) {
          on.fire();
          time.advance_by(10ms);
        }});
    EXPECT_EQ(complaint, "") << count;
  }
}

TEST(retry_backoff, waits_longer_each_time_up_to_the_longest) {
  EXPECT_EQ(tries({.first = 10ms, .factor = 2, .longest = 50ms, .jitter = 0}, 0),
            (std::vector<long>{0, 10, 30, 70, 120, 170, 220}));
}

TEST(retry_backoff, jitter_takes_off_a_part_that_chance_decides) {
  EXPECT_EQ(tries({.first = 10ms, .factor = 2, .longest = 40ms, .jitter = 0.5}, 0),
            (std::vector<long>{0, 10, 30, 70, 110, 150, 190}));
  EXPECT_EQ(tries({.first = 10ms, .factor = 2, .longest = 40ms, .jitter = 0.5}, 0xff),
            (std::vector<long>{0, 5, 15, 35, 55, 75, 95}));
}

TEST(retry_backoff, an_item_begins_the_count_anew) {
  virtual_time time;
  int made = 0;
  // Each flow gives one item and fails: never twice in a row.
  test_consumer seen(
      retry([&] { return concat(just(made++), fail<int>(broken)); }, {.first = 10ms, .jitter = 0, .count = 1}, time));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(seen.request(unbounded), step::pending);
    EXPECT_EQ(seen.items.size(), static_cast<std::size_t>(i) + 1);
    time.advance_by(10ms);
  }
}

TEST(retry_backoff, failures_that_are_not_worth_it_end_it_at_once) {
  virtual_time time;
  test_consumer seen(defer([] { return fail<int>(broken); }) |
                     retry({.when = [](const error& why) { return why.code != errc::io; }}, time));
  EXPECT_EQ(seen.request(1), step::failed);
}

TEST(retry_backoff, an_exception_from_the_predicate_is_its_failure) {
  virtual_time time;
  test_consumer seen(retry([] { return concat(just(1), fail<int>(broken)); },
                           {.when = [](const error&) -> bool { throw std::runtime_error("no idea"); }}, time));
  EXPECT_EQ(seen.request(9), step::failed);
  EXPECT_EQ(seen.items, (std::vector<int>{1}));
  EXPECT_EQ(seen.failure.code, errc::threw);
}

TEST(retry_backoff, without_a_wait_lets_others_have_their_turn) {
  virtual_time time;
  std::size_t made = 0;
  test_consumer seen(retry([&] { return ++made, fail<int>(broken); }, {.first = 0ms}, time));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 1u);
  EXPECT_LE(made, 4096u);
}

TEST(retry_backoff, wakes_nobody_after_it_is_gone) {
  virtual_time time;
  test_consumer seen(retry([] { return fail<int>(broken); }, {.first = 10ms}, time));
  EXPECT_EQ(seen.request(1), step::pending);
  seen.leave();
  time.advance_by(1h);
  EXPECT_EQ(seen.complaint(), "");
}

}  // namespace
}  // namespace weir::flow
