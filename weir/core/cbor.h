#pragma once

#include <cstdint>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/cid.h>
#include <weir/core/limits.h>
#include <weir/core/result.h>

namespace weir::cbor {

/// Writes deterministic DAG-CBOR, item by item, into a buffer: shortest lengths, definite sizes, 64-bit floats, links
/// as tag 42. Bugs in the caller, all checked by assertion: map keys out of canonical order (shorter first, then
/// bytewise) or repeated, more or fewer items than announced, more than limits::cbor_depth_max levels, a text that is
/// not UTF-8, a float that is not finite. Several items in a row at the top level are fine.
///   Threads  confined. Allocates only by growing the buffer, to which nobody else may write inside of an array or map.
///   Source   RFC 8949 §4.2.1; https://ipld.io/specs/codecs/dag-cbor/spec/
class writer {
 public:
  explicit writer(bytes& to) : out_(to) {}
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer();

  writer& unsigned_integer(std::uint64_t value);
  writer& integer(std::int64_t value);
  /// The integer -1 - value: reaches below what a std::int64_t holds.
  writer& negative(std::uint64_t minus_one_minus_value);
  writer& boolean(bool value);
  writer& null();
  writer& floating(double value);
  writer& text(std::string_view value);
  writer& byte_string(bytes_view value);
  writer& link(const cid& value);
  writer& array(std::uint64_t count);  ///< then `count` items
  writer& map(std::uint64_t count);    ///< then `count` times a key by `key()` and an item
  writer& key(std::string_view name);
  /// One item that is encoded already, such as what `reader::skip` gave. Not examined again.
  writer& encoded(bytes_view item);

 private:
  // One open array or map.
  struct level {
    std::uint64_t items_left;      // entries of a map
    std::size_t key_at, key_size;  // where the last key is in the buffer; key_at 0: none yet
    bool is_map, key_is_next;
  };

  void head(std::uint8_t major, std::uint64_t argument);
  void check_place(bool key) const;
  void item_done();
  void open(bool is_map, std::uint64_t count);

  bytes& out_;
  int depth_ = 0;
  level levels_[limits::cbor_depth_max];  // the first depth_ are in use
};

enum class kind : std::uint8_t {
  unsigned_integer,
  negative,
  byte_string,
  text,
  array,
  map,
  link,
  boolean,
  null,
  floating
};

/// The kind for people, with its article: "a byte string".
std::string_view to_string(kind what) noexcept;

/// Reads DAG-CBOR strictly and without copying: anything that `writer` would have spelled otherwise is refused as
/// malformed, with the offset. Views borrow from the input. A call that fails takes nothing.
///   Bounds   depth by limits::cbor_depth_max; a length is checked against the octets that are left before any use, so
///            a reader never allocates, except for the words of an error.
///   Threads  confined.
class reader {
 public:
  explicit reader(bytes_view input) : in_(input) {}

  /// The kind of the next item, without taking it.
  [[nodiscard]] result<kind> peek() const;

  result<std::uint64_t> unsigned_integer();
  result<std::int64_t> integer();    ///< either sign; too_large outside of std::int64_t
  result<std::uint64_t> negative();  ///< n for the item -1 - n
  result<bool> boolean();
  result<void> null();
  result<double> floating();
  result<std::string_view> text();  ///< valid UTF-8
  result<bytes_view> byte_string();
  /// A CID of the kind that weir::cid holds; a sound one of another kind is unsupported.
  result<cid> link();
  result<std::uint64_t> array();  ///< the count, at most the octets that are left; the items follow
  result<std::uint64_t> map();    ///< the count; keys and items follow in canonical order, which `key` enforces

  /// Takes a map key; `previous` is the one before it in the same map, empty for the first. Refuses wrong order and
  /// repetition.
  result<std::string_view> key(std::string_view previous, bool first);
  /// Takes the key that must come next, by name.
  result<void> key(std::string_view expected);

  /// Takes one whole item of any kind, checked in full, and gives its octets. Links need only be well-formed CIDs, of
  /// version 0 or 1 and of any codec and hash, so that objects may point to what Weir does not hold.
  result<bytes_view> skip();
  /// Succeeds iff nothing is left.
  [[nodiscard]] result<void> end() const;

  [[nodiscard]] std::size_t offset() const noexcept { return at_; }

 private:
  bytes_view in_;
  std::size_t at_ = 0;
};

/// Whether the octets are exactly one item of strict DAG-CBOR, as `reader::skip` checks it.
result<void> validate(bytes_view octets);

}  // namespace weir::cbor
