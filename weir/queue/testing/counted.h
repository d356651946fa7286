#pragma once

#include <atomic>
#include <cassert>
#include <stdexcept>

namespace weir::queue::testing {

/// What all counted items have in common.
struct counted_lives {
  struct thrown : std::runtime_error {
    thrown() : std::runtime_error("a move that was told to throw") {}
  };

  /// The number of an item that was moved away.
  static constexpr int taken = -1;

  /// How many there are now, as far as this thread can see.
  static long alive() noexcept { return count().load(std::memory_order_relaxed); }
  /// The n-th move from now throws; 0 for none.
  static long& moves_until_throw() noexcept {
    static long moves = 0;
    return moves;
  }

 protected:
  // Relaxed: were threads that count also ordered by it, the thread sanitizer would miss what a queue fails to order.
  static void comes() noexcept { count().fetch_add(1, std::memory_order_relaxed); }
  static void goes() noexcept { count().fetch_sub(1, std::memory_order_relaxed); }

 private:
  static std::atomic<long>& count() noexcept {
    static std::atomic<long> alive{0};
    return alive;
  }
};

/// A number that keeps account of its lives: for tests that nothing is leaked, destroyed twice or used after its end.
/// Move-only, without a default constructor.
///   Throwing whether its moves throw when told to; or else they are noexcept.
///   Threads  the counters are shared; moves_until_throw is for tests of one thread.
template <bool Throwing>
class basic_counted : public counted_lives {
 public:
  explicit basic_counted(int number) noexcept : number_(number) { comes(); }
  basic_counted(basic_counted&& other) noexcept(!Throwing) : number_(other.checked()) {
    may_throw();
    comes();
    other.number_ = taken;
  }
  basic_counted& operator=(basic_counted&& other) noexcept(!Throwing) {
    const int number = other.checked();
    may_throw();
    number_ = number;
    other.number_ = taken;
    return *this;
  }
  ~basic_counted() {
    assert(number_ != dead);
    number_ = dead;
    goes();
  }

  /// The number, or `taken` if it was moved away.
  [[nodiscard]] int number() const { return checked(); }

  friend bool operator==(const basic_counted& a, const basic_counted& b) { return a.number_ == b.number_; }

 private:
  static constexpr int dead = -2;

  static void may_throw() noexcept(!Throwing) {
    if constexpr (Throwing) {
      if (moves_until_throw() > 0 && --moves_until_throw() == 0) throw thrown();
    }
  }
  [[nodiscard]] int checked() const {
    if (number_ == dead) throw std::logic_error("a counted was used after its end");
    return number_;
  }

  // Volatile, because what a destructor writes to its object is otherwise nobody's, and left out.
  volatile int number_;
};

using counted = basic_counted<true>;
using steady = basic_counted<false>;

/// How many more are alive than when it was made. Resets the throwing, before and after a test.
class life_balance {
 public:
  life_balance() : before_(counted_lives::alive()) { counted_lives::moves_until_throw() = 0; }
  ~life_balance() { counted_lives::moves_until_throw() = 0; }
  life_balance(const life_balance&) = delete;
  life_balance& operator=(const life_balance&) = delete;

  [[nodiscard]] long surplus() const { return counted_lives::alive() - before_; }

 private:
  long before_;
};

}  // namespace weir::queue::testing
