#include <weir/flow/flat_map.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow {
namespace {

using testing::counted;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::test_consumer;

TEST(flat_map, conforms) {
  const auto complaint = testing::conforms(
      [](script from) { return std::move(from) | flat_map([](counted&& of) { return just(std::move(of)); }); },
      [](const std::vector<int>& numbers, step end) {
        return outcome{numbers, end};
      },
      {.fails_at_once = true});
  EXPECT_EQ(complaint, "");
}

TEST(flat_map, gives_the_items_of_all_flows) {
  auto items = *to_vector(range(0, 300) | flat_map([](int i) { return range(2 * i, 2 * i + 2); }));
  std::ranges::sort(items);
  ASSERT_EQ(items.size(), 600u);
  for (int i = 0; i < 600; ++i) EXPECT_EQ(items[static_cast<std::size_t>(i)], i);
}

TEST(flat_map, has_no_more_flows_open_than_allowed_and_goes_on_when_they_end_empty) {
  // Flows without an item must give their place back: a thousand of them through sixteen places.
  testing::stage on;
  int opened = 0;
  test_consumer seen(
      flat_map(range(0, 1000), [&](int) { return ++opened, script({pending()}, on); }, {.concurrent_max = 16}));
  int waits = 0;
  while (seen.request(100) == step::pending) {
    ++waits;
    ASSERT_LE(opened, 16 * waits);
    on.fire();
  }
  EXPECT_EQ(seen.end(), step::done);
  EXPECT_EQ(opened, 1000);
  EXPECT_EQ(seen.complaint(), "");
}

}  // namespace
}  // namespace weir::flow
