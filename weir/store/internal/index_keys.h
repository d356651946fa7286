#pragma once

#include <cstdint>
#include <string_view>

#include <weir/core/cid.h>
#include <weir/core/endian.h>
#include <weir/core/sha256.h>

namespace weir::store::internal {

/// The 8-octet keys of the index tables. They narrow a search down; that a row is the right one is always decided by
/// the whole id or text. Digests give their first octets, which are uniform. Texts are hashed with SHA-256 too, because
/// strangers choose them: a faster hash would let them pile up rows under one key.
class index_keys {
 public:
  explicit index_keys(std::uint64_t mask) : mask_(mask) {}

  /// As SQLite's signed integers.
  [[nodiscard]] std::int64_t of(const digest& id) const noexcept {
    return static_cast<std::int64_t>(load_big<std::uint64_t>(id.data()) & mask_);
  }
  [[nodiscard]] std::int64_t of(std::string_view text) const { return of(sha256(as_bytes(text))); }

 private:
  std::uint64_t mask_;
};

}  // namespace weir::store::internal
