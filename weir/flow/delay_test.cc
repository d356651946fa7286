#include <weir/flow/delay.h>

#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/marble.h>
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

TEST(delay, conforms) {
  for (const auto wait : {0ms, 10ms}) {
    for (const std::size_t items_max : {1u, 2u, 9u}) {
      virtual_time time;
      const auto complaint =
          testing::conforms([&](script from) { return std::move(from) | delay(wait, time, items_max); },
                            [](const std::vector<int>& numbers, step end) {
                              return outcome{numbers, end};
                            },
                            {.settle = [&](stage& on) {
                              on.fire();
                              time.advance_by(10ms);
                            }});
      EXPECT_EQ(complaint, "") << wait.count() << ' ' << items_max;
    }
  }
}

TEST(delay, gives_each_item_so_much_later_and_the_end_too) {
  virtual_time time;
  stage on;
  test_consumer seen(testing::marbles("a-b#", on) | map([](const counted& c) { return c.number(); }) |
                     delay(10ms, time));
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(4ms);
  on.fire();
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({}), "");
  time.advance_by(6ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({'a'}), "");
  time.advance_by(3ms);
  EXPECT_EQ(seen.request(9), step::pending);
  time.advance_by(1ms);
  EXPECT_EQ(seen.request(9), step::failed);
  EXPECT_EQ(seen.came({'a', 'b'}, step::failed), "");
}

TEST(delay, the_end_is_as_late_as_an_item) {
  virtual_time time;
  stage on;
  test_consumer seen(testing::marbles("a-|", on) | map([](const counted& c) { return c.number(); }) |
                     delay(10ms, time));
  seen.request(9);
  time.advance_by(4ms);
  on.fire();
  seen.request(9);
  time.advance_by(9ms);
  EXPECT_EQ(seen.request(9), step::pending);
  EXPECT_EQ(seen.came({'a'}), "");
  time.advance_by(1ms);
  EXPECT_EQ(seen.request(9), step::done);
}

TEST(delay, keeps_no_more_than_its_bound_of_an_endless_flow) {
  virtual_time time;
  int made = 0;
  test_consumer seen(generate([&] { return std::optional(made++); }) | delay(10ms, time, 16));
  EXPECT_EQ(seen.request(unbounded), step::pending);
  EXPECT_EQ(made, 16);
  time.advance_by(10ms);
  EXPECT_EQ(seen.request(4), step::more);
  EXPECT_EQ(seen.came({0, 1, 2, 3}), "");
  EXPECT_EQ(made, 16);
}

}  // namespace
}  // namespace weir::flow
