#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace weir {

/// Numbers in memory in a fixed octet order. The pointers need no alignment; the octets read or written are as many as
/// the type has, and that they are there is up to the caller. Each call compiles to one move, with a byte swap at most.
namespace detail {

template <std::unsigned_integral T>
constexpr T swapped(T value) noexcept {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

}  // namespace detail

template <std::unsigned_integral T>
T load_big(const std::uint8_t* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::big ? value : detail::swapped(value);
}

template <std::unsigned_integral T>
T load_little(const std::uint8_t* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::little ? value : detail::swapped(value);
}

template <std::unsigned_integral T>
void store_big(std::uint8_t* to, T value) noexcept {
  if constexpr (std::endian::native != std::endian::big) value = detail::swapped(value);
  std::memcpy(to, &value, sizeof value);
}

template <std::unsigned_integral T>
void store_little(std::uint8_t* to, T value) noexcept {
  if constexpr (std::endian::native != std::endian::little) value = detail::swapped(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace weir
