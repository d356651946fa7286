#pragma once

// The cells of ./bench/run flow, and what consumes in all of them.

#include <cstdint>
#include <string>

#include "cells.h"
#include "measure.h"

namespace weir::bench {

void add_synchronous(cells& to);
void add_hops(cells& to);
void add_memory(cells& to);

/// What takes every item: the compiler must make each, and may not take the loop for its sum. An operation that did not give
/// its items, each once, ends the program. Number and sum are kept in one word, so that a check costs one addition.
class consumer {
 public:
  void operator()(int item) noexcept {
    std::uint64_t counted = one_item + static_cast<std::uint64_t>(item);
    asm volatile("" : "+r"(counted));
    total_ += counted;
  }
  /// The sum must be less than 2^40, and the count than 2^24.
  void expect(std::uint64_t count, std::uint64_t sum) const {
    if (total_ != count * one_item + sum) fail("what came out is not what went in");
  }

 private:
  static constexpr std::uint64_t one_item = std::uint64_t{1} << 40;
  std::uint64_t total_ = 0;
};

/// The sum of 0 to n - 1.
constexpr std::uint64_t sum_below(std::uint64_t n) { return n * (n - 1) / 2; }

/// Operations a second; `operation` does one and checks it.
template <class Operation>
double operations_per_second(double seconds, Operation&& operation) {
  return rate(seconds, 1, [&](std::uint64_t count) {
    const auto began = clock::now();
    for (std::uint64_t i = 0; i < count; ++i) operation();
    return seconds_since(began);
  });
}

}  // namespace weir::bench
