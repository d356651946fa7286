#include <weir/core/base58.h>

#include <algorithm>

#include <fmt/format.h>

namespace weir {

namespace {

constexpr std::string_view alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

// number = number * base + digit, where the number is held with its lowest place first in places of another base.
void multiply_add(bytes& number, std::uint32_t place_base, std::uint32_t base, std::uint32_t digit) {
  std::uint32_t carry = digit;
  for (std::uint8_t& place : number) {
    carry += place * base;
    place = static_cast<std::uint8_t>(carry % place_base);
    carry /= place_base;
  }
  for (; carry > 0; carry /= place_base) {
    number.push_back(static_cast<std::uint8_t>(carry % place_base));
  }
}

}  // namespace

std::string to_base58(bytes_view octets) {
  // Leading zero octets carry no value; each becomes one '1'.
  const auto zeros = static_cast<std::size_t>(
      std::find_if(octets.begin(), octets.end(), [](std::uint8_t o) { return o != 0; }) - octets.begin());
  bytes digits;
  for (const std::uint8_t octet : octets.subspan(zeros)) multiply_add(digits, 58, 256, octet);
  std::string text(zeros, alphabet[0]);
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    text.push_back(alphabet[*digit]);
  }
  return text;
}

result<bytes> from_base58(std::string_view text, std::size_t characters_max) {
  if (text.size() > characters_max) {
    return fail(errc::too_large,
                fmt::format("{} characters of base58 where at most {} are expected", text.size(), characters_max));
  }
  const std::size_t zeros = std::min(text.find_first_not_of(alphabet[0]), text.size());
  bytes number;
  for (std::size_t i = zeros; i < text.size(); ++i) {
    const std::size_t digit = alphabet.find(text[i]);
    if (digit == std::string_view::npos) {
      return fail(errc::malformed, fmt::format("no base58 character at offset {}", i));
    }
    multiply_add(number, 256, 58, static_cast<std::uint32_t>(digit));
  }
  bytes octets(zeros, 0);
  octets.insert(octets.end(), number.rbegin(), number.rend());
  return octets;
}

}  // namespace weir
