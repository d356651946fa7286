// Hexadecimal, base32 and base58: each against published values, strictness, and the round trip of any octets.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/base32.h>
#include <weir/core/base58.h>
#include <weir/core/hex.h>

namespace weir {
namespace {

result<bytes> base32_bytes(std::string_view text) {
  bytes octets(base32_octets(text.size()));
  WEIR_CHECK(from_base32(text, octets));
  return octets;
}

std::string base32(bytes_view octets) {
  std::string text;
  append_base32(text, octets);
  return text;
}

TEST(hex, spells_octets_in_lower_case_and_reads_both) {
  EXPECT_EQ(to_hex(bytes{0x00, 0x09, 0xaf, 0xff}), "0009afff");
  EXPECT_EQ(*from_hex("0009afff"), (bytes{0x00, 0x09, 0xaf, 0xff}));
  EXPECT_EQ(*from_hex("0009AFFF"), (bytes{0x00, 0x09, 0xaf, 0xff}));
  EXPECT_EQ(to_hex({}), "");
  EXPECT_TRUE(from_hex("")->empty());
}

TEST(hex, refuses_half_octets_and_other_characters) {
  EXPECT_EQ(from_hex("abc").error().code, errc::malformed);
  for (const char* text : {"0g", "g0", "0 ", "0x", "/0", ":0", "@0", "`0", "\xc3\xa9"}) {
    EXPECT_EQ(from_hex(text).error().code, errc::malformed) << text;
  }
  EXPECT_EQ(from_hex("00112g").error().message, "no hexadecimal digit at offset 5");
  std::uint8_t two[2];
  EXPECT_FALSE(from_hex("001122", two));
}

// RFC 4648 §10, in lower case and without the padding.
TEST(base32, agrees_with_rfc_4648) {
  const std::pair<const char*, const char*> vectors[] = {
      {"", ""},
      {"f", "my"},
      {"fo", "mzxq"},
      {"foo", "mzxw6"},
      {"foob", "mzxw6yq"},
      {"fooba", "mzxw6ytb"},
      {"foobar", "mzxw6ytboi"},
  };
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(base32(as_bytes(plain)), encoded);
    EXPECT_EQ(as_text(*base32_bytes(encoded)), plain);
  }
}

TEST(base32, refuses_every_other_spelling) {
  EXPECT_FALSE(base32_bytes("MY")) << "upper case";
  EXPECT_FALSE(base32_bytes("my======")) << "padding";
  EXPECT_FALSE(base32_bytes("mz")) << "a bit after the last octet";
  EXPECT_FALSE(base32_bytes("m1")) << "'1' is not in the alphabet";
  EXPECT_FALSE(base32_bytes("m0"));
  EXPECT_FALSE(base32_bytes("m8"));
  for (const char* text : {"a", "aaa", "aaaaaa", "aaaaaaaaa"}) {
    EXPECT_FALSE(base32_bytes(text)) << text << " has a length that no encoder makes";
  }
}

// The vectors of draft-msporny-base58, and two with leading zeros from Bitcoin's own tests.
TEST(base58, agrees_with_published_values) {
  const std::pair<bytes, const char*> vectors[] = {
      {to_bytes("Hello World!"), "2NEpo7TZRRrLZSi2U"},
      {to_bytes("The quick brown fox jumps over the lazy dog."),
       "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z"},
      {*from_hex("0000287fb4cd"), "11233QC4"},
      {*from_hex("00000000000000000000"), "1111111111"},
      {*from_hex("00eb15231dfceb60925886b67d065299925915aeb172c06647"), "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"},
      {{}, ""},
  };
  for (const auto& [octets, text] : vectors) {
    EXPECT_EQ(to_base58(octets), text);
    EXPECT_EQ(*from_base58(text, 100), octets);
  }
}

TEST(base58, refuses_look_alikes_and_what_is_too_long) {
  for (const char* text : {"0", "O", "I", "l", "a b", "a-b"}) {
    EXPECT_EQ(from_base58(text, 10).error().code, errc::malformed) << text;
  }
  EXPECT_EQ(from_base58("11111", 4).error().code, errc::too_large);
  EXPECT_TRUE(from_base58("1111", 4));
}

RC_GTEST_PROP(text_forms, any_octets_come_back, (const bytes& octets)) {
  RC_ASSERT(*from_hex(to_hex(octets)) == octets);
  RC_ASSERT(*base32_bytes(base32(octets)) == octets);
  const std::string text = to_base58(octets);
  RC_ASSERT(*from_base58(text, text.size()) == octets);
}

RC_GTEST_PROP(text_forms, whatever_base32_accepts_is_the_one_spelling, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcdefghijklmnopqrstuvwxyz234567")));
  const auto octets = base32_bytes(text);
  if (octets) RC_ASSERT(base32(*octets) == text);
}

}  // namespace
}  // namespace weir
