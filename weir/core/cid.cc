#include <weir/core/cid.h>

#include <algorithm>
#include <cassert>
#include <span>

#include <fmt/format.h>

#include <weir/core/base32.h>
#include <weir/core/sha256.h>
#include <weir/core/varint.h>

namespace weir {

namespace {

constexpr std::uint64_t hash_code_sha2_256 = 0x12;

// Longer texts cannot be a CID of any hash in use (64 octets of digest in base16 are 140 characters), so what is
// decoded only to name it in an error fits a buffer on the stack.
constexpr std::size_t foreign_text_max = 160;

// What a '42' tag may hold in other people's data is checked by cbor.cc; here everything but ours is refused.
error refuse_binary(bytes_view binary) {
  if (binary.size() == 34 && binary[0] == 0x12 && binary[1] == 0x20) {
    return fail(errc::unsupported, "a CIDv0; Weir uses CIDv1 only");
  }
  std::uint64_t fields[4] = {};
  bytes_view rest = binary;
  static constexpr const char* names[4] = {"version", "codec", "hash code", "hash length"};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto read = read_varint(rest);
    if (!read) {
      return fail(errc::malformed, fmt::format("no CID in {} octets: its {} at offset {} is no varint", binary.size(),
                                               names[i], binary.size() - rest.size()));
    }
    fields[i] = read->value;
    rest = rest.subspan(read->octets);
    if (i == 0 && fields[0] != 1) {
      return fail(errc::unsupported, fmt::format("a CID of version {}; Weir uses CIDv1 only", fields[0]));
    }
  }
  const auto [version, code, hash_code, hash_length] = fields;
  if (hash_length != rest.size()) {
    return fail(errc::malformed, fmt::format("a CID announces {} octets of hash, {} follow", hash_length, rest.size()));
  }
  if (hash_code != hash_code_sha2_256) {
    return fail(errc::unsupported,
                fmt::format("a CID with hash code {:#x}; Weir uses sha2-256 (0x12) only", hash_code));
  }
  if (hash_length != std::tuple_size_v<digest>) {
    return fail(errc::unsupported, fmt::format("a CID with {} octets of sha2-256; Weir uses all 32", hash_length));
  }
  return fail(errc::unsupported, fmt::format("a CID with codec {:#x}; Weir uses raw (0x55) and dag-cbor (0x71)", code));
}

}  // namespace

cid cid::of(codec kind, bytes_view octets) { return {kind, sha256(octets)}; }

result<cid> cid::from_binary(bytes_view binary) {
  const bool ours =
      binary.size() == binary_size && binary[0] == 1 &&
      (binary[1] == static_cast<std::uint8_t>(codec::raw) || binary[1] == static_cast<std::uint8_t>(codec::dag_cbor)) &&
      binary[2] == hash_code_sha2_256 && binary[3] == std::tuple_size_v<digest>;
  if (!ours) return refuse_binary(binary);
  cid made;
  made.kind_ = static_cast<codec>(binary[1]);
  std::copy(binary.begin() + 4, binary.end(), made.digest_.begin());
  return made;
}

result<cid> cid::parse(std::string_view text) {
  if (text.empty()) return fail(errc::malformed, "an empty text is no CID");
  if (text.size() == 46 && text.starts_with("Qm")) {
    return fail(errc::unsupported, fmt::format("'{}' is a CIDv0; Weir uses CIDv1 only", text));
  }
  if (text[0] != 'b') {
    return fail(errc::unsupported, fmt::format("a CID with a prefix other than 'b' (octet {:#04x}); Weir reads "
                                               "lower-case base32 only",
                                               static_cast<unsigned char>(text[0])));
  }
  if (text.size() > foreign_text_max) {
    return fail(errc::malformed,
                fmt::format("{} characters are too long for a CID; Weir's have {}", text.size(), text_size));
  }
  std::uint8_t buffer[base32_octets(foreign_text_max)];
  const std::string_view digits = text.substr(1);
  const std::span<std::uint8_t> binary(buffer, base32_octets(digits.size()));
  if (const auto read = from_base32(digits, binary); !read) {
    return fail(errc::malformed, fmt::format("no CID: after its prefix, {}", read.error().message));
  }
  return from_binary(binary);
}

std::array<std::uint8_t, cid::binary_size> cid::binary() const noexcept {
  std::array<std::uint8_t, binary_size> out{1, static_cast<std::uint8_t>(kind_), hash_code_sha2_256,
                                            std::tuple_size_v<digest>};
  std::copy(digest_.begin(), digest_.end(), out.begin() + 4);
  return out;
}

void cid::append_binary(bytes& to) const { append(to, binary()); }

std::string cid::text() const {
  std::string out;
  out.reserve(text_size);
  out.push_back('b');
  append_base32(out, binary());
  assert(out.size() == text_size);
  return out;
}

}  // namespace weir
