// The doors to time, chance and threads.
#include <algorithm>
#include <atomic>
#include <string>

#include <gtest/gtest.h>
#include <pthread.h>

#include <weir/core/clock.h>
#include <weir/core/random.h>
#include <weir/core/thread.h>

namespace weir {
namespace {

TEST(clock, the_systems_time_is_after_this_was_written_and_steady_never_goes_back) {
  EXPECT_GT(clock::system().unix_s(), 1'750'000'000);
  std::uint64_t before = clock::system().steady_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = clock::system().steady_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(randomness, the_systems_generator_fills_every_octet) {
  // 64 fills of 300 octets (above the 256 that getrandom promises in one go): an octet left alone would be 0 each time.
  std::array<std::uint8_t, 300> seen{};
  for (int i = 0; i < 64; ++i) {
    std::array<std::uint8_t, 300> octets{};
    randomness::system().fill(octets);
    for (std::size_t k = 0; k < octets.size(); ++k) seen[k] |= octets[k];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 0);
  randomness::system().fill({});
}

TEST(randomness, next_takes_eight_octets) {
  class counting final : public randomness {
   public:
    void fill(std::span<std::uint8_t> octets) override {
      for (auto& octet : octets) octet = 7;
      filled += octets.size();
    }
    std::size_t filled = 0;
  } source;
  EXPECT_EQ(source.next(), 0x0707070707070707u);
  EXPECT_EQ(source.filled, 8u);
}

TEST(thread, runs_under_its_name_and_is_joined_by_its_owner) {
  std::string name;
  bool was_this = false;
  {
    std::atomic<bool> assigned{false};
    thread one;
    EXPECT_FALSE(one.is_this());
    one = thread("fifteen-letters", [&] {
      char text[32];
      ::pthread_getname_np(::pthread_self(), text, sizeof text);
      name = text;
      assigned.wait(false);
      was_this = one.is_this();
    });
    assigned = true;
    assigned.notify_one();
    EXPECT_FALSE(one.is_this());
  }
  EXPECT_EQ(name, "fifteen-letters");
  EXPECT_TRUE(was_this);
}

TEST(thread, may_be_joined_early_and_twice) {
  int ran = 0;
  thread one("joined", [&] { ++ran; });
  one.join();
  EXPECT_EQ(ran, 1);
  one.join();
}

}  // namespace
}  // namespace weir
