#pragma once

#include <string>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir {

/// The octets as lower-case hexadecimal digits, two each.
std::string to_hex(bytes_view octets);

/// The octets that the digits spell; either case. Anything but pairs of hexadecimal digits is malformed.
result<bytes> from_hex(std::string_view digits);

/// Same, into as many octets as are expected; another count of digits is malformed.
result<void> from_hex(std::string_view digits, std::span<std::uint8_t> into);

}  // namespace weir
