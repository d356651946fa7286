#pragma once

// What stress tests send and how they check what arrives: each item says who sent it and the how-manieth of that sender
// it is.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/counted.h>

namespace weir::queue::testing {

/// An item of a stress test: the sender and its count in one number, for queues of counted.
constexpr int senders_max = 8;
constexpr int item_number(int sender, int nth) { return nth * senders_max + sender; }

/// What one consumer has got.
///   Threads  confined.
class arrivals {
 public:
  explicit arrivals(int senders) : of_(static_cast<std::size_t>(senders)) {}

  void see(int number) {
    if (number < 0 || number % senders_max >= static_cast<int>(of_.size())) {
      damaged_ = true;
      return;
    }
    sender& from = of_[static_cast<std::size_t>(number % senders_max)];
    const int nth = number / senders_max;
    in_order_ = in_order_ && nth > from.last;
    from.last = nth;
    ++from.count;
    from.sum += static_cast<std::uint64_t>(nth);
    from.checksum += scattered(nth);
  }

  /// The items of all consumers are those that were sent, 0 to count - 1 of each sender, each once; and no consumer has
  /// got two of one sender in the wrong order. A single consumer has then got them in exactly that order.
  static void expect_all(const std::vector<arrivals>& consumers, const std::vector<int>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sender got;
      for (const arrivals& one : consumers) {
        got.count += one.of_[i].count;
        got.sum += one.of_[i].sum;
        got.checksum += one.of_[i].checksum;
      }
      const auto count = static_cast<std::uint64_t>(counts[i]);
      std::uint64_t checksum = 0;
      for (int nth = 0; nth < counts[i]; ++nth) checksum += scattered(nth);
      EXPECT_EQ(got.count, counts[i]) << "sender " << i;
      EXPECT_EQ(got.sum, count == 0 ? 0 : count * (count - 1) / 2) << "sender " << i;
      EXPECT_EQ(got.checksum, checksum) << "sender " << i;
    }
    for (const arrivals& one : consumers) {
      EXPECT_TRUE(one.in_order_);
      EXPECT_FALSE(one.damaged_);
    }
  }
  void expect_all(const std::vector<int>& counts) const { expect_all(std::vector<arrivals>{*this}, counts); }

  [[nodiscard]] int count() const {
    int all = 0;
    for (const sender& one : of_) all += one.count;
    return all;
  }
  [[nodiscard]] bool in_order() const { return in_order_ && !damaged_; }

 private:
  struct sender {
    int last = -1;
    int count = 0;
    std::uint64_t sum = 0;
    std::uint64_t checksum = 0;
  };

  /// So that a loss and a doubling do not cancel out.
  static std::uint64_t scattered(int nth) {
    std::uint64_t x = static_cast<std::uint64_t>(nth) + 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::vector<sender> of_;
  bool in_order_ = true;
  bool damaged_ = false;
};

}  // namespace weir::queue::testing
