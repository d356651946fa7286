#include <weir/core/utf8.h>

#include <cstdint>
#include <cstring>

namespace weir {

namespace {

// How many octets the character at `at` takes, or 0 if it is not valid. The second octet's range depends on the first
// (RFC 3629 §4); that is what rules out overlong forms (after e0, f0), surrogates (after ed) and numbers above U+10FFFF
// (after f4).
std::size_t character_octets(const std::uint8_t* at, std::size_t left) noexcept {
  const std::uint8_t first = at[0];
  if (first < 0x80) return 1;
  std::size_t octets = 0;
  std::uint8_t low = 0x80, high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    octets = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    octets = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    octets = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (octets == 0 || octets > left || at[1] < low || at[1] > high) return 0;
  for (std::size_t i = 2; i < octets; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  return octets;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  const auto* octets = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, octets + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const std::size_t taken = character_octets(octets + at, text.size() - at);
    if (taken == 0) return false;
    at += taken;
  }
  return true;
}

}  // namespace weir
