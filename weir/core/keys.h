#pragma once

#include <array>
#include <compare>
#include <filesystem>
#include <string>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir {

/// An Ed25519 signature (RFC 8032).
using signature = std::array<std::uint8_t, 64>;

/// An Ed25519 public key: who published something. A plain value.
struct public_key {
  std::array<std::uint8_t, 32> octets{};

  /// The multibase form that did:key uses: 'z' and base58btc of 0xed 0x01 and the key ("z6Mk…").
  [[nodiscard]] std::string text() const;
  static result<public_key> parse(std::string_view text);

  /// Whether the signature is this key's over the message. Strict: small-order keys and non-canonical values fail.
  ///   Cost  about 50 µs; pure, any thread.
  [[nodiscard]] bool verify(bytes_view message, const signature& sig) const noexcept;

  friend auto operator<=>(const public_key&, const public_key&) = default;
};

/// An Ed25519 key pair. The secret half is wiped from memory on destruction.
///   Threads  immutable: sign from any thread.
class key_pair {
 public:
  /// A fresh pair from the system's randomness.
  static key_pair generate();
  /// The pair of a 32-octet RFC 8032 seed.
  static key_pair from_seed(const std::array<std::uint8_t, 32>& seed);

  /// Reads the pair kept in the file; makes the file, mode 0600, durable before use, if there is none.
  ///   Errors  malformed if the file is not a key file, permission if others may read it, io.
  static result<key_pair> load_or_create(const std::filesystem::path& file);

  key_pair(key_pair&&) noexcept;
  key_pair& operator=(key_pair&&) noexcept;
  ~key_pair();

  [[nodiscard]] const public_key& pub() const noexcept { return public_; }
  [[nodiscard]] signature sign(bytes_view message) const;  ///< about 17 µs

 private:
  key_pair() = default;
  std::array<std::uint8_t, 64> secret_{};  // libsodium's form: seed, then public key
  public_key public_;
};

}  // namespace weir
