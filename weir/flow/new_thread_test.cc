#include <weir/flow/new_thread.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/flat_map.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/queue/spin.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow {
namespace {

using queue::testing::counted;
using queue::testing::life_balance;

TEST(new_thread, pulls_upstream_on_one_other_thread_and_gives_items_here) {
  std::set<std::thread::id> there;
  long sum = 0;
  const auto here = std::this_thread::get_id();
  ASSERT_TRUE(range(0, 10'000) | map([&](int i) { return there.insert(std::this_thread::get_id()), i; }) |
              observe_on(new_thread()) | for_each([&](int i) {
                sum += i;
                ASSERT_EQ(std::this_thread::get_id(), here);
              }));
  EXPECT_EQ(there.size(), 1u);
  EXPECT_FALSE(there.contains(here));
  EXPECT_EQ(sum, 10'000L * 9'999 / 2);
}

// A promise on time would be a race: each of the four waits in its first item until all of them are there.
TEST(new_thread, gives_each_flow_a_thread_of_its_own) {
  constexpr int flows = 4;
  std::atomic<int> arrived{0};
  const auto inner = [&](int name) {
    return just(name) | map([&](int i) {
             ++arrived;
             queue::spin wait;
             while (arrived.load() < flows) wait.pause();
             return i;
           }) |
           subscribe_on(new_thread("meeting"));
  };
  auto items = to_vector(range(0, flows) | flat_map(inner));
  ASSERT_TRUE(items);
  std::sort(items->begin(), items->end());
  EXPECT_EQ(*items, (std::vector<int>{0, 1, 2, 3}));
}

/// A source that tells when it goes.
class leaving {
 public:
  using value_type = int;
  explicit leaving(std::atomic<bool>& gone) : gone_(&gone) {}
  leaving(leaving&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
  leaving& operator=(leaving&&) = delete;
  ~leaving() {
    if (gone_) gone_->store(true, std::memory_order_relaxed);
  }
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    for (; demand != 0; --demand) emit(1);
    return step::more;
  }

 private:
  std::atomic<bool>* gone_;
};

TEST(new_thread, has_let_go_of_upstream_when_the_flow_is_destroyed) {
  for (std::size_t round = 1; round <= 200; ++round) {
    std::atomic<bool> gone{false};
    ASSERT_TRUE(leaving(gone) | observe_on(new_thread(), {16}) | take(round) | for_each([](int) {}));
    // Relaxed, and yet right: joining makes it visible.
    ASSERT_TRUE(gone.load(std::memory_order_relaxed));
  }
}

TEST(new_thread, begins_nothing_before_its_first_pull) {
  std::atomic<bool> gone{false};
  bool begun = false;
  {
    auto flow = leaving(gone) | map([&](int i) { return begun = true, i; }) | observe_on(new_thread());
    error failure;
    context cx({}, failure);
    std::size_t nothing = 0;
    EXPECT_EQ(flow.pull(
                  nothing, [](int&&) {}, cx),
              step::more);
    auto moved = std::move(flow);
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
  EXPECT_FALSE(begun);
}

TEST(new_thread, carries_a_failure_after_the_items_before_it) {
  std::vector<int> seen;
  const auto outcome = subscribe_on(range(0, 5) | map([](int i) {
                                      if (i == 3) throw std::runtime_error("three");
                                      return i;
                                    }),
                                    new_thread("broken")) |
                       for_each([&](int i) { seen.push_back(i); });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::threw);
  EXPECT_EQ(outcome.error().message, "three");
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

TEST(new_thread, frees_every_item_when_the_consumer_leaves_at_any_moment) {
  const life_balance lives;
  for (std::size_t round = 1; round <= 100; ++round) {
    std::size_t seen = 0;
    ASSERT_TRUE(range(0, 10'000'000) | map([](int i) { return counted(i); }) | observe_on(new_thread(), {32}) |
                take(round) | for_each([&](counted&&) { ++seen; }));
    ASSERT_EQ(seen, round);
  }
  EXPECT_EQ(lives.surplus(), 0);
}

}  // namespace
}  // namespace weir::flow
