#include <bit>
#include <cassert>
#include <cmath>
#include <exception>

#include <weir/core/cbor.h>
#include <weir/core/endian.h>
#include <weir/core/internal/cbor_scan.h>
#include <weir/core/utf8.h>

namespace weir::cbor {

writer::~writer() {
  // Fewer items than announced; unless an exception, such as bad_alloc from the buffer, has cut the work short.
  assert(depth_ == 0 || std::uncaught_exceptions() > 0);
}

void writer::head(std::uint8_t major, std::uint64_t argument) {
  std::uint8_t octets[9];
  std::size_t size = 1;
  std::uint8_t info = 0;
  if (argument < 24) {
    info = static_cast<std::uint8_t>(argument);
  } else if (argument <= 0xff) {
    info = 24;
    octets[1] = static_cast<std::uint8_t>(argument);
    size = 2;
  } else if (argument <= 0xffff) {
    info = 25;
    store_big(octets + 1, static_cast<std::uint16_t>(argument));
    size = 3;
  } else if (argument <= 0xffff'ffff) {
    info = 26;
    store_big(octets + 1, static_cast<std::uint32_t>(argument));
    size = 5;
  } else {
    info = 27;
    store_big(octets + 1, argument);
    size = 9;
  }
  octets[0] = static_cast<std::uint8_t>(major << 5 | info);
  append(out_, {octets, size});
}

// Whether a key, or an item that is none, may come now.
void writer::check_place([[maybe_unused]] bool key) const {
  assert(key == (depth_ > 0 && levels_[depth_ - 1].is_map && levels_[depth_ - 1].key_is_next));
}

// Counts an item that is complete, and with it every array and map that it completes.
void writer::item_done() {
  while (depth_ > 0) {
    level& inner = levels_[depth_ - 1];
    if (inner.is_map) inner.key_is_next = true;
    if (--inner.items_left > 0) return;
    --depth_;
  }
}

void writer::open(bool is_map, std::uint64_t count) {
  check_place(false);
  assert(depth_ < limits::cbor_depth_max);
  head(is_map ? internal::major_map : internal::major_array, count);
  if (count == 0) return item_done();
  levels_[depth_++] = {count, 0, 0, is_map, is_map};
}

writer& writer::unsigned_integer(std::uint64_t value) {
  check_place(false);
  head(internal::major_unsigned, value);
  item_done();
  return *this;
}

writer& writer::integer(std::int64_t value) {
  if (value >= 0) return unsigned_integer(static_cast<std::uint64_t>(value));
  return negative(static_cast<std::uint64_t>(-1 - value));
}

writer& writer::negative(std::uint64_t minus_one_minus_value) {
  check_place(false);
  head(internal::major_negative, minus_one_minus_value);
  item_done();
  return *this;
}

writer& writer::boolean(bool value) {
  check_place(false);
  head(internal::major_simple, value ? internal::info_true : internal::info_false);
  item_done();
  return *this;
}

writer& writer::null() {
  check_place(false);
  head(internal::major_simple, internal::info_null);
  item_done();
  return *this;
}

writer& writer::floating(double value) {
  check_place(false);
  assert(std::isfinite(value));
  std::uint8_t octets[9] = {internal::major_simple << 5 | internal::info_double};
  store_big(octets + 1, std::bit_cast<std::uint64_t>(value));
  append(out_, octets);
  item_done();
  return *this;
}

writer& writer::text(std::string_view value) {
  check_place(false);
  assert(is_utf8(value));
  head(internal::major_text, value.size());
  append(out_, as_bytes(value));
  item_done();
  return *this;
}

writer& writer::byte_string(bytes_view value) {
  check_place(false);
  head(internal::major_bytes, value.size());
  append(out_, value);
  item_done();
  return *this;
}

writer& writer::link(const cid& value) {
  check_place(false);
  head(internal::major_tag, internal::tag_link);
  head(internal::major_bytes, 1 + cid::binary_size);
  out_.push_back(0);  // multibase "identity", which DAG-CBOR demands
  value.append_binary(out_);
  item_done();
  return *this;
}

writer& writer::array(std::uint64_t count) {
  open(false, count);
  return *this;
}

writer& writer::map(std::uint64_t count) {
  open(true, count);
  return *this;
}

writer& writer::key(std::string_view name) {
  check_place(true);
  assert(is_utf8(name));
  level& inner = levels_[depth_ - 1];
  assert(inner.key_at == 0 || internal::check_cbor_key_order(
                                  as_text(bytes_view(out_).subspan(inner.key_at, inner.key_size)), name) == nullptr);
  head(internal::major_text, name.size());
  inner.key_at = out_.size();
  inner.key_size = name.size();
  inner.key_is_next = false;
  append(out_, as_bytes(name));
  return *this;
}

writer& writer::encoded(bytes_view item) {
  check_place(false);
  assert(!item.empty());
  append(out_, item);
  item_done();
  return *this;
}

}  // namespace weir::cbor
