#include <weir/store/statement.h>

#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/hex.h>
#include <weir/core/limits.h>

namespace weir::store {
namespace {

// The worked example of docs/formats/statement.md. The octets were put together by hand from the rules of DAG-CBOR and
// hashed by another program; the key is the first of RFC 8032, section 7.1.
constexpr std::string_view example_hex =
    "a7"
    "6464657073"
    "80"
    "6472656673"
    "81"
    "66"
    "64706c613a31"
    "6474616773"
    "81"
    "63"
    "6d6170"
    "666f626a656374"
    "d82a5825"
    "00"
    "01551220"
    "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    "696e616d657370616365"
    "6b"
    "696d616765732e64706c61"
    "697075626c6973686572"
    "5820"
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    "6974696d657374616d70"
    "1a583e1680";
constexpr std::string_view example_id = "bafyreigz6tzdr77sxl4rszkjwxqg4a3yxcpmx5sjvlzrbyv7zp5igg2xem";

statement example() {
  statement s;
  EXPECT_TRUE(from_hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", s.publisher.octets));
  s.name_space = "images.dpla";
  s.object = *cid::parse("bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6am");
  s.refs = {"dpla:1"};
  s.tags = {"map"};
  s.timestamp = 1480464000;
  return s;
}

bytes example_octets() { return *from_hex(example_hex); }

TEST(statement, has_the_octets_and_the_id_of_the_documented_example) {
  const auto encoded = encode(example());
  ASSERT_TRUE(encoded);
  EXPECT_EQ(to_hex(*encoded), example_hex);
  EXPECT_EQ(cid::of(codec::dag_cbor, *encoded).text(), example_id);
  EXPECT_EQ(*decode_statement(*encoded), example());
}

TEST(statement, every_prefix_of_its_octets_is_refused) {
  const bytes whole = example_octets();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = decode_statement(bytes_view(whole).first(size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, errc::malformed) << size;
  }
}

TEST(statement, octets_behind_its_end_are_refused) {
  bytes longer = example_octets();
  longer.push_back(0xf6);
  EXPECT_EQ(decode_statement(longer).error().code, errc::malformed);
}

// A changed octet either makes something that is not a statement, or another statement, whose one encoding it then is.
TEST(statement, every_changed_octet_is_refused_or_is_another_statement) {
  const bytes whole = example_octets();
  std::size_t others = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (unsigned flip = 1; flip < 256; ++flip) {
      bytes changed = whole;
      changed[at] ^= static_cast<std::uint8_t>(flip);
      const auto read = decode_statement(changed);
      if (!read) continue;
      ++others;
      ASSERT_NE(*read, example()) << at;
      ASSERT_EQ(*encode(*read), changed) << at;
    }
  }
  EXPECT_GT(others, 68u * 255u);  // the octets of the publisher and of the object's digest and timestamp are free
}

rc::Gen<std::string> some_text() {
  return rc::gen::suchThat(rc::gen::container<std::string>(rc::gen::inRange(' ', '~')),
                           [](const std::string& s) { return !s.empty(); });
}

RC_GTEST_PROP(statement, any_statement_reads_back_as_it_was, ()) {
  statement s;
  s.publisher.octets = *rc::gen::container<std::array<std::uint8_t, 32>>(rc::gen::arbitrary<std::uint8_t>());
  s.name_space = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcXYZ019-"))));
  const auto some_cid = rc::gen::apply(
      [](bool raw, std::array<std::uint8_t, 32> hash) { return cid(raw ? codec::raw : codec::dag_cbor, hash); },
      rc::gen::arbitrary<bool>(), rc::gen::container<std::array<std::uint8_t, 32>>(rc::gen::arbitrary<std::uint8_t>()));
  s.object = *some_cid;
  s.refs = *rc::gen::unique<std::vector<std::string>>(some_text());
  s.tags = *rc::gen::unique<std::vector<std::string>>(some_text());
  s.deps = *rc::gen::unique<std::vector<cid>>(some_cid);
  s.timestamp = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 63);
  const auto encoded = encode(s);
  RC_ASSERT(encoded.ok());
  const auto read = decode_statement(*encoded);
  RC_ASSERT(read.ok());
  RC_ASSERT(*read == s);
}

TEST(statement, a_list_that_repeats_itself_is_refused_both_ways) {
  statement s = example();
  s.refs = {"a", "b", "a"};
  EXPECT_EQ(encode(s).error().code, errc::invalid_argument);
  s.refs.clear();
  for (int i = 0; i < 20; ++i) s.refs.push_back("r" + std::to_string(i));
  ASSERT_TRUE(encode(s));
  s.refs.push_back("r7");
  EXPECT_EQ(encode(s).error().code, errc::invalid_argument);
  s = example();
  s.deps = {s.object, s.object};
  EXPECT_EQ(encode(s).error().code, errc::invalid_argument);

  // refs ["a","a"] in place of ["dpla:1"]
  std::string hex(example_hex);
  hex.replace(hex.find("816664706c613a31"), 16, "8261616161");
  EXPECT_EQ(decode_statement(*from_hex(hex)).error().code, errc::malformed);
}

TEST(statement, texts_are_not_empty_and_are_utf8) {
  statement s = example();
  s.tags = {""};
  EXPECT_EQ(encode(s).error().code, errc::invalid_argument);
  s.tags = {"\xff"};
  EXPECT_EQ(encode(s).error().code, errc::invalid_argument);
  s.tags = {"Gem\xc3\xa4lde"};
  EXPECT_TRUE(encode(s));
}

TEST(statement, each_limit_is_kept_both_ways) {
  statement s = example();
  s.refs = {std::string(limits::ref_bytes_max, 'x')};
  ASSERT_TRUE(encode(s));
  EXPECT_TRUE(decode_statement(*encode(s)));
  s.refs = {std::string(limits::ref_bytes_max + 1, 'x')};
  EXPECT_EQ(encode(s).error().code, errc::too_large);

  s = example();
  s.refs.clear();
  for (std::size_t i = 0; i < limits::refs_max; ++i) s.refs.push_back(std::to_string(i));
  ASSERT_TRUE(encode(s));
  s.refs.push_back("more");
  EXPECT_EQ(encode(s).error().code, errc::too_large);

  s = example();
  s.timestamp = std::uint64_t{1} << 63;
  EXPECT_EQ(encode(s).error().code, errc::too_large);

  // Within each limit by itself, but too much together.
  s = example();
  for (int i = 0; i < 70; ++i) s.tags.push_back(std::string(1000, 'x') + std::to_string(i));
  EXPECT_EQ(encode(s).error().code, errc::too_large);
  EXPECT_EQ(decode_statement(bytes(limits::statement_bytes_max + 1)).error().code, errc::too_large);

  // A count is compared with its limit before anything is set aside for it.
  std::string hex(example_hex);
  hex.replace(hex.find("816664706c613a31"), 2, "990101");
  EXPECT_FALSE(decode_statement(*from_hex(hex)));
}

TEST(statement, a_namespace_is_dotted_parts_of_letters_digits_and_dashes) {
  for (const std::string_view good : {"a", "images.dpla", "A-1.b.c", "0", "-"})
    EXPECT_TRUE(check_namespace(good)) << good;
  for (const std::string_view bad : {"", ".", "a.", ".a", "a..b", "a b", "a_b", "a.*", "*", "\xc3\xa4", "a/b"})
    EXPECT_EQ(check_namespace(bad).error().code, errc::invalid_argument) << bad;
  EXPECT_TRUE(check_namespace(std::string(limits::namespace_bytes_max, 'a')));
  EXPECT_FALSE(check_namespace(std::string(limits::namespace_bytes_max + 1, 'a')));
  statement s = example();
  s.name_space = "a..b";
  EXPECT_EQ(encode(s).error().code, errc::invalid_argument);
  std::string hex(example_hex);
  hex.replace(hex.find("696d616765732e64706c61"), 22, "696d616765732e2e706c61");
  EXPECT_EQ(decode_statement(*from_hex(hex)).error().code, errc::malformed);
}

}  // namespace
}  // namespace weir::store
