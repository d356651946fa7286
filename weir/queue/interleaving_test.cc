// The protocol of parking.h, step by step as that file has it, in every interleaving with store buffers. What is at stake:
//   - no wake is lost: the sleeper never waits for ever while there is something for it (`stuck`);
//   - when withdraw has returned, the action is not called any more (`errors`: the target is freed right after).
// Each weakened form of the protocol must fail in its way; so the explorer is known to see what it looks for.

#include <weir/queue/testing/interleaving.h>

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace weir::queue {
namespace {

using testing::exploration;
using testing::explorer;
using testing::op;
using testing::program;

// Memory.
constexpr std::uint8_t published_a = 0;
constexpr std::uint8_t published_b = 1;
constexpr std::uint8_t word = 2;
constexpr std::uint8_t token = 3;         // the sleeper's park_point
constexpr std::uint8_t target_alive = 4;  // what the action points to
// The word's values.
constexpr std::uint8_t idle = 0;
constexpr std::uint8_t parked = 1;
constexpr std::uint8_t calling = 2;

/// Where the protocol is weakened; the default is parking.h.
struct variant {
  enum class publisher_look { read_modify_write, fence_and_load, load } look = publisher_look::read_modify_write;
  enum class sleeper_mark { exchange, store_and_fence, store } mark = sleeper_mark::exchange;
  bool looks_again = true;      // the sleeper, after it has parked
  bool publishes_first = true;  // the publisher, before it looks at the word
  bool withdraw_awaits_call = true;
};

void add_withdraw(program& code, const variant& how) {
  const std::size_t again = code.here();
  code.add({.what = op::swap_if, .at = word, .value = idle, .expected = parked});
  if (how.withdraw_awaits_call) code.add({.what = op::if_eq, .value = calling, .to = again});
}

/// Waits for `last` in the first cell, and for 1 in the second if there is a second publisher; then withdraws and frees
/// the target. The cells are looked at one after the other, as a merge looks at its slots.
program sleeper(std::uint8_t last, bool two, const variant& how) {
  program code;
  const auto add_look = [&]() -> std::vector<std::size_t> {
    std::vector<std::size_t> not_all;
    code.add({.what = op::load, .at = published_a});
    not_all.push_back(code.add({.what = op::if_ne, .value = last}));
    if (two) {
      code.add({.what = op::load, .at = published_b});
      not_all.push_back(code.add({.what = op::if_ne, .value = 1}));
    }
    return not_all;
  };
  const std::size_t start = code.here();
  const auto nothing = add_look();
  const std::size_t all_there = code.add({.what = op::jump});
  for (const std::size_t jump : nothing) code.aim(jump, code.here());

  add_withdraw(code, how);
  switch (how.mark) {
    case variant::sleeper_mark::exchange:
      code.add({.what = op::exchange, .at = word, .value = parked});
      break;
    case variant::sleeper_mark::store_and_fence:
      code.add({.what = op::store, .at = word, .value = parked});
      code.add({.what = op::fence});
      break;
    case variant::sleeper_mark::store:
      code.add({.what = op::store, .at = word, .value = parked});
      break;
  }
  if (how.looks_again) {
    const auto still_nothing = add_look();
    code.add({.what = op::swap_if, .at = word, .value = idle, .expected = parked});
    code.add({.what = op::jump, .to = start});
    for (const std::size_t jump : still_nothing) code.aim(jump, code.here());
  }
  code.add({.what = op::await, .at = token, .value = 1});
  code.add({.what = op::jump, .to = start});

  code.aim(all_there, code.here());
  add_withdraw(code, how);
  code.add({.what = op::exchange, .at = target_alive, .value = 0});
  return code;
}

/// Publishes 1 to `last` in its cell, with a notify after each.
program publisher(std::uint8_t cell, std::uint8_t last, const variant& how) {
  program code;
  for (std::uint8_t item = 1; item <= last; ++item) {
    const auto add_look = [&] {
      if (how.look == variant::publisher_look::fence_and_load) code.add({.what = op::fence});
      if (how.look == variant::publisher_look::read_modify_write) {
        // An addition of zero: a read-modify-write that leaves the word as it is.
        code.add({.what = op::swap_if, .at = word, .value = 9, .expected = 9});
      } else {
        code.add({.what = op::load, .at = word});
      }
    };
    if (how.publishes_first) code.add({.what = op::store, .at = cell, .value = item});
    add_look();
    const std::size_t nobody_sleeps = code.add({.what = op::if_ne, .value = parked});
    if (!how.publishes_first) code.add({.what = op::store, .at = cell, .value = item});
    code.add({.what = op::swap_if, .at = word, .value = calling, .expected = parked});
    const std::size_t taken_back = code.add({.what = op::if_ne, .value = parked});
    code.add({.what = op::demand, .at = target_alive, .value = 1});
    code.add({.what = op::exchange, .at = token, .value = 1});
    code.add({.what = op::demand, .at = target_alive, .value = 1});
    code.add({.what = op::exchange, .at = word, .value = idle});
    code.aim(taken_back, code.here());
    const std::size_t end = code.add({.what = op::jump});
    code.aim(nobody_sleeps, code.here());
    if (!how.publishes_first) code.add({.what = op::store, .at = cell, .value = item});
    code.aim(end, code.here());
  }
  return code;
}

constexpr std::array<std::uint8_t, explorer::cells> at_start{0, 0, idle, 0, 1};

exploration one_publisher(const variant& how) {
  return explorer({sleeper(2, false, how), publisher(published_a, 2, how)}).run(at_start);
}
exploration two_publishers(const variant& how) {
  return explorer({sleeper(1, true, how), publisher(published_a, 1, how), publisher(published_b, 1, how)})
      .run(at_start);
}

TEST(parking_interleavings, with_one_publisher_no_wake_is_lost_and_none_comes_too_late) {
  const exploration found = one_publisher({});
  EXPECT_EQ(found.stuck, 0u);
  EXPECT_EQ(found.errors, 0u);
  EXPECT_GT(found.states, 100u) << "the explorer has not explored";
}

TEST(parking_interleavings, with_two_publishers_no_wake_is_lost_and_none_comes_too_late) {
  const exploration found = two_publishers({});
  EXPECT_EQ(found.stuck, 0u);
  EXPECT_EQ(found.errors, 0u);
  EXPECT_GT(found.states, 1000u) << "the explorer has not explored";
}

TEST(parking_interleavings, fences_on_both_sides_would_do_as_well) {
  const variant fences{.look = variant::publisher_look::fence_and_load, .mark = variant::sleeper_mark::store_and_fence};
  for (const exploration& found : {one_publisher(fences), two_publishers(fences)}) {
    EXPECT_EQ(found.stuck, 0u);
    EXPECT_EQ(found.errors, 0u);
  }
}

TEST(parking_interleavings, a_publisher_that_only_loads_the_word_loses_wakes) {
  EXPECT_GT(one_publisher({.look = variant::publisher_look::load}).stuck, 0u);
  EXPECT_GT(two_publishers({.look = variant::publisher_look::load}).stuck, 0u);
}

TEST(parking_interleavings, a_sleeper_that_only_stores_the_word_loses_wakes) {
  EXPECT_GT(one_publisher({.mark = variant::sleeper_mark::store}).stuck, 0u);
  EXPECT_GT(two_publishers({.mark = variant::sleeper_mark::store}).stuck, 0u);
}

TEST(parking_interleavings, a_sleeper_that_does_not_look_again_loses_wakes) {
  EXPECT_GT(one_publisher({.looks_again = false}).stuck, 0u);
}

TEST(parking_interleavings, a_publisher_that_looks_before_it_publishes_loses_wakes) {
  EXPECT_GT(one_publisher({.publishes_first = false}).stuck, 0u);
}

TEST(parking_interleavings, a_withdraw_that_does_not_wait_for_the_call_frees_its_target_too_early) {
  EXPECT_GT(one_publisher({.withdraw_awaits_call = false}).errors, 0u);
}

}  // namespace
}  // namespace weir::queue
