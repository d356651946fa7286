// What is DAG-CBOR and what is not: the examples of RFC 8949 appendix A, each rule of the DAG-CBOR specification with
// one item that breaks it and nothing else, and every input of up to three octets.
#include <cmath>

#include <gtest/gtest.h>

#include <weir/core/cbor.h>
#include <weir/core/hex.h>
#include <weir/core/internal/cbor_scan.h>
#include <weir/core/testing/cbor_value.h>

namespace weir::cbor {
namespace {

using testing::cbor_value;

result<void> validate_hex(std::string_view hex) { return validate(*from_hex(hex)); }

cbor_value number(std::uint64_t n) { return {kind::unsigned_integer, n, 0, {}, {}}; }
cbor_value negative(std::uint64_t n) { return {kind::negative, n, 0, {}, {}}; }
cbor_value real(double x) { return {kind::floating, 0, x, {}, {}}; }
cbor_value text(std::string s) { return {kind::text, 0, 0, std::move(s), {}}; }
cbor_value octets(std::string s) { return {kind::byte_string, 0, 0, std::move(s), {}}; }
cbor_value array(std::vector<cbor_value> items) {
  cbor_value made{kind::array, 0, 0, {}, {}};
  for (auto& item : items) made.entries.emplace_back("", std::move(item));
  return made;
}
cbor_value map(std::vector<std::pair<std::string, cbor_value>> entries) {
  return {kind::map, 0, 0, {}, std::move(entries)};
}

std::vector<cbor_value> one_to_25() {
  std::vector<cbor_value> items;
  for (std::uint64_t n = 1; n <= 25; ++n) items.push_back(number(n));
  return items;
}

TEST(cbor_rules, the_examples_of_rfc_8949_that_are_dag_cbor_have_their_values) {
  const std::pair<const char*, cbor_value> examples[] = {
      {"00", number(0)},
      {"01", number(1)},
      {"0a", number(10)},
      {"17", number(23)},
      {"1818", number(24)},
      {"1819", number(25)},
      {"1864", number(100)},
      {"1903e8", number(1000)},
      {"1a000f4240", number(1000000)},
      {"1b000000e8d4a51000", number(1000000000000)},
      {"1bffffffffffffffff", number(18446744073709551615u)},
      {"3bffffffffffffffff", negative(18446744073709551615u)},
      {"20", negative(0)},
      {"29", negative(9)},
      {"3863", negative(99)},
      {"3903e7", negative(999)},
      {"fb3ff199999999999a", real(1.1)},
      {"fb7e37e43c8800759c", real(1.0e+300)},
      {"fbc010666666666666", real(-4.1)},
      {"f4", {kind::boolean, 0, 0, {}, {}}},
      {"f5", {kind::boolean, 1, 0, {}, {}}},
      {"f6", {kind::null, 0, 0, {}, {}}},
      {"40", octets("")},
      {"4401020304", octets("\x01\x02\x03\x04")},
      {"60", text("")},
      {"6161", text("a")},
      {"6449455446", text("IETF")},
      {"62225c", text("\"\\")},
      {"62c3bc", text("\u00fc")},
      {"63e6b0b4", text("\u6c34")},
      {"64f0908591", text("\U00010151")},
      {"80", array({})},
      {"83010203", array({number(1), number(2), number(3)})},
      {"8301820203820405", array({number(1), array({number(2), number(3)}), array({number(4), number(5)})})},
      {"98190102030405060708090a0b0c0d0e0f101112131415161718181819", array(one_to_25())},
      {"a0", map({})},
      {"a26161016162820203", map({{"a", number(1)}, {"b", array({number(2), number(3)})}})},
      {"826161a161626163", array({text("a"), map({{"b", text("c")}})})},
      {"a56161614161626142616361436164614461656145",
       map({{"a", text("A")}, {"b", text("B")}, {"c", text("C")}, {"d", text("D")}, {"e", text("E")}})},
  };
  for (const auto& [hex, expected] : examples) {
    const auto read = testing::decode(*from_hex(hex));
    ASSERT_TRUE(read) << hex << ": " << read.error().message;
    EXPECT_EQ(*read, expected) << hex;
    EXPECT_EQ(to_hex(testing::encode(expected)), hex);
  }
}

TEST(cbor_rules, the_other_examples_of_rfc_8949_are_refused) {
  for (const char* hex : {"c249010000000000000000",
                          "c349010000000000000000",  // bignums
                          "f90000",
                          "f98000",
                          "f93c00",
                          "f93e00",
                          "f97bff",
                          "f90001",  // floats of 16 bits
                          "f90400",
                          "f9c400",
                          "f97c00",
                          "f97e00",
                          "f9fc00",  //
                          "fa47c35000",
                          "fa7f7fffff",
                          "fa7f800000",
                          "fa7fc00000",  // and of 32
                          "faff800000",  //
                          "fb7ff0000000000000",
                          "fb7ff8000000000000",
                          "fbfff0000000000000",  // Infinity, NaN
                          "f7",
                          "f0",
                          "f818",
                          "f8ff",  // simple values
                          "c074323031332d30332d32315432303a30343a30305a",
                          "c11a514b67b0",  // other tags
                          "c1fb41d452d9ec200000",
                          "d74401020304",
                          "d818456449455446",                                    //
                          "d82076687474703a2f2f7777772e6578616d706c652e636f6d",  //
                          "a201020304",                                          // keys that are no text
                          "5f42010243030405ff",
                          "7f657374726561646d696e67ff",
                          "9fff",  // indefinite lengths
                          "9f018202039f0405ffff",
                          "9f01820203820405ff",
                          "83018202039f0405ff",
                          "83019f0203ff820405",
                          "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
                          "bf61610161629f0203ffff",
                          "826161bf61626163ff",
                          "bf6346756ef563416d7421ff"}) {
    EXPECT_EQ(validate_hex(hex).error().code, errc::malformed) << hex;
  }
}

const std::string a_link = "d82a58250001711220" + std::string(64, '7');

TEST(cbor_rules, each_rule_has_an_item_that_only_it_refuses) {
  struct {
    std::string hex;     // the item
    std::string offset;  // where it is wrong
    std::string words;   // and what the error says about it
  } const rules[] = {
      {"", "offset 0", "an item is expected, but the input ends"},
      {"8201", "offset 0", "more items than there are octets left"},
      {"820182", "offset 2", "more items than"},
      {"a2616100", "offset 0", "more items than"},  // an entry takes two octets
      {"1800", "offset 0", "shortest form"},
      {"1817", "offset 0", "shortest form"},
      {"1900ff", "offset 0", "shortest form"},
      {"1a0000ffff", "offset 0", "shortest form"},
      {"1b00000000ffffffff", "offset 0", "shortest form"},
      {"3817", "offset 0", "shortest form"},
      {"580100", "offset 0", "shortest form"},
      {"780161", "offset 0", "shortest form"},
      {"980101", "offset 0", "shortest form"},
      {"b801616101", "offset 0", "shortest form"},
      {"d9002a58250001711220" + std::string(64, '7'), "offset 0", "shortest form"},
      {"19ff", "offset 0", "ends inside of an item's head"},
      {"fb40", "offset 0", "ends inside of an item's head"},
      {"1c", "offset 0", "reserved"},
      {"3d", "offset 0", "reserved"},
      {"5e", "offset 0", "reserved"},
      {"1f", "offset 0", "reserved"},
      {"df00", "offset 0", "reserved"},
      {"5f4100ff", "offset 0", "definite length"},
      {"7f6161ff", "offset 0", "definite length"},
      {"9f01ff", "offset 0", "definite length"},
      {"bf616101ff", "offset 0", "definite length"},
      {"ff", "offset 0", "break"},
      {"81ff", "offset 1", "break"},
      {"f7", "offset 0", "undefined"},
      {"e0", "offset 0", "only false, true and null"},
      {"f3", "offset 0", "only false, true and null"},
      {"f820", "offset 0", "only false, true and null"},
      {"fc", "offset 0", "only false, true and null"},
      {"f93c00", "offset 0", "64 bits"},
      {"fa3f800000", "offset 0", "64 bits"},
      {"fb7ff8000000000000", "offset 0", "finite"},
      {"fb7ff0000000000001", "offset 0", "finite"},
      {"fb7ff0000000000000", "offset 0", "finite"},
      {"fbfff0000000000000", "offset 0", "finite"},
      {"42ff", "offset 0", "longer than the octets that are left"},
      {"6361", "offset 0", "longer than the octets that are left"},
      {"5bffffffffffffffff00", "offset 0", "longer than the octets that are left"},
      {"9bffffffffffffffff00", "offset 0", "more items than"},
      {"bbffffffffffffffff0000", "offset 0", "more items than"},
      {"a16161", "offset 3", "but the input ends"},
      {"a1", "offset 0", "more items than"},
      {"62c328", "offset 0", "UTF-8"},
      {"63eda080", "offset 0", "UTF-8"},
      {"62c080", "offset 0", "UTF-8"},
      {"a161ff00", "offset 1", "UTF-8"},
      {"a10001", "offset 1", "text is expected as the key"},
      {"a1416101", "offset 1", "text is expected as the key"},
      {"a2616101616102", "offset 4", "repeats"},
      {"a2616201616102", "offset 4", "in order"},
      {"a262616101616202", "offset 5", "in order"},
      {"c0", "offset 0", "of the tags"},
      {"d82b00", "offset 0", "of the tags"},
      {"d9d9f700", "offset 0", "of the tags"},  // "self-described CBOR"
      {"d82a", "offset 0", "but the input ends"},
      {"d82a00", "offset 0", "byte string that begins with 0x00"},
      {"d82a6100", "offset 0", "byte string that begins with 0x00"},
      {"d82a40", "offset 0", "byte string that begins with 0x00"},
      {"d82a582401711220" + std::string(64, '7'), "offset 0", "byte string that begins with 0x00"},
      {"d82a58250101711220" + std::string(62, '7') + "00", "offset 0", "begins with 0x00"},
      {"d82a4100", "offset 0", "well-formed CID"},
      {"d82a58260001711220" + std::string(66, '7'), "offset 0", "well-formed CID"},
      {"d82a58240001711220" + std::string(62, '7'), "offset 0", "well-formed CID"},
      {"d82a58250002711220" + std::string(64, '7'), "offset 0", "well-formed CID"},
      {"d82a58260001f100"
       "1220" +
           std::string(64, '7'),
       "offset 0", "well-formed CID"},
      {"0000", "offset 1", "the end is expected, 1 more octets"},
      {a_link + "f6", "offset 41", "the end is expected, 1 more octets"},
  };
  for (const auto& [hex, offset, words] : rules) {
    const auto valid = validate_hex(hex);
    ASSERT_FALSE(valid) << hex;
    EXPECT_EQ(valid.error().code, errc::malformed) << hex;
    EXPECT_NE(valid.error().message.find(offset + ": "), std::string::npos) << hex << ": " << valid.error().message;
    EXPECT_NE(valid.error().message.find(words), std::string::npos) << hex << ": " << valid.error().message;
  }
}

// The neighbours of the refused items above that are just inside the rules.
TEST(cbor_rules, what_is_just_inside_the_rules_is_accepted) {
  for (const std::string& hex : std::vector<std::string>{"17",
                                                         "1818",
                                                         "18ff",
                                                         "190100",
                                                         "19ffff",
                                                         "1a00010000",
                                                         "1affffffff",
                                                         "1b0000000100000000",
                                                         "3bffffffffffffffff",
                                                         "fb0000000000000000",
                                                         "fb8000000000000000",  // 0.0 and -0.0
                                                         "fb7fefffffffffffff",
                                                         "fb0000000000000001",  // the largest and the smallest
                                                         "a3"
                                                         "6000"
                                                         "616101"
                                                         "616202",  // the empty key comes first
                                                         "a2"
                                                         "617a00"
                                                         "62616100",  // shorter first: "z" before "aa"
                                                         "a2"
                                                         "617a00"
                                                         "62c3bc00",
                                                         "a2"
                                                         "62617a00"
                                                         "62c3bc00",  // then bytewise, unsigned
                                                         "6100",
                                                         "617f",
                                                         a_link,
                                                         "82" + a_link + a_link}) {
    const auto valid = validate_hex(hex);
    EXPECT_TRUE(valid) << hex << ": " << valid.error().message;
  }
}

TEST(cbor_rules, a_link_in_somebodys_object_may_be_of_any_kind) {
  const std::string digest(64, '7');
  const std::pair<std::string, const char*> links[] = {
      {"d82a5823"
       "00"
       "1220" +
           digest,
       "a CIDv0"},
      {"d82a5825"
       "00"
       "01701220" +
           digest,
       "dag-pb"},
      {"d82a5826"
       "00"
       "01a9021220" +
           digest,
       "dag-json"},
      {"d82a5827"
       "00"
       "0155a0e40220" +
           digest,
       "blake2b-256"},
      {"d82a5845"
       "00"
       "01551340" +
           digest + digest,
       "sha2-512"},
      {"d82a45"
       "00"
       "01550000",
       "the identity hash of nothing"},
  };
  for (const auto& [hex, what] : links) {
    const bytes item = *from_hex(hex);
    EXPECT_TRUE(validate(item)) << what << ": " << validate(item).error().message;
    reader from(item);
    EXPECT_EQ(from.link().error().code, errc::unsupported) << what;
    EXPECT_EQ(from.offset(), 0u) << "a call that fails takes nothing";
    EXPECT_EQ(from.skip()->size(), item.size());
  }
}

std::string nested(int levels, const std::string& open, const std::string& inside) {
  std::string hex;
  for (int i = 0; i < levels; ++i) hex += open;
  return hex + inside;
}

TEST(cbor_rules, nesting_is_accepted_up_to_the_limit_and_refused_beyond) {
  for (const std::string open : {"81", "a16161"}) {
    EXPECT_TRUE(validate_hex(nested(limits::cbor_depth_max, open, "00")));
    EXPECT_TRUE(validate_hex(nested(limits::cbor_depth_max - 1, open, "80")));
    EXPECT_EQ(validate_hex(nested(limits::cbor_depth_max, open, "80")).error().code, errc::too_large);
    EXPECT_EQ(validate_hex(nested(limits::cbor_depth_max + 1, open, "00")).error().code, errc::too_large);
    // Far beyond it the stack would not hold if the reader went on.
    EXPECT_EQ(validate_hex(nested(1'000'000, open, "00")).error().code, errc::too_large);
  }
}

// Every input of one, two and three octets: how many are items can be counted by hand, and each that is accepted is
// the one spelling of what it says.
TEST(cbor_rules, of_all_short_inputs_exactly_the_valid_ones_are_accepted) {
  // 24 small integers of each sign; the empty string, text, array and map; false, true and null.
  constexpr std::size_t one = 24 + 24 + 4 + 3;
  // An integer of each sign in 24..255; a string of one octet; a text of one ASCII character; an array of one item.
  constexpr std::size_t two = 232 + 232 + 256 + 128 + one;
  // An integer of each sign in 256..65535; a string of two octets; a text of two ASCII characters or one of two
  // octets; arrays of one and of two items; a map from the empty text to an item.
  constexpr std::size_t three = 65280 + 65280 + 65536 + (128 * 128 + 30 * 64) + two + one * one + one;
  const std::size_t expected[] = {one, two, three};

  for (std::size_t size = 1; size <= 3; ++size) {
    std::size_t accepted = 0;
    for (std::uint32_t all = 0; all < 1u << (8 * size); ++all) {
      std::uint8_t input[3];
      for (std::size_t i = 0; i < size; ++i) {
        input[i] = static_cast<std::uint8_t>(all >> (8 * (size - 1 - i)));
      }
      const bytes_view item(input, size);
      std::size_t at = 0;
      if (internal::skip_cbor_item(item, at) != nullptr || at != size) continue;
      ++accepted;
      if (size < 3 || accepted % 64 == 0) {
        ASSERT_EQ(testing::encode(*testing::decode(item)), to_bytes(item)) << to_hex(item);
      }
    }
    EXPECT_EQ(accepted, expected[size - 1]) << size << " octets";
  }
}

}  // namespace
}  // namespace weir::cbor
