#pragma once

#include <string>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir {

/// RFC 4648 base32 in lower case and without padding, the form that a CID's prefix 'b' announces.
///   Source  https://github.com/multiformats/multibase
void append_base32(std::string& to, bytes_view octets);

/// How many octets so many characters spell. Of the counts modulo 8, no encoder makes 1, 3 and 6.
constexpr std::size_t base32_octets(std::size_t characters) noexcept { return characters * 5 / 8; }

/// Reads into exactly `base32_octets(text.size())` octets. Refused as malformed: other characters, upper case,
/// padding, a length that no encoder makes, and bits after the last octet that are not zero, so that each octet string
/// has one spelling.
result<void> from_base32(std::string_view text, std::span<std::uint8_t> into);

}  // namespace weir
