#include <weir/core/hex.h>

#include <fmt/format.h>

namespace weir {

namespace {

int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(bytes_view octets) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(octets.size() * 2);
  for (const std::uint8_t octet : octets) {
    text.push_back(digits[octet >> 4]);
    text.push_back(digits[octet & 15]);
  }
  return text;
}

result<void> from_hex(std::string_view digits, std::span<std::uint8_t> into) {
  if (digits.size() != into.size() * 2) {
    return fail(errc::malformed,
                fmt::format("{} hexadecimal digits where {} are expected", digits.size(), into.size() * 2));
  }
  for (std::size_t i = 0; i < into.size(); ++i) {
    const int high = digit_value(digits[2 * i]);
    const int low = digit_value(digits[2 * i + 1]);
    if (high < 0 || low < 0) {
      const std::size_t at = high < 0 ? 2 * i : 2 * i + 1;
      return fail(errc::malformed, fmt::format("no hexadecimal digit at offset {}", at));
    }
    into[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return {};
}

result<bytes> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) {
    return fail(errc::malformed, fmt::format("{} hexadecimal digits: an octet needs two", digits.size()));
  }
  bytes octets(digits.size() / 2);
  WEIR_CHECK(from_hex(digits, octets));
  return octets;
}

}  // namespace weir
