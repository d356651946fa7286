#pragma once

#include <atomic>
#include <cassert>
#include <stdexcept>
#include <utility>

namespace weir::queue::testing {

/// A number that keeps account of its lives: for tests that nothing is leaked, destroyed twice or used after its end.
/// Move-only, without a default constructor; its moves throw when told to.
///   Threads  the counters are shared; moves_until_throw is for tests of one thread.
class counted {
 public:
  struct thrown : std::runtime_error {
    thrown() : std::runtime_error("a move that was told to throw") {}
  };

  explicit counted(int number) : number_(number) { ++alive(); }
  counted(counted&& other) : number_(other.checked()) {
    if (moves_until_throw() > 0 && --moves_until_throw() == 0) throw thrown();
    ++alive();
    other.number_ = taken;
  }
  counted& operator=(counted&& other) {
    const int number = other.checked();
    if (moves_until_throw() > 0 && --moves_until_throw() == 0) throw thrown();
    number_ = number;
    other.number_ = taken;
    return *this;
  }
  ~counted() {
    assert(number_ != dead);
    number_ = dead;
    --alive();
  }

  /// The number, or `taken` if it was moved away.
  [[nodiscard]] int number() const { return checked(); }
  static constexpr int taken = -1;

  /// How many there are now.
  static std::atomic<long>& alive() noexcept {
    static std::atomic<long> count{0};
    return count;
  }
  /// The n-th move from now throws; 0 for none.
  static long& moves_until_throw() noexcept {
    static long count = 0;
    return count;
  }

  friend bool operator==(const counted& a, const counted& b) { return a.number_ == b.number_; }

 private:
  static constexpr int dead = -2;

  [[nodiscard]] int checked() const {
    if (number_ == dead) throw std::logic_error("a counted was used after its end");
    return number_;
  }

  int number_;
};

/// How many more are alive than when it was made. Resets the throwing, before and after a test.
class life_balance {
 public:
  life_balance() : before_(counted::alive().load()) { counted::moves_until_throw() = 0; }
  ~life_balance() { counted::moves_until_throw() = 0; }
  life_balance(const life_balance&) = delete;
  life_balance& operator=(const life_balance&) = delete;

  [[nodiscard]] long surplus() const { return counted::alive().load() - before_; }

 private:
  long before_;
};

}  // namespace weir::queue::testing
