// Random items: what is written is read back, and every octet string has at most one meaning and every meaning one
// octet string.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/cbor.h>
#include <weir/core/hex.h>
#include <weir/core/testing/cbor_value.h>

namespace weir::cbor {
namespace {

using testing::cbor_value;

rc::Gen<std::uint64_t> any_number() {
  // As many of each length of head as there are lengths, and the values around their borders.
  return rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(),
                        rc::gen::cast<std::uint64_t>(rc::gen::arbitrary<std::uint8_t>()),
                        rc::gen::cast<std::uint64_t>(rc::gen::arbitrary<std::uint16_t>()),
                        rc::gen::cast<std::uint64_t>(rc::gen::arbitrary<std::uint32_t>()),
                        rc::gen::element<std::uint64_t>(0, 23, 24, 255, 256, 65535, 65536, 0xffffffff, 0x100000000,
                                                        0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff));
}

rc::Gen<std::string> any_text() {
  return rc::gen::map(
      rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
          "a", "b", "z", "\u00fc", "\u6c34", "\U00010151", std::string(1, '\0'), "\x7f", "\u0080", "0123456789abcdef")),
      [](const std::vector<std::string>& parts) {
        std::string all;
        for (const auto& part : parts) all += part;
        return all;
      });
}

rc::Gen<cbor_value> any_leaf() {
  const auto of = [](kind what) { return [what](std::uint64_t n) { return cbor_value{what, n, 0, {}, {}}; }; };
  return rc::gen::oneOf(
      rc::gen::map(any_number(), of(kind::unsigned_integer)), rc::gen::map(any_number(), of(kind::negative)),
      rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 2), of(kind::boolean)), rc::gen::just(cbor_value{}),
      rc::gen::map(any_number(),
                   [](std::uint64_t bits) {
                     const auto x = std::bit_cast<double>(bits);
                     return cbor_value{kind::floating, 0, std::isfinite(x) ? x : 1.5, {}, {}};
                   }),
      rc::gen::map(any_text(),
                   [](std::string s) {
                     return cbor_value{kind::text, 0, 0, std::move(s), {}};
                   }),
      rc::gen::map(rc::gen::arbitrary<std::string>(),
                   [](std::string s) {
                     return cbor_value{kind::byte_string, 0, 0, std::move(s), {}};
                   }),
      rc::gen::map(rc::gen::arbitrary<std::string>(), [](const std::string& s) {
        bytes item;
        writer(item).link(cid::of(codec::dag_cbor, as_bytes(s)));
        return cbor_value{kind::link, 0, 0, std::string(as_text(item)), {}};
      }));
}

rc::Gen<cbor_value> any_value(int depth) {
  if (depth == 0) return any_leaf();
  using entries = std::vector<std::pair<std::string, cbor_value>>;
  const auto inner = rc::gen::resize(8, rc::gen::container<entries>(rc::gen::pair(any_text(), any_value(depth - 1))));
  return rc::gen::oneOf(
      any_leaf(),
      rc::gen::map(inner,
                   [](entries list) {
                     for (auto& [key, value] : list) key.clear();
                     return cbor_value{kind::array, 0, 0, {}, std::move(list)};
                   }),
      rc::gen::map(inner, [](entries list) {
        // The order of the specification, written down a second time.
        const auto before = [](const auto& a, const auto& b) {
          return std::make_pair(a.first.size(), to_bytes(a.first)) < std::make_pair(b.first.size(), to_bytes(b.first));
        };
        std::sort(list.begin(), list.end(), before);
        list.erase(
            std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
            list.end());
        return cbor_value{kind::map, 0, 0, {}, std::move(list)};
      }));
}

// Compares octets where values cannot be: 0.0 and -0.0 are equal numbers and different items.
bool same(const cbor_value& a, const cbor_value& b) { return a == b && encode(a) == encode(b); }

void is_refused_or_the_one_spelling(const bytes& octets) {
  const auto read = testing::decode(octets);
  RC_ASSERT(read.ok() == validate(octets).ok());
  if (read) {
    RC_ASSERT(testing::encode(*read) == octets);
  } else {
    RC_ASSERT(!read.error().message.empty());
  }
}

RC_GTEST_PROP(cbor_property, what_is_written_is_read_back, ()) {
  const auto value = *any_value(3);
  const bytes encoded = testing::encode(value);
  const auto read = testing::decode(encoded);
  RC_ASSERT(read.ok());
  RC_ASSERT(same(*read, value));
}

RC_GTEST_PROP(cbor_property, every_prefix_of_an_item_is_refused, ()) {
  const bytes encoded = testing::encode(*any_value(2));
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    RC_ASSERT(!validate(bytes_view(encoded).first(size)));
  }
}

RC_GTEST_PROP(cbor_property, every_flipped_bit_is_refused_or_the_one_spelling_of_another_item, ()) {
  const bytes encoded = testing::encode(*any_value(2));
  for (std::size_t bit = 0; bit < encoded.size() * 8; ++bit) {
    bytes flipped = encoded;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    is_refused_or_the_one_spelling(flipped);
  }
}

RC_GTEST_PROP(cbor_property, octets_put_in_and_taken_out_are_refused_or_the_one_spelling, ()) {
  bytes encoded = testing::encode(*any_value(2));
  const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, encoded.size()));
  if (*rc::gen::arbitrary<bool>()) {
    encoded.insert(encoded.begin() + at, *rc::gen::arbitrary<std::uint8_t>());
  } else {
    encoded.erase(encoded.begin() + at);
  }
  is_refused_or_the_one_spelling(encoded);
}

RC_GTEST_PROP(cbor_property, any_octets_are_refused_or_the_one_spelling, (const bytes& octets)) {
  is_refused_or_the_one_spelling(octets);
}

}  // namespace
}  // namespace weir::cbor
