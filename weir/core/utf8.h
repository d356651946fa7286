#pragma once

#include <string_view>

namespace weir {

/// Whether the text is valid UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
///   Cost  eight octets a step while they are ASCII.
bool is_utf8(std::string_view text) noexcept;

}  // namespace weir
