#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <weir/core/bytes.h>

namespace weir {

/// Unsigned LEB128 as CIDs and CAR files use it: seven bits an octet, the lowest first, the top bit says that more
/// follow.
///   Source  https://github.com/multiformats/unsigned-varint
inline void append_varint(bytes& to, std::uint64_t value) {
  while (value >= 0x80) {
    to.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  to.push_back(static_cast<std::uint8_t>(value));
}

/// The most octets a varint may have: nine, for 63 bits, as multiformats demand.
inline constexpr std::size_t varint_octets_max = 9;

struct varint_value {
  std::uint64_t value;
  std::size_t octets;  ///< that the varint took
};

/// Reads one varint from the front. Nothing comes back if the input ends inside it, if it has more than
/// `varint_octets_max` octets, or if a shorter spelling exists.
constexpr std::optional<varint_value> read_varint(bytes_view from) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < from.size() && i < varint_octets_max; ++i) {
    value |= static_cast<std::uint64_t>(from[i] & 0x7f) << (7 * i);
    if ((from[i] & 0x80) == 0) {
      if (from[i] == 0 && i > 0) return std::nullopt;  // The last octet adds nothing: not minimal.
      return varint_value{value, i + 1};
    }
  }
  return std::nullopt;
}

}  // namespace weir
