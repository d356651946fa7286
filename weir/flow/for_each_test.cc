#include <weir/flow/for_each.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

/// Pending once; its waker is called by a thread of its own some time later. What it touches of its consumer must be there
/// until its destructor has returned.
class late {
 public:
  using value_type = int;
  late() = default;
  late(late&&) noexcept {}
  ~late() {
    if (other_.joinable()) other_.join();
  }
  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!other_.joinable()) {
      other_ = std::thread([wake = cx.wake()] {
        for (int i = 0; i < 100; ++i) wake();
      });
      return step::pending;
    }
    if (demand == 0) return step::more;
    --demand;
    emit(7);
    return step::done;
  }

 private:
  std::thread other_;
};

TEST(for_each, sleeps_until_it_is_woken_and_outlives_every_wake) {
  for (int i = 0; i < 200; ++i) {
    std::vector<int> seen;
    ASSERT_TRUE(for_each(late(), [&](int item) { seen.push_back(item); }));
    ASSERT_EQ(seen, (std::vector<int>{7}));
  }
}

TEST(for_each, tells_the_three_ends_apart) {
  EXPECT_TRUE(for_each(range(0, 3), [](int) {}));
  const auto failed = for_each(fail<int>(weir::fail(errc::disk_full, "no room", 28)), [](int) {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::disk_full);
  EXPECT_EQ(failed.error().message, "no room");
  EXPECT_EQ(failed.error().system, 28);
}

TEST(for_each, an_exception_becomes_an_error) {
  const auto thrown = for_each(range(0, 3), [](int) { throw std::runtime_error("why"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().code, errc::threw);
  EXPECT_EQ(thrown.error().message, "why");
  const auto odd = for_each(range(0, 3), [](int) { throw 7; });
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, errc::threw);
}

TEST(for_each, stops_at_the_first_error_of_its_function) {
  std::vector<int> seen;
  int made = 0;
  const auto outcome = generate([&]() -> std::optional<int> { return made++; }) | for_each([&](int i) -> result<void> {
                         if (i == 3) return fail(errc::refused, "three");
                         seen.push_back(i);
                         return {};
                       });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::refused);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  EXPECT_LE(made, 256) << "no more than one batch was asked for";
}

TEST(for_each, gives_items_that_can_only_be_moved) {
  int sum = 0;
  ASSERT_TRUE(range(1, 4) | map([](int i) { return std::make_unique<int>(i); }) |
              for_each([&](std::unique_ptr<int> item) { sum += *item; }));
  EXPECT_EQ(sum, 6);
}

TEST(first, asks_for_one_item_only) {
  int made = 0;
  const auto item = generate([&]() -> std::optional<int> { return ++made; }) | first();
  ASSERT_TRUE(item);
  EXPECT_EQ(*item, std::optional<int>(1));
  EXPECT_EQ(made, 1);
}

TEST(first, of_nothing_is_nothing_and_of_a_failure_is_the_failure) {
  EXPECT_EQ(*first(empty<int>()), std::nullopt);
  EXPECT_EQ(first(fail<int>(weir::fail(errc::io, "x"))).error().code, errc::io);
}

TEST(to_vector, gives_everything_or_the_error) {
  EXPECT_EQ(*to_vector(range(0, 4)), (std::vector<int>{0, 1, 2, 3}));
  worker there;
  EXPECT_EQ(to_vector(range(0, 100'000) | observe_on(there))->size(), 100'000u);
  EXPECT_EQ(to_vector(fail<int>(weir::fail(errc::io, "x"))).error().code, errc::io);
}

}  // namespace
}  // namespace weir::flow
