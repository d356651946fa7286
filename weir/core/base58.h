#pragma once

#include <string>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir {

/// Base58 with Bitcoin's alphabet (multibase 'z'): for keys that people copy. The cost is quadratic, so it is bounded
/// by who calls it: encode what you made, decode what is at most as long as what you expect.
///   Source  https://datatracker.ietf.org/doc/html/draft-msporny-base58
std::string to_base58(bytes_view octets);

/// Reads base58. Another character is malformed, more than `characters_max` characters are too_large.
result<bytes> from_base58(std::string_view text, std::size_t characters_max);

}  // namespace weir
