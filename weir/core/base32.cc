#include <weir/core/base32.h>

#include <cassert>

#include <fmt/format.h>

namespace weir {

void append_base32(std::string& to, bytes_view octets) {
  static constexpr char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (const std::uint8_t octet : octets) {
    held = held << 8 | octet;
    for (bits += 8; bits >= 5; bits -= 5) to.push_back(alphabet[held >> (bits - 5) & 31]);
  }
  if (bits > 0) to.push_back(alphabet[held << (5 - bits) & 31]);
}

result<void> from_base32(std::string_view text, std::span<std::uint8_t> into) {
  assert(into.size() == base32_octets(text.size()));
  const std::size_t rest = text.size() % 8;
  if (rest == 1 || rest == 3 || rest == 6) {
    return fail(errc::malformed, fmt::format("{} characters are no whole number of octets in base32", text.size()));
  }
  std::uint32_t held = 0;
  unsigned bits = 0;
  std::size_t filled = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::uint32_t value = 0;
    if (c >= 'a' && c <= 'z') {
      value = static_cast<std::uint32_t>(c - 'a');
    } else if (c >= '2' && c <= '7') {
      value = static_cast<std::uint32_t>(c - '2') + 26;
    } else {
      return fail(errc::malformed, fmt::format("no lower-case base32 character at offset {}", i));
    }
    held = held << 5 | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      into[filled++] = static_cast<std::uint8_t>(held >> bits & 255);
    }
  }
  if ((held & ((1u << bits) - 1)) != 0) {
    return fail(errc::malformed, "the unused bits of the last base32 character are not zero");
  }
  return {};
}

}  // namespace weir
