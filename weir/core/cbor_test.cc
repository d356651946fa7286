// The reader and the writer, call by call.
#include <weir/core/cbor.h>

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <weir/core/hex.h>

namespace weir::cbor {
namespace {

class hex_reader : public reader {
 public:
  explicit hex_reader(std::string_view hex) : hex_reader(from_hex(hex).value(), 0) {}

 private:
  // The base needs the octets, which a member would only hold after it.
  hex_reader(bytes octets, int) : reader(octets), kept_(std::move(octets)) {}
  bytes kept_;
};

TEST(cbor_reader, tells_the_kind_of_the_next_item_without_taking_it) {
  const std::pair<const char*, kind> kinds[] = {
      {"00", kind::unsigned_integer},
      {"20", kind::negative},
      {"40", kind::byte_string},
      {"60", kind::text},
      {"80", kind::array},
      {"a0", kind::map},
      {"d82a4100", kind::link},
      {"f4", kind::boolean},
      {"f5", kind::boolean},
      {"f6", kind::null},
      {"fb3ff0000000000000", kind::floating},
  };
  for (const auto& [hex, expected] : kinds) {
    hex_reader from(hex);
    EXPECT_EQ(*from.peek(), expected) << hex;
    EXPECT_EQ(from.offset(), 0u);
  }
  EXPECT_EQ(hex_reader("").peek().error().code, errc::malformed);
  EXPECT_EQ(hex_reader("f7").peek().error().code, errc::malformed);
}

TEST(cbor_reader, an_item_of_another_kind_is_refused_by_name_and_stays) {
  hex_reader from("6161");
  EXPECT_EQ(from.unsigned_integer().error().message,
            "DAG-CBOR at offset 0: an unsigned integer is expected, a text is there");
  EXPECT_EQ(from.integer().error().message, "DAG-CBOR at offset 0: an integer is expected, a text is there");
  EXPECT_FALSE(from.negative());
  EXPECT_FALSE(from.boolean());
  EXPECT_FALSE(from.null());
  EXPECT_FALSE(from.floating());
  EXPECT_FALSE(from.byte_string());
  EXPECT_FALSE(from.link());
  EXPECT_FALSE(from.array());
  EXPECT_FALSE(from.map());
  EXPECT_FALSE(from.end());
  EXPECT_EQ(from.offset(), 0u);
  EXPECT_EQ(*from.text(), "a");
  EXPECT_TRUE(from.end());
  EXPECT_FALSE(hex_reader("00").text());
  EXPECT_FALSE(hex_reader("f6").boolean());
  EXPECT_FALSE(hex_reader("f4").null());
}

TEST(cbor_reader, integers_reach_the_ends_of_64_bits_with_a_sign_and_no_further) {
  EXPECT_EQ(*hex_reader("1b7fffffffffffffff").integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*hex_reader("3b7fffffffffffffff").integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(hex_reader("1b8000000000000000").integer().error().code, errc::too_large);
  EXPECT_EQ(hex_reader("3b8000000000000000").integer().error().code, errc::too_large);
  EXPECT_EQ(*hex_reader("1b8000000000000000").unsigned_integer(), std::uint64_t{1} << 63);
  EXPECT_EQ(*hex_reader("3b8000000000000000").negative(), std::uint64_t{1} << 63);
  EXPECT_EQ(*hex_reader("20").integer(), -1);
  EXPECT_EQ(*hex_reader("00").integer(), 0);
}

TEST(cbor_reader, views_borrow_from_the_input) {
  const bytes input = *from_hex("82616142ff00");
  reader from(input);
  EXPECT_EQ(*from.array(), 2u);
  EXPECT_EQ(static_cast<const void*>(from.text()->data()), input.data() + 2);
  EXPECT_EQ(from.byte_string()->data(), input.data() + 4);
  EXPECT_TRUE(from.end());
}

TEST(cbor_reader, keys_must_come_in_canonical_order) {
  hex_reader good(
      "a3"
      "616101"
      "616201"
      "62616101");
  ASSERT_EQ(*good.map(), 3u);
  std::string previous;
  for (const char* expected : {"a", "b", "aa"}) {
    const auto key = good.key(previous, previous.empty());
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ(*key, expected);
    previous = *key;
    EXPECT_TRUE(good.unsigned_integer());
  }
  hex_reader wrong("6161");
  EXPECT_FALSE(wrong.key("b", false));
  EXPECT_FALSE(wrong.key("aa", false));
  EXPECT_FALSE(wrong.key("a", false)) << "repeated";
  EXPECT_EQ(wrong.offset(), 0u);
  EXPECT_TRUE(wrong.key("zz", true)) << "the first key has none before it";
  hex_reader empty("60");
  EXPECT_FALSE(empty.key("", false)) << "the empty key repeated";
  EXPECT_TRUE(empty.key("", true));
}

TEST(cbor_reader, a_key_expected_by_name_is_taken_or_named) {
  hex_reader from("6161");
  EXPECT_EQ(from.key("object").error().message, "DAG-CBOR at offset 0: the key 'object' is expected, 'a' is there");
  EXPECT_EQ(from.offset(), 0u);
  EXPECT_TRUE(from.key("a"));
  // What a peer sends is shown cut short and without anything that a terminal obeys.
  hex_reader hostile(
      "784f"
      "1b5b324a" +
      std::string(150, '6'));
  EXPECT_EQ(hostile.key("a").error().message,
            "DAG-CBOR at offset 0: the key 'a' is expected, '?[2J" + std::string(36, 'f') + "...' is there");
}

TEST(cbor_reader, skip_gives_the_octets_of_one_whole_item) {
  hex_reader from("a1616182010283");
  EXPECT_EQ(to_hex(*from.skip()), "a16161820102");
  EXPECT_EQ(from.offset(), 6u);
  EXPECT_FALSE(from.skip());
  EXPECT_EQ(from.offset(), 6u) << "a call that fails takes nothing";
}

TEST(cbor_reader, says_where_in_a_nested_item_the_flaw_is) {
  EXPECT_EQ(validate(*from_hex("a2616182018162c32800")).error().message,
            "DAG-CBOR at offset 6: valid UTF-8 is expected in a text");
}

TEST(cbor_writer, spells_every_kind) {
  bytes out;
  {
    writer to(out);
    to.map(9)
        .key("a")
        .unsigned_integer(500)
        .key("b")
        .integer(-500)
        .key("c")
        .boolean(true)
        .key("d")
        .null()
        .key("e")
        .floating(-0.5)
        .key("f")
        .text("x")
        .key("g")
        .byte_string(bytes{1, 2})
        .key("h")
        .array(2)
        .array(0)
        .map(0)
        .key("i")
        .encoded(bytes{0x81, 0x00});
  }
  EXPECT_EQ(to_hex(out),
            "a9"
            "6161"
            "1901f4"
            "6162"
            "3901f3"
            "6163"
            "f5"
            "6164"
            "f6"
            "6165"
            "fbbfe0000000000000"
            "6166"
            "6178"
            "6167"
            "420102"
            "6168"
            "82"
            "80"
            "a0"
            "6169"
            "8100");
}

TEST(cbor_writer, lengths_and_numbers_take_their_shortest_form) {
  const std::pair<std::uint64_t, const char*> numbers[] = {
      {0, "00"},
      {23, "17"},
      {24, "1818"},
      {255, "18ff"},
      {256, "190100"},
      {65535, "19ffff"},
      {65536, "1a00010000"},
      {4294967295, "1affffffff"},
      {4294967296, "1b0000000100000000"},
      {~std::uint64_t{0}, "1bffffffffffffffff"},
  };
  for (const auto& [number, hex] : numbers) {
    bytes out;
    writer(out).unsigned_integer(number);
    EXPECT_EQ(to_hex(out), hex);
  }
  bytes out;
  writer(out).integer(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(to_hex(out), "3b7fffffffffffffff");
  out.clear();
  writer(out).negative(~std::uint64_t{0});
  EXPECT_EQ(to_hex(out), "3bffffffffffffffff");
  for (const std::size_t size : {23u, 24u, 255u, 256u, 65535u, 65536u}) {
    out.clear();
    writer(out).text(std::string(size, 'x'));
    EXPECT_TRUE(validate(out)) << size;
  }
}

TEST(cbor_writer, links_are_tag_42_with_a_zero_before_the_cid) {
  bytes out;
  const cid id = cid::of(codec::dag_cbor, bytes{0xa0});
  writer(out).link(id);
  EXPECT_EQ(to_hex(out), "d82a582500" + to_hex(id.binary()));
  reader from(out);
  EXPECT_EQ(*from.link(), id);
  EXPECT_TRUE(from.end());
}

TEST(cbor_writer, several_items_may_follow_each_other_at_the_top) {
  bytes out;
  writer(out).null().array(1).null().text("x");
  EXPECT_EQ(to_hex(out), "f681f66178");
}

TEST(cbor_writer, reaches_the_depth_that_readers_accept) {
  bytes out;
  {
    writer to(out);
    for (int i = 0; i < limits::cbor_depth_max; ++i) to.array(1);
    to.null();
  }
  EXPECT_TRUE(validate(out));
}

#ifndef NDEBUG
TEST(cbor_writer_death, what_no_reader_would_accept_is_caught) {
  bytes out;
  EXPECT_DEATH(writer(out).map(2).key("b").null().key("a"), "") << "order";
  EXPECT_DEATH(writer(out).map(2).key("aa").null().key("b"), "") << "shorter first";
  EXPECT_DEATH(writer(out).map(2).key("a").null().key("a"), "") << "repeated";
  EXPECT_DEATH(writer(out).map(1).null(), "") << "an item where a key is due";
  EXPECT_DEATH(writer(out).map(1).key("a").key("b"), "") << "a key where an item is due";
  EXPECT_DEATH(writer(out).array(1).key("a"), "") << "a key in an array";
  EXPECT_DEATH(writer(out).key("a"), "") << "a key outside of a map";
  EXPECT_DEATH(writer(out).array(2).null(), "") << "fewer items than announced";
  EXPECT_DEATH(writer(out).map(1).key("a"), "") << "a key without its item";
  EXPECT_DEATH(writer(out).text("\xff"), "") << "not UTF-8";
  EXPECT_DEATH(writer(out).map(1).key("\xff"), "") << "not UTF-8";
  EXPECT_DEATH(writer(out).floating(std::nan("")), "") << "not finite";
  EXPECT_DEATH(writer(out).encoded({}), "") << "no item at all";
  EXPECT_DEATH(
      {
        writer to(out);
        for (int i = 0; i <= limits::cbor_depth_max; ++i) to.array(1);
      },
      "")
      << "too deep";
}
#endif

}  // namespace
}  // namespace weir::cbor
