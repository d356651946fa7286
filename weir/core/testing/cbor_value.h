#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/core/cbor.h>

namespace weir::testing {

/// Any item of DAG-CBOR as a tree, for tests that take items apart and put them together again. Not for production: it
/// allocates for every item.
struct cbor_value {
  cbor::kind what = cbor::kind::null;
  std::uint64_t number = 0;  // unsigned_integer; negative: n for -1 - n; boolean: 0 or 1
  double real = 0;
  std::string octets;  // text, byte_string; link: the encoded item, whatever CID it holds
  std::vector<std::pair<std::string, cbor_value>> entries;  // array (keys are empty), map

  friend bool operator==(const cbor_value&, const cbor_value&) = default;
};

inline void write(cbor::writer& to, const cbor_value& value) {
  switch (value.what) {
    case cbor::kind::unsigned_integer:
      to.unsigned_integer(value.number);
      break;
    case cbor::kind::negative:
      to.negative(value.number);
      break;
    case cbor::kind::byte_string:
      to.byte_string(as_bytes(value.octets));
      break;
    case cbor::kind::text:
      to.text(value.octets);
      break;
    case cbor::kind::link:
      to.encoded(as_bytes(value.octets));
      break;
    case cbor::kind::boolean:
      to.boolean(value.number != 0);
      break;
    case cbor::kind::null:
      to.null();
      break;
    case cbor::kind::floating:
      to.floating(value.real);
      break;
    case cbor::kind::array:
      to.array(value.entries.size());
      for (const auto& [key, item] : value.entries) write(to, item);
      break;
    case cbor::kind::map:
      to.map(value.entries.size());
      for (const auto& [key, item] : value.entries) {
        to.key(key);
        write(to, item);
      }
      break;
  }
}

inline bytes encode(const cbor_value& value) {
  bytes out;
  cbor::writer to(out);
  write(to, value);
  return out;
}

inline result<cbor_value> read(cbor::reader& from) {
  WEIR_TRY(const cbor::kind what, from.peek());
  cbor_value value;
  value.what = what;
  switch (what) {
    case cbor::kind::unsigned_integer: {
      WEIR_TRY(value.number, from.unsigned_integer());
      break;
    }
    case cbor::kind::negative: {
      WEIR_TRY(value.number, from.negative());
      break;
    }
    case cbor::kind::boolean: {
      WEIR_TRY(value.number, from.boolean());
      break;
    }
    case cbor::kind::null:
      WEIR_CHECK(from.null());
      break;
    case cbor::kind::floating: {
      WEIR_TRY(value.real, from.floating());
      break;
    }
    case cbor::kind::text: {
      WEIR_TRY(value.octets, from.text());
      break;
    }
    case cbor::kind::byte_string: {
      WEIR_TRY(const bytes_view octets, from.byte_string());
      value.octets = as_text(octets);
      break;
    }
    case cbor::kind::link: {
      WEIR_TRY(const bytes_view item, from.skip());
      value.octets = as_text(item);
      break;
    }
    case cbor::kind::array: {
      WEIR_TRY(const std::uint64_t count, from.array());
      for (std::uint64_t i = 0; i < count; ++i) {
        WEIR_TRY(auto item, read(from));
        value.entries.emplace_back(std::string(), std::move(item));
      }
      break;
    }
    case cbor::kind::map: {
      WEIR_TRY(const std::uint64_t count, from.map());
      std::string previous;
      for (std::uint64_t i = 0; i < count; ++i) {
        WEIR_TRY(const auto key, from.key(previous, i == 0));
        previous = key;
        WEIR_TRY(auto item, read(from));
        value.entries.emplace_back(previous, std::move(item));
      }
      break;
    }
  }
  return value;
}

/// The tree of octets that are one item, no more and no less.
inline result<cbor_value> decode(bytes_view octets) {
  // The tree is built by recursion without a depth of its own; validate has one.
  WEIR_CHECK(cbor::validate(octets));
  cbor::reader from(octets);
  WEIR_TRY(auto value, read(from));
  WEIR_CHECK(from.end());
  return value;
}

}  // namespace weir::testing
