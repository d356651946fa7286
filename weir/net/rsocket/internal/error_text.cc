#include <weir/net/rsocket/internal/error_text.h>

#include <optional>

#include <fmt/format.h>

namespace weir::net::rsocket::internal {

namespace {

std::optional<errc> code_named(std::string_view name) {
  for (auto code = errc::invalid_argument; code <= errc::internal; code = errc(unsigned(code) + 1)) {
    if (to_string(code) == name) return code;
  }
  return std::nullopt;
}

/// Cuts without leaving part of a UTF-8 character behind.
std::string_view cut(std::string_view text) {
  if (text.size() <= error_text_bytes_max) return text;
  std::size_t end = error_text_bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

std::string error_text(const error& why) {
  return std::string(cut(fmt::format("{}: {}", to_string(why.code), why.message)));
}

error error_of(bytes_view data, std::string_view peer) {
  const std::string text = printable(as_text(data));
  const auto colon = text.find(": ");
  if (colon != text.npos) {
    if (const auto code = code_named(std::string_view(text).substr(0, colon))) {
      return fail(*code, fmt::format("{} (answered {})", std::string_view(text).substr(colon + 2), peer));
    }
  }
  return fail(errc::refused, fmt::format("{} (answered {})", text, peer));
}

std::string printable(std::string_view text) {
  std::string out(cut(text));
  for (char& c : out) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet < 0x20 || octet == 0x7f) c = '?';
  }
  return out;
}

}  // namespace weir::net::rsocket::internal
