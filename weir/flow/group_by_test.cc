#include <weir/flow/group_by.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/any_flow.h>
#include <weir/flow/concat.h>
#include <weir/flow/filter.h>
#include <weir/flow/flat_map.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/two_inputs.h>
#include <weir/flow/worker.h>
#include <weir/queue/testing/counted.h>

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

constexpr auto itself = [](auto&& of) { return std::move(of); };

// --- as an operator --------------------------------------------------------------------------------------------------

TEST(group_by, of_one_key_conforms_when_its_group_is_given_on) {
  const auto one_key = [](const counted&) { return 0; };
  const auto complaint =
      testing::conforms([=](script from) { return std::move(from) | group_by(one_key) | concat_map(itself); },
                        [](const std::vector<int>& numbers, step end) {
                          return outcome{numbers, end};
                        });
  EXPECT_EQ(complaint, "");
  const auto small = testing::conforms(
      [=](script from) { return std::move(from) | group_by(one_key, {.queue_items_max = 1}) | concat_map(itself); },
      [](const std::vector<int>& numbers, step end) {
        return outcome{numbers, end};
      });
  EXPECT_EQ(small, "");
}

TEST(group_by, of_a_key_for_each_item_conforms_when_its_groups_are_merged) {
  const auto complaint = testing::conforms(
      [](script from) {
        return std::move(from) | group_by([](const counted& of) { return of.number(); }) | flat_map(itself);
      },
      [](const std::vector<int>& numbers, step end) {
        return outcome{numbers, end};
      },
      {.fails_at_once = true});
  EXPECT_EQ(complaint, "");
}

// Six items of two or three keys, every placement of pendings, small and large queues and demands, and the consumer leaving.
TEST(group_by, loses_doubles_and_reorders_nothing_whatever_happens) {
  for (const int keys : {2, 3}) {
    for (const std::size_t queue : {1u, 2u, 256u}) {
      for (unsigned pendings = 0; pendings < 128; ++pendings) {
        for (const std::size_t portion : {1u, 2u, 100u}) {
          for (const std::size_t pulls_max : {1u, 2u, 3u, 5u, 1000u}) {
            const life_balance lives;
            testing::stage on;
            const auto events = testing::with_pendings(
                {item(1), item(2), item(3), item(4), item(5), item(6), event{event::kind::done, 0}}, pendings);
            const testing::schedule how{std::vector<std::size_t>(900, portion), pulls_max, false};
            const outcome seen = testing::observe(
                script(events, on) |
                    group_by([=](const counted& of) { return of.number() % keys; }, {.queue_items_max = queue}) |
                    flat_map(itself),
                how, on, [&] { on.fire(); });
            ASSERT_EQ(on.complaint(), "");
            ASSERT_EQ(lives.surplus(), 0);
            std::map<int, int> last;
            for (const int number : seen.numbers) {
              ASSERT_GT(number, last[number % keys]);
              last[number % keys] = number;
            }
            if (pulls_max < 1000) continue;
            ASSERT_EQ(seen.numbers.size(), 6u);
            ASSERT_EQ(seen.end, step::done);
          }
        }
      }
    }
  }
}

// --- groups ----------------------------------------------------------------------------------------------------------

TEST(group_by, gives_a_group_with_its_key_for_each_key) {
  std::map<std::string, std::vector<int>> seen;
  const auto ended = range(0, 10) | group_by([](int i) { return std::string(i % 3 == 0 ? "threes" : "others"); }) |
                     flat_map([](auto of) {
                       const std::string key = of.key();
                       return std::move(of) | map([key](int i) { return std::pair(key, i); });
                     }) |
                     for_each([&](std::pair<std::string, int>&& of) { seen[of.first].push_back(of.second); });
  ASSERT_TRUE(ended);
  EXPECT_EQ(seen["threes"], (std::vector<int>{0, 3, 6, 9}));
  EXPECT_EQ(seen["others"], (std::vector<int>{1, 2, 4, 5, 7, 8}));
}

TEST(group_by, fails_when_there_are_more_groups_than_allowed_instead_of_hanging) {
  const auto each = [](int i) { return i; };
  const auto few = range(0, 500) | group_by(each) | flat_map(itself) | for_each([](int) {});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, errc::too_large);
  int sum = 0;
  EXPECT_TRUE(range(0, 500) | group_by(each, {.groups_max = 500}) | flat_map(itself, {.concurrent_max = 500}) |
              for_each([&](int i) { sum += i; }));
  EXPECT_EQ(sum, 500 * 499 / 2);
}

TEST(group_by, finishes_when_groups_are_left_with_items_in_them) {
  // Each group is left after its first item; the items that wait in it must not hold up the others.
  std::size_t count = 0;
  ASSERT_TRUE(range(0, 10'000) | group_by([](int i) { return i % 20; }, {.queue_items_max = 8}) |
              flat_map([](auto of) { return take(std::move(of), 1); }) | for_each([&](int) { ++count; }));
  EXPECT_GE(count, 20u);
  EXPECT_LE(count, 10'000u);
}

/// Groups that a test takes out of their flow and pulls by hand.
template <class Group>
struct taken_groups {
  std::vector<std::unique_ptr<test_consumer<Group>>> by_hand;

  template <class Flow>
  step take_from(Flow& outer, std::size_t demand) {
    error failure;
    context cx(waker([](void* count) noexcept { ++*static_cast<std::size_t*>(count); }, &wakes), failure);
    return outer.pull(
        demand, [&](Group&& next) { by_hand.push_back(std::make_unique<test_consumer<Group>>(std::move(next))); }, cx);
  }
  auto& operator[](std::size_t i) { return *by_hand[i]; }
  std::size_t wakes = 0;
};

constexpr auto parity = [](int i) { return i % 2; };
using int_group = group<int, int>;

TEST(group_by, asks_upstream_for_no_more_than_a_full_group_could_take) {
  int asked = 0;
  auto outer = range(0, 1000) | map([&](int i) { return ++asked, 2 * i; }) | group_by(parity, {.queue_items_max = 4});
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 0), step::more);
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(groups.take_from(outer, 10), step::pending) << "one group, which is full";
  ASSERT_EQ(groups.by_hand.size(), 1u);
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(groups.wakes, 0u);
  EXPECT_EQ(groups[0].request(1), step::more);
  EXPECT_EQ(groups.wakes, 1u) << "there is room: whoever waits for it looks again";
  EXPECT_EQ(groups[0].request(2), step::more);
  EXPECT_EQ(groups[0].came({0, 2, 4}), "");
}

TEST(group_by, a_group_that_is_destroyed_lets_the_others_go_on) {
  // Odd numbers first, which nobody pulls; then even ones.
  auto outer =
      concat(just(1, 3), range(0, 100) | map([](int i) { return 2 * i; })) | group_by(parity, {.queue_items_max = 2});
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 1), step::more);
  EXPECT_EQ(groups.take_from(outer, 1), step::pending);
  ASSERT_EQ(groups.by_hand.size(), 1u);
  EXPECT_EQ(groups.wakes, 0u);
  groups[0].leave();
  EXPECT_EQ(groups.wakes, 1u);
  EXPECT_EQ(groups.take_from(outer, 1), step::more);
  EXPECT_EQ(groups[1].request(3), step::more);
  EXPECT_EQ(groups[1].came({0, 2, 4}), "");
}

TEST(group_by, an_item_of_a_key_whose_group_was_destroyed_opens_a_new_one) {
  auto outer = from_range({1, 3, 5}) | group_by(parity);
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 1), step::more);
  EXPECT_EQ(groups[0].request(1), step::more);
  groups[0].leave();
  EXPECT_EQ(groups.take_from(outer, 1), step::more);
  ASSERT_EQ(groups.by_hand.size(), 2u);
  EXPECT_EQ(groups[1].request_all(), step::done);
  EXPECT_EQ(groups[1].came({3, 5}, step::done), "");
  EXPECT_EQ(groups.take_from(outer, 1), step::done);
}

TEST(group_by, groups_go_on_when_the_outer_flow_has_left_and_new_keys_are_dropped) {
  const life_balance lives;
  {
    taken_groups<int_group> groups;
    {
      auto outer = from_range({1, 3, 2, 4, 6, 5}) | group_by(parity, {.queue_items_max = 1});
      EXPECT_EQ(groups.take_from(outer, 1), step::more);
    }
    EXPECT_EQ(groups[0].request_all(), step::done);
    EXPECT_EQ(groups[0].came({1, 3, 5}, step::done), "");
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(group_by, whoever_is_pulled_pulls_for_all_and_everybody_is_woken) {
  testing::stage on;
  auto outer = script({item(1), item(2), pending(), item(3), item(4)}, on) |
               map([](counted&& of) { return of.number(); }) | group_by(parity);
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 5), step::pending);
  ASSERT_EQ(groups.by_hand.size(), 2u);
  EXPECT_EQ(groups[0].request(5), step::pending);
  EXPECT_EQ(groups[1].request(5), step::pending);
  EXPECT_EQ(groups.wakes + groups[0].wakes + groups[1].wakes, 0u);
  on.fire();
  EXPECT_GE(groups.wakes, 1u);
  EXPECT_GE(groups[0].wakes, 1u);
  EXPECT_GE(groups[1].wakes, 1u);
  // The second group pulls what the first one is given.
  EXPECT_EQ(groups[1].request(1), step::done);
  EXPECT_EQ(groups[1].came({2, 4}, step::done), "");
  EXPECT_EQ(groups[0].request(1), step::done);
  EXPECT_EQ(groups[0].came({1, 3}, step::done), "");
}

TEST(group_by, a_group_that_sleeps_is_woken_by_who_brings_its_item) {
  testing::stage on;
  auto outer = script({item(1), item(2), pending(), item(3)}, on) | map([](counted&& of) { return of.number(); }) |
               group_by(parity);
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 2), step::more);
  EXPECT_EQ(groups[0].request(2), step::pending);
  on.fire();
  const std::size_t wakes = groups[0].wakes;
  EXPECT_EQ(groups[0].request(0), step::more) << "nothing is wanted now";
  EXPECT_EQ(groups[1].request(2), step::done) << "its own item, and upstream's end";
  EXPECT_EQ(groups[1].came({2}, step::done), "");
  EXPECT_GE(groups[0].wakes, wakes);
  EXPECT_EQ(groups[0].request(2), step::done);
  EXPECT_EQ(groups[0].came({1, 3}, step::done), "");
}

TEST(group_by, wakes_nobody_who_has_left) {
  testing::stage on;
  const auto numbers = [&] {
    return script({item(1), item(2), pending(), item(3)}, on) | map([](counted&& of) { return of.number(); });
  };
  taken_groups<int_group> groups;
  test_consumer outer(numbers() | group_by(parity));
  EXPECT_EQ(outer.request(3), step::pending);
  for (int_group& each : outer.items) {
    groups.by_hand.push_back(std::make_unique<test_consumer<int_group>>(std::move(each)));
    EXPECT_EQ(groups.by_hand.back()->request(3), step::pending);
  }
  groups[0].leave();
  outer.leave();
  on.fire();
  EXPECT_EQ(groups[0].complaint(), "");
  EXPECT_EQ(outer.complaint(), "");
  EXPECT_GT(groups[1].wakes, 0u);
}

TEST(group_by, destroys_upstream_when_it_has_ended_although_groups_have_items) {
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = held;
  auto outer = range(0, 4) | map([held = std::move(held)](int i) { return i; }) | group_by(parity);
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 5), step::done);
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(groups[1].request_all(), step::done);
  EXPECT_EQ(groups[1].came({1, 3}, step::done), "");
}

TEST(group_by, gives_up_its_turn_when_upstream_does) {
  auto outer = range(0, 1'000'000'000) | filter([](int i) { return i == 10'000; }) | group_by(parity);
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 1), step::pending);
  EXPECT_EQ(groups.wakes, 1u);
  EXPECT_EQ(groups.take_from(outer, 1), step::pending);
  EXPECT_EQ(groups.wakes, 2u);
  EXPECT_EQ(groups.take_from(outer, 1), step::more) << "the third 4096";
  EXPECT_EQ(groups[0].request(1), step::more);
}

TEST(group_by, tells_a_failure_to_all_after_their_items) {
  const auto fails_at_four = [](int i) {
    if (i == 4) throw std::runtime_error("four");
    return i % 2;
  };
  auto outer = range(0, 9) | group_by(fails_at_four);
  taken_groups<int_group> groups;
  EXPECT_EQ(groups.take_from(outer, 5), step::failed);
  ASSERT_EQ(groups.by_hand.size(), 2u);
  for (std::size_t i : {0u, 1u}) {
    EXPECT_EQ(groups[i].request(5), step::failed);
    EXPECT_EQ(groups[i].failure.code, errc::threw);
    EXPECT_EQ(groups[i].failure.message, "four");
    EXPECT_EQ(groups[i].items.size(), 2u);
  }
}

TEST(group_by, leaves_with_items_everywhere_without_a_leak) {
  const life_balance lives;
  {
    std::vector<counted> items;
    for (int i = 0; i < 100; ++i) items.emplace_back(i);
    auto outer = from_range(std::move(items)) | group_by([](const counted& of) { return of.number() % 7; });
    taken_groups<group<int, counted>> groups;
    EXPECT_EQ(groups.take_from(outer, 3), step::more);
    EXPECT_EQ(groups[0].request(2), step::more);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(group_by, takes_and_gives_what_its_upstream_s_thread_brings) {
  worker background;
  std::map<int, long> sums;
  const auto ended = range(0, 100'000) | observe_on(background, {.capacity = 64}) |
                     group_by([](int i) { return i % 10; }, {.queue_items_max = 16}) | flat_map([](auto of) {
                       const int key = of.key();
                       return std::move(of) | map([key](int i) { return std::pair(key, i); });
                     }) |
                     for_each([&](std::pair<int, int>&& of) { sums[of.first] += of.second; });
  ASSERT_TRUE(ended);
  ASSERT_EQ(sums.size(), 10u);
  for (const auto& [key, sum] : sums) EXPECT_EQ(sum, 10L * 9'999 * 10'000 / 2 + key * 10'000L);
}

TEST(group_by, may_be_left_while_its_upstream_s_thread_wakes_it) {
  for (int count = 0; count < 200; ++count) {
    worker background;
    const auto ended = to_vector(range(0, 100'000) | observe_on(background, {.capacity = 4}) |
                                 group_by([](int i) { return i % 3; }, {.queue_items_max = 2}) | flat_map(itself) |
                                 take(static_cast<std::size_t>(count)));
    ASSERT_TRUE(ended);
    ASSERT_EQ(ended->size(), static_cast<std::size_t>(count));
  }
}

}  // namespace
}  // namespace weir::flow
