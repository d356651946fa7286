#pragma once

// What is handed over. Every kind of item is made from its number, and every octet of it goes into the sum.

#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::bench {

/// A number: 8 octets by value.
struct number_item {
  using type = std::uint64_t;
  static constexpr const char* name = "u64";
  static type make(std::uint64_t number) { return number; }
  static std::uint64_t value(type item) { return item; }
  static std::uint64_t value_of_number(std::uint64_t number) { return number; }
};

/// A pointer to something that both sides only read and that stays in their caches: what a Java queue hands over.
struct pointer_item {
  using type = const std::uint64_t*;
  static constexpr const char* name = "pointer";
  static constexpr std::size_t targets = 1024;

  static type make(std::uint64_t number) { return &table()[number % targets]; }
  static std::uint64_t value(type item) { return *item; }
  static std::uint64_t value_of_number(std::uint64_t number) { return number % targets; }

 private:
  static constexpr std::array<std::uint64_t, targets> numbers() {
    std::array<std::uint64_t, targets> all{};
    for (std::size_t i = 0; i < targets; ++i) all[i] = i;
    return all;
  }
  static const std::array<std::uint64_t, targets>& table() {
    static constexpr std::array<std::uint64_t, targets> constant = numbers();
    return constant;
  }
};

/// A cache line of eight words.
struct line_item {
  struct type {
    std::array<std::uint64_t, 8> words;
  };
  static constexpr const char* name = "64 B";
  static type make(std::uint64_t number) {
    type item;
    for (std::uint64_t i = 0; i < 8; ++i) item.words[i] = number + i;
    return item;
  }
  static std::uint64_t value(const type& item) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : item.words) sum += word;
    return sum;
  }
  static std::uint64_t value_of_number(std::uint64_t number) { return 8 * number + 28; }
};

/// The sum of the values of items 0 to count - 1, modulo 2^64.
template <class Item>
std::uint64_t expected_sum(std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t number = 0; number < count; ++number) sum += Item::value_of_number(number);
  return sum;
}

}  // namespace weir::bench
