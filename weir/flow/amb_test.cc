#include <weir/flow/amb.h>

#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/two_inputs.h>

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::event;
using testing::item;
using testing::outcome;
using testing::pending;
using testing::script;
using testing::test_consumer;

TEST(amb, conforms_beside_a_flow_that_never_gives_anything) {
  const auto complaint = testing::conforms([](script from) { return amb(never<counted>(), std::move(from)); },
                                           [](const std::vector<int>& numbers, step end) {
                                             return outcome{numbers, end};
                                           });
  EXPECT_EQ(complaint, "");
}

TEST(amb, of_two_flows_gives_all_of_one_and_nothing_of_the_other) {
  const auto complaint =
      testing::conforms_with_two_inputs([](script a, script b) { return amb(std::move(a), std::move(b)); },
                                        [](testing::two_ends ends, const outcome& seen) {
                                          return seen == outcome{{1, 2, 3}, testing::end_of(ends.first)} ||
                                                 seen == outcome{{11, 12}, testing::end_of(ends.second)};
                                        });
  EXPECT_EQ(complaint, "");
}

TEST(amb, the_first_to_be_ready_wins_and_the_one_that_is_named_first_among_those) {
  testing::stage on;
  std::vector<script> flows;
  flows.push_back(script({pending(), item(1)}, on));
  flows.push_back(script({item(11), pending(), item(12)}, on));
  flows.push_back(script({item(21)}, on));
  test_consumer seen(amb(std::move(flows)));
  EXPECT_EQ(seen.request(1), step::pending);
  on.fire();
  EXPECT_EQ(seen.request(5), step::done);
  ASSERT_EQ(seen.items.size(), 2u);
  EXPECT_EQ(seen.items[0].number(), 11);
  EXPECT_EQ(seen.items[1].number(), 12);
}

TEST(amb, destroys_the_others_before_the_first_item_is_given) {
  const life_balance lives;
  std::vector<counted> many;
  for (int i = 0; i < 100; ++i) many.emplace_back(i);
  auto flow = amb(just(counted(7)) | map([](counted&& of) { return of.number(); }),
                  from_range(std::move(many)) | map([](counted&& of) { return of.number(); }));
  error failure;
  context cx({}, failure);
  std::size_t demand = 1;
  long left = -1;
  EXPECT_EQ(flow.pull(
                demand, [&](int&&) { left = lives.surplus(); }, cx),
            step::done);
  EXPECT_LE(left, 2) << "the winner's own, and no more";
}

TEST(amb, an_end_wins_as_an_item_does) {
  EXPECT_TRUE(to_vector(amb(empty<int>(), range(0, 9)))->empty());
  const auto failed = to_vector(never<int>() | amb_with(fail<int>(weir::fail(errc::io, "broke")), range(0, 9)));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "broke");
}

TEST(amb, of_no_flows_is_done) { EXPECT_TRUE(to_vector(amb(std::vector<any_flow<int>>{}))->empty()); }

TEST(amb, asks_nobody_when_nothing_is_wanted) {
  int calls = 0;
  test_consumer seen(amb(range(0, 3) | map([&](int i) { return ++calls, i; }), never<int>()));
  EXPECT_EQ(seen.request(0), step::more);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(seen.request_all(), step::done);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace weir::flow
