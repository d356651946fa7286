#include <weir/core/internal/cbor_scan.h>

#include <bit>
#include <cmath>

#include <weir/core/endian.h>
#include <weir/core/limits.h>
#include <weir/core/utf8.h>
#include <weir/core/varint.h>

namespace weir::internal {

namespace {

using flaw = cbor_flaw;

constexpr flaw ended{errc::malformed, "an item is expected, but the input ends"};
constexpr flaw head_cut{errc::malformed, "the input ends inside of an item's head"};
constexpr flaw not_shortest{errc::malformed, "a number or length is not in its shortest form"};
constexpr flaw reserved{errc::malformed, "the additional information 28, 29 or 30 is reserved"};
constexpr flaw indefinite{errc::malformed, "a definite length is expected, not an indefinite one"};
constexpr flaw stray_break{errc::malformed, "an item is expected, not a \"break\""};
constexpr flaw undefined{errc::malformed, "\"undefined\" is not part of DAG-CBOR"};
constexpr flaw simple_value{errc::malformed, "of the simple values DAG-CBOR has only false, true and null"};
constexpr flaw short_float{errc::malformed, "a float of 64 bits is expected, not a shorter one"};
constexpr flaw not_finite{errc::malformed, "a finite float is expected, not NaN or Infinity"};
constexpr flaw other_tag{errc::malformed, "of the tags DAG-CBOR has only 42, the link"};
constexpr flaw string_cut{errc::malformed, "a string is longer than the octets that are left"};
constexpr flaw count_beyond{errc::malformed, "an array or map has more items than there are octets left"};
constexpr flaw not_utf8{errc::malformed, "valid UTF-8 is expected in a text"};
constexpr flaw not_text{errc::malformed, "a text is expected as the key of a map"};
constexpr flaw repeated{errc::malformed, "a key of a map repeats the one before it"};
constexpr flaw out_of_order{errc::malformed, "the keys of a map are expected in order: shorter first, then bytewise"};
constexpr flaw link_form{errc::malformed, "a link is expected to be a byte string that begins with 0x00"};
constexpr flaw link_cid{errc::malformed, "a link is expected to hold a well-formed CID"};
constexpr flaw too_deep{errc::too_large, "arrays and maps are nested too deeply"};

const flaw* check_simple(std::uint8_t info, std::uint64_t argument) noexcept {
  switch (info) {
    case info_false:
    case info_true:
    case info_null:
      return nullptr;
    case 23:
      return &undefined;
    case 25:
    case 26:
      return &short_float;
    case info_double:
      return std::isfinite(std::bit_cast<double>(argument)) ? nullptr : &not_finite;
    case 31:
      return &stray_break;
    default:
      return &simple_value;
  }
}

// Compares with what is left before anybody uses the number: an item takes one octet at least, a map's entry two.
const flaw* check_argument(const cbor_head& head, std::size_t left) noexcept {
  switch (head.major) {
    case major_bytes:
    case major_text:
      return head.argument > left ? &string_cut : nullptr;
    case major_array:
      return head.argument > left ? &count_beyond : nullptr;
    case major_map:
      return head.argument > left / 2 ? &count_beyond : nullptr;
    case major_tag:
      return head.argument != tag_link ? &other_tag : nullptr;
    default:
      return nullptr;
  }
}

// A link in somebody's object may be of any kind: a CIDv0, which is a bare sha2-256 multihash, or a CIDv1 whose hash is
// as long as it says.
bool is_cid(bytes_view binary) noexcept {
  constexpr std::uint8_t sha2_256 = 0x12, sha2_256_octets = 32;
  if (binary.size() == 2 + sha2_256_octets && binary[0] == sha2_256 && binary[1] == sha2_256_octets) {
    return true;
  }
  std::uint64_t fields[4];  // version, codec, hash code, hash length
  for (std::uint64_t& field : fields) {
    const auto read = read_varint(binary);
    if (!read) return false;
    field = read->value;
    binary = binary.subspan(read->octets);
  }
  return fields[0] == 1 && fields[3] == binary.size();
}

const flaw* skip_item(bytes_view in, std::size_t& at, int depth) noexcept;

const flaw* skip_map(bytes_view in, std::size_t& at, std::uint64_t count, int depth) noexcept {
  std::string_view previous;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t key_at = at;
    std::string_view key;
    if (const flaw* wrong = read_cbor_text(in, at, key)) {
      return wrong;
    }
    if (const flaw* wrong = i == 0 ? nullptr : check_cbor_key_order(previous, key)) {
      at = key_at;
      return wrong;
    }
    previous = key;
    if (const flaw* wrong = skip_item(in, at, depth)) return wrong;
  }
  return nullptr;
}

const flaw* skip_item(bytes_view in, std::size_t& at, int depth) noexcept {
  const std::size_t begin = at;
  cbor_head head;
  if (const flaw* wrong = read_cbor_head(in, at, head)) return wrong;
  switch (head.major) {
    case major_bytes:
      at += static_cast<std::size_t>(head.argument);
      return nullptr;
    case major_text: {
      at = begin;
      std::string_view text;
      return read_cbor_text(in, at, text);
    }
    case major_array:
    case major_map:
      if (depth >= limits::cbor_depth_max) {
        at = begin;
        return &too_deep;
      }
      if (head.major == major_map) return skip_map(in, at, head.argument, depth + 1);
      for (std::uint64_t i = 0; i < head.argument; ++i) {
        if (const flaw* wrong = skip_item(in, at, depth + 1)) return wrong;
      }
      return nullptr;
    case major_tag: {
      bytes_view binary;
      const flaw* wrong = read_cbor_link(in, at, binary);
      if (wrong == nullptr && !is_cid(binary)) wrong = &link_cid;
      if (wrong != nullptr) at = begin;
      return wrong;
    }
    default:
      return nullptr;
  }
}

}  // namespace

const cbor_flaw* read_cbor_head(bytes_view in, std::size_t& at, cbor_head& out) noexcept {
  if (at >= in.size()) return &ended;
  const std::uint8_t* const from = in.data() + at;
  const std::size_t left = in.size() - at - 1;  // behind the first octet
  out.major = from[0] >> 5;
  out.info = from[0] & 31;
  out.argument = out.info;
  std::size_t more = 0;
  if (out.info >= 24) {
    if (out.major == major_simple && out.info != info_double) return check_simple(out.info, 0);
    if (out.info == 31) {
      // Integers and tags have no indefinite form; for them it is as reserved as the other three.
      return out.major >= major_bytes && out.major <= major_map ? &indefinite : &reserved;
    }
    if (out.info > 27) return &reserved;
    more = std::size_t{1} << (out.info - 24);
    if (left < more) return &head_cut;
    std::uint64_t least = 24;  // that needs the form
    switch (out.info) {
      case 24:
        out.argument = from[1];
        break;
      case 25:
        out.argument = load_big<std::uint16_t>(from + 1);
        least = 0x100;
        break;
      case 26:
        out.argument = load_big<std::uint32_t>(from + 1);
        least = 0x1'0000;
        break;
      default:
        out.argument = load_big<std::uint64_t>(from + 1);
        least = 0x1'0000'0000;
        break;
    }
    if (out.major != major_simple && out.argument < least) return &not_shortest;
  }
  const flaw* wrong =
      out.major == major_simple ? check_simple(out.info, out.argument) : check_argument(out, left - more);
  if (wrong == nullptr) at += 1 + more;
  return wrong;
}

const cbor_flaw* read_cbor_text(bytes_view in, std::size_t& at, std::string_view& out) noexcept {
  std::size_t behind = at;
  cbor_head head;
  if (const flaw* wrong = read_cbor_head(in, behind, head)) return wrong;
  if (head.major != major_text) return &not_text;
  const auto length = static_cast<std::size_t>(head.argument);
  out = as_text(in.subspan(behind, length));
  if (!is_utf8(out)) return &not_utf8;
  at = behind + length;
  return nullptr;
}

const cbor_flaw* read_cbor_link(bytes_view in, std::size_t& at, bytes_view& out) noexcept {
  std::size_t behind = at;
  cbor_head head;
  if (const flaw* wrong = read_cbor_head(in, behind, head)) return wrong;
  if (head.major != major_bytes || head.argument == 0 || in[behind] != 0) return &link_form;
  const auto length = static_cast<std::size_t>(head.argument);
  out = in.subspan(behind + 1, length - 1);
  at = behind + length;
  return nullptr;
}

const cbor_flaw* check_cbor_key_order(std::string_view previous, std::string_view next) noexcept {
  if (previous.size() != next.size()) {
    return previous.size() < next.size() ? nullptr : &out_of_order;
  }
  // char_traits compares as unsigned octets, which is what the rule asks for.
  const int order = previous.compare(next);
  if (order == 0) return &repeated;
  return order < 0 ? nullptr : &out_of_order;
}

const cbor_flaw* skip_cbor_item(bytes_view in, std::size_t& at) noexcept { return skip_item(in, at, 0); }

}  // namespace weir::internal
