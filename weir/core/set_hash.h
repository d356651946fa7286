#pragma once

#include <array>
#include <cstdint>

#include <weir/core/bytes.h>
#include <weir/core/cid.h>

namespace weir {

/// A hash of a set of digests that does not depend on their order and is kept up to date one element at a time: the sum
/// of the digests as 256-bit numbers, modulo 2^256, and their count. Two stores compare 32 octets to learn whether they
/// hold the same statements.
///
/// It detects accidents, not an adversary: who may choose the elements can find another set with the same sum. Each
/// element is added once; the hash cannot see repetitions, so adding twice gives another value than the set's.
///   Threads  a plain value.
class set_hash {
 public:
  static constexpr std::size_t binary_size = 40;

  void add(const digest& element) noexcept;
  /// Undoes an `add`; removing what was not added is a bug in the caller, which only an empty set can assert.
  void remove(const digest& element) noexcept;
  /// Adds all elements of a set that has none in common with this one.
  void add(const set_hash& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// SHA-256 of the 40 octets of `binary()`: what peers compare.
  [[nodiscard]] digest value() const;

  /// The sum, then the count, both with the lowest octet first.
  [[nodiscard]] std::array<std::uint8_t, binary_size> binary() const noexcept;
  static set_hash from_binary(const std::array<std::uint8_t, binary_size>& binary) noexcept;

  friend bool operator==(const set_hash&, const set_hash&) = default;

 private:
  using sum = std::array<std::uint64_t, 4>;  // lowest first
  void add(const sum& other) noexcept;
  static sum number_of(const std::uint8_t* octets) noexcept;

  sum sum_{};
  std::uint64_t count_ = 0;
};

}  // namespace weir
