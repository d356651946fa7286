#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

/// The part of the DAG-CBOR reader that decides what is valid. It works on plain positions and answers with pointers to
/// static flaws, so that nothing is built unless something is wrong.
namespace weir::internal {

/// Something wrong with an item.
struct cbor_flaw {
  errc code;
  std::string_view what;
};

/// CBOR's major types (RFC 8949 §3.1).
enum cbor_major : std::uint8_t {
  major_unsigned = 0,
  major_negative = 1,
  major_bytes = 2,
  major_text = 3,
  major_array = 4,
  major_map = 5,
  major_tag = 6,
  major_simple = 7
};

// The additional information of the items of major type 7 that DAG-CBOR has.
inline constexpr std::uint8_t info_false = 20, info_true = 21, info_null = 22, info_double = 27;

inline constexpr std::uint64_t tag_link = 42;

/// An item's first octet and the number that belongs to it.
struct cbor_head {
  std::uint8_t major;
  std::uint8_t info;
  std::uint64_t argument;  ///< for a float its bits
};

/// Reads the head at `at` and moves `at` behind it. Refused here: forms that are not the shortest, indefinite lengths,
/// reserved values, tags other than 42, simple values other than false, true and null, floats that are short or not
/// finite, and counts and lengths beyond what is left. Null means all is well; after a flaw `at` is where the head
/// begins.
const cbor_flaw* read_cbor_head(bytes_view in, std::size_t& at, cbor_head& out) noexcept;

/// Reads a text; after a flaw `at` is where the item begins.
const cbor_flaw* read_cbor_text(bytes_view in, std::size_t& at, std::string_view& out) noexcept;

/// Reads what follows the tag of a link and gives the binary CID, of which nothing is checked. After a flaw `at` is
/// unchanged.
const cbor_flaw* read_cbor_link(bytes_view in, std::size_t& at, bytes_view& out) noexcept;

/// Whether `next` may follow `previous` in one map: null if so.
const cbor_flaw* check_cbor_key_order(std::string_view previous, std::string_view next) noexcept;

/// Reads past one whole item and checks it in full; after a flaw `at` is where the flaw is.
const cbor_flaw* skip_cbor_item(bytes_view in, std::size_t& at) noexcept;

}  // namespace weir::internal
