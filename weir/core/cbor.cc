#include <weir/core/cbor.h>

#include <bit>
#include <limits>

#include <fmt/format.h>

#include <weir/core/internal/cbor_scan.h>

namespace weir::cbor {

using internal::cbor_flaw;
using internal::cbor_head;

namespace {

error fail_at(std::size_t offset, errc code, std::string_view what) {
  return fail(code, fmt::format("DAG-CBOR at offset {}: {}", offset, what));
}

error fail_at(std::size_t offset, const cbor_flaw& flaw) { return fail_at(offset, flaw.code, flaw.what); }

kind kind_of(const cbor_head& head) noexcept {
  switch (head.major) {
    case internal::major_unsigned:
      return kind::unsigned_integer;
    case internal::major_negative:
      return kind::negative;
    case internal::major_bytes:
      return kind::byte_string;
    case internal::major_text:
      return kind::text;
    case internal::major_array:
      return kind::array;
    case internal::major_map:
      return kind::map;
    case internal::major_tag:
      return kind::link;
    default:
      if (head.info == internal::info_null) return kind::null;
      return head.info == internal::info_double ? kind::floating : kind::boolean;
  }
}

// A key from outside as it may stand in a message: short, and nothing that a terminal obeys.
std::string shown(std::string_view text) {
  constexpr std::size_t characters_max = 40;
  std::string out;
  for (const char c : text.substr(0, characters_max)) {
    out.push_back(c >= ' ' && c <= '~' ? c : '?');
  }
  if (text.size() > characters_max) out += "...";
  return out;
}

// Reads the head of an item that must be of one kind.
template <kind wanted>
result<cbor_head> expect(bytes_view in, std::size_t& at) {
  std::size_t behind = at;
  cbor_head head;
  if (const cbor_flaw* flaw = internal::read_cbor_head(in, behind, head)) {
    return fail_at(at, *flaw);
  }
  if (kind_of(head) != wanted) {
    return fail_at(at, errc::malformed,
                   fmt::format("{} is expected, {} is there", to_string(wanted), to_string(kind_of(head))));
  }
  at = behind;
  return head;
}

}  // namespace

std::string_view to_string(kind what) noexcept {
  switch (what) {
    case kind::unsigned_integer:
      return "an unsigned integer";
    case kind::negative:
      return "a negative integer";
    case kind::byte_string:
      return "a byte string";
    case kind::text:
      return "a text";
    case kind::array:
      return "an array";
    case kind::map:
      return "a map";
    case kind::link:
      return "a link";
    case kind::boolean:
      return "a boolean";
    case kind::null:
      return "a null";
    case kind::floating:
      return "a float";
  }
  return "an unknown kind";
}

result<kind> reader::peek() const {
  std::size_t behind = at_;
  cbor_head head;
  if (const cbor_flaw* flaw = internal::read_cbor_head(in_, behind, head)) {
    return fail_at(at_, *flaw);
  }
  return kind_of(head);
}

result<std::uint64_t> reader::unsigned_integer() {
  WEIR_TRY(const auto head, expect<kind::unsigned_integer>(in_, at_));
  return head.argument;
}

result<std::uint64_t> reader::negative() {
  WEIR_TRY(const auto head, expect<kind::negative>(in_, at_));
  return head.argument;
}

result<std::int64_t> reader::integer() {
  std::size_t behind = at_;
  cbor_head head;
  if (const cbor_flaw* flaw = internal::read_cbor_head(in_, behind, head)) {
    return fail_at(at_, *flaw);
  }
  if (head.major != internal::major_unsigned && head.major != internal::major_negative) {
    return fail_at(at_, errc::malformed, fmt::format("an integer is expected, {} is there", to_string(kind_of(head))));
  }
  if (head.argument > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail_at(at_, errc::too_large, "the integer does not fit 64 bits with a sign");
  }
  at_ = behind;
  const auto value = static_cast<std::int64_t>(head.argument);
  return head.major == internal::major_unsigned ? value : -1 - value;
}

result<bool> reader::boolean() {
  WEIR_TRY(const auto head, expect<kind::boolean>(in_, at_));
  return head.info == internal::info_true;
}

result<void> reader::null() {
  WEIR_TRY([[maybe_unused]] const auto head, expect<kind::null>(in_, at_));
  return {};
}

result<double> reader::floating() {
  WEIR_TRY(const auto head, expect<kind::floating>(in_, at_));
  return std::bit_cast<double>(head.argument);
}

result<std::string_view> reader::text() {
  std::size_t behind = at_;
  WEIR_TRY([[maybe_unused]] const auto head, expect<kind::text>(in_, behind));
  std::string_view out;
  if (const cbor_flaw* flaw = internal::read_cbor_text(in_, at_, out)) return fail_at(at_, *flaw);
  return out;
}

result<bytes_view> reader::byte_string() {
  WEIR_TRY(const auto head, expect<kind::byte_string>(in_, at_));
  const auto length = static_cast<std::size_t>(head.argument);
  const bytes_view out = in_.subspan(at_, length);
  at_ += length;
  return out;
}

result<cid> reader::link() {
  std::size_t behind = at_;
  WEIR_TRY([[maybe_unused]] const auto head, expect<kind::link>(in_, behind));
  bytes_view binary;
  if (const cbor_flaw* flaw = internal::read_cbor_link(in_, behind, binary)) {
    return fail_at(at_, *flaw);
  }
  auto read = cid::from_binary(binary);
  if (!read) return fail_at(at_, read.error().code, read.error().message);
  at_ = behind;
  return read;
}

result<std::uint64_t> reader::array() {
  WEIR_TRY(const auto head, expect<kind::array>(in_, at_));
  return head.argument;
}

result<std::uint64_t> reader::map() {
  WEIR_TRY(const auto head, expect<kind::map>(in_, at_));
  return head.argument;
}

result<std::string_view> reader::key(std::string_view previous, bool first) {
  std::size_t behind = at_;
  std::string_view out;
  const cbor_flaw* flaw = internal::read_cbor_text(in_, behind, out);
  if (flaw == nullptr && !first) flaw = internal::check_cbor_key_order(previous, out);
  if (flaw != nullptr) return fail_at(at_, *flaw);
  at_ = behind;
  return out;
}

result<void> reader::key(std::string_view expected) {
  std::size_t behind = at_;
  std::string_view found;
  if (const cbor_flaw* flaw = internal::read_cbor_text(in_, behind, found)) {
    return fail_at(at_, flaw->code, fmt::format("the key '{}' is expected; {}", expected, flaw->what));
  }
  if (found != expected) {
    return fail_at(at_, errc::malformed,
                   fmt::format("the key '{}' is expected, '{}' is there", expected, shown(found)));
  }
  at_ = behind;
  return {};
}

result<bytes_view> reader::skip() {
  std::size_t behind = at_;
  if (const cbor_flaw* flaw = internal::skip_cbor_item(in_, behind)) return fail_at(behind, *flaw);
  const bytes_view out = in_.subspan(at_, behind - at_);
  at_ = behind;
  return out;
}

result<void> reader::end() const {
  if (at_ == in_.size()) return {};
  return fail_at(at_, errc::malformed, fmt::format("the end is expected, {} more octets are there", in_.size() - at_));
}

result<void> validate(bytes_view octets) {
  reader whole(octets);
  WEIR_TRY([[maybe_unused]] const auto item, whole.skip());
  return whole.end();
}

}  // namespace weir::cbor
