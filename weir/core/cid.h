#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir {

/// A SHA-256 value.
using digest = std::array<std::uint8_t, 32>;

/// How the octets that a CID names are to be read (multicodec code).
enum class codec : std::uint8_t { raw = 0x55, dag_cbor = 0x71 };

/// A content identifier: CIDv1 over SHA2-256, the only kind Weir makes or accepts. 33 bytes, a plain value.
///   Threads  immutable.
///   Source   https://github.com/multiformats/cid; docs/design/0005-statements-bundles-store.md
class cid {
 public:
  static constexpr std::size_t binary_size =
      36;  ///< version, codec, hash code, hash length, digest: 0x01 cc 0x12 0x20 …
  static constexpr std::size_t text_size = 59;  ///< 'b' and 58 characters of base32

  cid() = default;  ///< raw codec, digest of zeroes: names nothing.
  cid(codec kind, const digest& hash) : kind_(kind), digest_(hash) {}

  /// The CID of these octets: hashes them.
  static cid of(codec kind, bytes_view octets);

  /// Reads the 36 octets of a binary CID, no more and no fewer.
  static result<cid> from_binary(bytes_view binary);
  /// Reads the canonical text form, lower-case base32 with prefix 'b'.
  static result<cid> parse(std::string_view text);

  [[nodiscard]] codec kind() const noexcept { return kind_; }
  [[nodiscard]] const digest& hash() const noexcept { return digest_; }

  [[nodiscard]] std::array<std::uint8_t, binary_size> binary() const noexcept;
  void append_binary(bytes& to) const;
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const cid&, const cid&) = default;

 private:
  codec kind_ = codec::raw;
  digest digest_{};
};

}  // namespace weir

/// SHA-256 output is uniform, so its first bytes are the table hash.
template <>
struct std::hash<weir::cid> {
  std::size_t operator()(const weir::cid& id) const noexcept {
    std::size_t h = 0;
    for (unsigned i = 0; i < sizeof h; ++i) h = h << 8 | id.hash()[i];
    return h;
  }
};
