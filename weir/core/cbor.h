#pragma once

#include <cstdint>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/cid.h>
#include <weir/core/result.h>

namespace weir::cbor {

/// Writes deterministic DAG-CBOR, item by item, into a buffer: shortest lengths, definite sizes, 64-bit floats, links
/// as tag 42. The caller writes map keys in canonical order (shorter first, then bytewise) and as many items as it
/// announced; both are checked by assertion.
///   Threads  confined. Allocates only by growing the buffer.
///   Source   RFC 8949 §4.2.1; https://ipld.io/specs/codecs/dag-cbor/spec/
class writer {
 public:
  explicit writer(bytes& to) : out_(to) {}

  writer& unsigned_integer(std::uint64_t value);
  writer& integer(std::int64_t value);
  /// The integer -1 - value: reaches below what a std::int64_t holds.
  writer& negative(std::uint64_t minus_one_minus_value);
  writer& boolean(bool value);
  writer& null();
  writer& floating(double value);  ///< finite values only; others are a bug in the caller
  writer& text(std::string_view value);
  writer& byte_string(bytes_view value);
  writer& link(const cid& value);
  writer& array(std::uint64_t count);  ///< then `count` items
  writer& map(std::uint64_t count);    ///< then `count` times a key by `key()` and an item
  writer& key(std::string_view name) { return text(name); }

 private:
  void head(std::uint8_t major, std::uint64_t argument);
  bytes& out_;
};

enum class kind : std::uint8_t { unsigned_integer, negative, byte_string, text, array, map, link, boolean, null, floating };

/// Reads DAG-CBOR strictly and without copying: anything that `writer` would have spelled otherwise is refused as
/// malformed, with the offset. Views borrow from the input.
///   Bounds   depth by limits::cbor_depth_max; a length is checked against the octets that are left before any use, so
///            a reader never allocates.
///   Threads  confined.
class reader {
 public:
  explicit reader(bytes_view input) : in_(input) {}

  /// The kind of the next item, without taking it.
  result<kind> peek() const;

  result<std::uint64_t> unsigned_integer();
  result<std::int64_t> integer();  ///< either sign; too_large outside of std::int64_t
  result<std::uint64_t> negative(); ///< n for the item -1 - n
  result<bool> boolean();
  result<void> null();
  result<double> floating();
  result<std::string_view> text();  ///< valid UTF-8
  result<bytes_view> byte_string();
  result<cid> link();
  result<std::uint64_t> array();  ///< the count; the items follow
  result<std::uint64_t> map();    ///< the count; keys and items follow in canonical order, which `key` enforces

  /// Takes a map key; `previous` is the one before it in the same map, empty for the first. Refuses wrong order and
  /// repetition.
  result<std::string_view> key(std::string_view previous, bool first);
  /// Takes the key that must come next, by name.
  result<void> key(std::string_view expected);

  /// Takes one whole item of any kind, checked in full, and gives its octets.
  result<bytes_view> skip();
  /// Succeeds iff nothing is left.
  result<void> end() const;

  [[nodiscard]] std::size_t offset() const noexcept { return at_; }

 private:
  struct head_value {
    std::uint8_t major;
    std::uint64_t argument;
  };
  result<head_value> head();
  error malformed_here(std::string_view what) const;
  result<void> skip_item(int depth);

  bytes_view in_;
  std::size_t at_ = 0;
};

/// Whether the octets are exactly one item of strict DAG-CBOR.
result<void> validate(bytes_view octets);

}  // namespace weir::cbor
