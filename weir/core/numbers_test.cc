// Octet orders, varints and UTF-8.
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/endian.h>
#include <weir/core/hex.h>
#include <weir/core/utf8.h>
#include <weir/core/varint.h>

namespace weir {
namespace {

bytes varint(std::uint64_t value) {
  bytes out;
  append_varint(out, value);
  return out;
}

TEST(endian, big_puts_the_highest_octet_first_and_little_the_lowest) {
  std::uint8_t octets[9] = {};
  store_big<std::uint32_t>(octets + 1, 0x01020304);  // unaligned on purpose
  EXPECT_EQ(to_hex(octets), "000102030400000000");
  EXPECT_EQ(load_big<std::uint32_t>(octets + 1), 0x01020304u);
  EXPECT_EQ(load_little<std::uint32_t>(octets + 1), 0x04030201u);
  store_little<std::uint64_t>(octets, 0x0102030405060708);
  EXPECT_EQ(to_hex(octets), "080706050403020100");
  EXPECT_EQ(load_little<std::uint64_t>(octets), 0x0102030405060708u);
  EXPECT_EQ(load_big<std::uint16_t>(octets), 0x0807u);
  store_big<std::uint8_t>(octets, 9);
  EXPECT_EQ(load_little<std::uint8_t>(octets), 9u);
}

// The examples of the multiformats unsigned-varint page.
TEST(varint, agrees_with_published_values) {
  const std::pair<std::uint64_t, const char*> vectors[] = {
      {1, "01"},     {127, "7f"},       {128, "8001"}, {255, "ff01"},
      {300, "ac02"}, {16384, "808001"}, {0, "00"},     {std::numeric_limits<std::int64_t>::max(), "ffffffffffffffff7f"},
  };
  for (const auto& [value, hex] : vectors) {
    EXPECT_EQ(to_hex(varint(value)), hex);
    const auto read = read_varint(*from_hex(hex));
    ASSERT_TRUE(read) << hex;
    EXPECT_EQ(read->value, value);
    EXPECT_EQ(read->octets * 2, std::string_view(hex).size());
  }
}

TEST(varint, refuses_cut_long_and_padded_spellings) {
  for (const char* hex :
       {"", "80", "ffff", "8000", "818000", "ffffffffffffffffff01", "80808080808080808001", "ffffffffffffffff80"}) {
    EXPECT_FALSE(read_varint(*from_hex(hex))) << hex;
  }
}

TEST(varint, leaves_what_follows) { EXPECT_EQ(read_varint(*from_hex("ac02ff"))->octets, 2u); }

RC_GTEST_PROP(varint, what_is_read_is_the_one_spelling, (const bytes& octets)) {
  const auto read = read_varint(octets);
  if (read)
    RC_ASSERT(varint(read->value) == bytes(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(read->octets)));
}

bool utf8(const char* hex) { return is_utf8(as_text(*from_hex(hex))); }

TEST(utf8, accepts_the_first_and_last_character_of_each_length) {
  EXPECT_TRUE(is_utf8(""));
  for (const char* hex : {"00", "7f", "c280", "dfbf", "e0a080", "ed9fbf", "ee8080", "efbfbf", "f0908080", "f48fbfbf"}) {
    EXPECT_TRUE(utf8(hex)) << hex;
  }
}

TEST(utf8, refuses_what_rfc_3629_refuses) {
  const std::pair<const char*, const char*> cases[] = {
      {"80", "a continuation alone"},
      {"bf", "a continuation alone"},
      {"c080", "overlong NUL"},
      {"c1bf", "overlong 7f"},
      {"e09fbf", "overlong 7ff"},
      {"f08fbfbf", "overlong ffff"},
      {"eda080", "the first surrogate"},
      {"edbfbf", "the last surrogate"},
      {"f4908080", "above 10ffff"},
      {"f5808080", "above 10ffff"},
      {"f8888080", "five octets"},
      {"fe", "no UTF-8 at all"},
      {"ff", "no UTF-8 at all"},
      {"c3", "cut after one of two"},
      {"e6b0", "cut after two of three"},
      {"f09085", "cut after three of four"},
      {"c328", "no continuation"},
      {"e28228", "no second continuation"},
      {"f0908528", "no third continuation"},
      {"e2e282ac", "a new character too early"},
  };
  for (const auto& [hex, why] : cases) EXPECT_FALSE(utf8(hex)) << hex << ": " << why;
}

// The fast path looks at eight octets at once; a flaw must be seen at every place relative to them.
TEST(utf8, sees_a_flaw_at_every_offset) {
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      EXPECT_TRUE(is_utf8(text));
      text[at] = '\xff';
      EXPECT_FALSE(is_utf8(text)) << size << " " << at;
    }
  }
}

// All characters there are, and all two- and three-octet strings, against a decoder written from the definition.
TEST(utf8, agrees_with_the_definition_on_every_short_string) {
  const auto by_definition = [](std::uint8_t a, std::uint8_t b, std::uint8_t c) {
    const unsigned value = (a & 15u) << 12 | (b & 63u) << 6 | (c & 63u);
    return (a & 0xf0) == 0xe0 && (b & 0xc0) == 0x80 && (c & 0xc0) == 0x80 && value >= 0x800 &&
           (value < 0xd800 || value > 0xdfff);
  };
  std::size_t valid = 0;
  for (unsigned a = 0xe0; a <= 0xff; ++a) {
    for (unsigned b = 0; b <= 0xff; ++b) {
      for (unsigned c = 0; c <= 0xff; ++c) {
        const std::uint8_t octets[3] = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b),
                                        static_cast<std::uint8_t>(c)};
        const bool expected = by_definition(octets[0], octets[1], octets[2]);
        valid += expected;
        ASSERT_EQ(is_utf8(as_text(octets)), expected) << to_hex(octets);
      }
    }
  }
  EXPECT_EQ(valid, 0x10000u - 0x800 - 2048);
}

}  // namespace
}  // namespace weir
