#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weir {

/// Owned octets. `std::uint8_t` rather than `std::byte`: OpenSSL, libsodium and SQLite speak it.
using bytes = std::vector<std::uint8_t>;

/// Octets of somebody else, borrowed for the duration the callee documents.
using bytes_view = std::span<const std::uint8_t>;

/// Borrows the octets of a text.
inline bytes_view as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Borrows octets as text; makes no promise about their encoding.
inline std::string_view as_text(bytes_view octets) noexcept {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

/// Copies borrowed octets.
inline bytes to_bytes(bytes_view octets) { return bytes(octets.begin(), octets.end()); }
inline bytes to_bytes(std::string_view text) { return to_bytes(as_bytes(text)); }

inline void append(bytes& to, bytes_view octets) { to.insert(to.end(), octets.begin(), octets.end()); }

}  // namespace weir
