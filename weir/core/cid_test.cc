#include <weir/core/cid.h>

#include <unordered_set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/base32.h>
#include <weir/core/hex.h>

namespace weir {
namespace {

// Known to every IPFS user: the raw and the dag-cbor CID of nothing much.
constexpr const char* empty_raw = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
constexpr const char* empty_map = "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua";

std::string with_prefix(bytes_view binary) {
  std::string text = "b";
  append_base32(text, binary);
  return text;
}

TEST(cid, agrees_with_known_values) {
  EXPECT_EQ(cid::of(codec::raw, {}).text(), empty_raw);
  EXPECT_EQ(cid::of(codec::dag_cbor, bytes{0xa0}).text(), empty_map);
  EXPECT_EQ(to_hex(cid::of(codec::raw, {}).binary()),
            "01551220e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(cid, text_and_binary_come_back) {
  for (const char* text : {empty_raw, empty_map}) {
    const auto read = cid::parse(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->text(), text);
    EXPECT_EQ(cid::from_binary(read->binary()).value(), *read);
    bytes appended{9};
    read->append_binary(appended);
    EXPECT_EQ(appended.size(), 1 + cid::binary_size);
  }
  EXPECT_EQ(cid::parse(empty_map)->kind(), codec::dag_cbor);
}

TEST(cid, every_length_but_the_right_one_is_malformed) {
  const auto binary = cid::of(codec::raw, {}).binary();
  for (std::size_t size = 0; size < binary.size(); ++size) {
    EXPECT_EQ(cid::from_binary(bytes_view(binary).first(size)).error().code, errc::malformed) << size;
  }
  bytes longer = to_bytes(bytes_view(binary));
  longer.push_back(0);
  EXPECT_EQ(cid::from_binary(longer).error().code, errc::malformed);
  const std::string text = empty_raw;
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(cid::parse(std::string_view(text).substr(0, size)).error().code, errc::malformed) << size;
  }
  EXPECT_EQ(cid::parse(text + "a").error().code, errc::malformed);
  EXPECT_EQ(cid::parse("b" + std::string(100'000, 'a')).error().code, errc::malformed);
}

TEST(cid, other_kinds_are_unsupported_and_named) {
  const auto refusal = [](const std::string& hex) { return cid::from_binary(*from_hex(hex)).error(); };
  const std::string hash(64, 'a');
  struct {
    std::string hex, word;
  } const cases[] = {
      {"1220" + hash, "CIDv0"},
      {"02551220" + hash, "version 2"},
      {"01701220" + hash, "codec 0x70"},            // dag-pb
      {"01a9021220" + hash, "codec 0x129"},         // dag-json
      {"01551320" + hash, "hash code 0x13"},        // sha2-512
      {"0155a0e40220" + hash, "hash code 0xb220"},  // blake2b-256
      {"01551210" + hash.substr(32), "16 octets"},
  };
  for (const auto& [hex, word] : cases) {
    EXPECT_EQ(refusal(hex).code, errc::unsupported) << hex;
    EXPECT_NE(refusal(hex).message.find(word), std::string::npos) << refusal(hex).message;
  }
  EXPECT_EQ(refusal("0155122055").code, errc::malformed);
  EXPECT_EQ(refusal("81005512"
                    "20" +
                    hash)
                .code,
            errc::malformed)
      << "a version that is not minimal";
}

TEST(cid, the_text_form_is_lower_case_base32_only) {
  EXPECT_EQ(cid::parse("QmdfTbBqBPQ7VNxZEYEj14VmRuZBkqFbiwReogJgS1zR1n").error().code, errc::unsupported);
  EXPECT_EQ(cid::parse("zb2rhe5P4gXftAwvA4eXQ5HJwsER2owDyS9sKaQRRVQPn93bA").error().code, errc::unsupported);
  EXPECT_EQ(cid::parse("BAFKREIHDWDCEFGH4DQKJV67UZCMW7OJEE6XEDZDETOJUZJEVTENXQUVYKU").error().code, errc::unsupported);
  std::string text = empty_raw;
  text[20] = 'A';
  EXPECT_EQ(cid::parse(text).error().code, errc::malformed);
  // 36 octets leave two bits of the last character; they must be zero.
  for (const char last : {'v', 'w', 'x'}) {
    text = empty_raw;
    text.back() = last;
    EXPECT_EQ(cid::parse(text).error().code, errc::malformed) << last;
  }
  const auto blake = *from_hex("0155a0e40220" + std::string(64, 'b'));
  EXPECT_EQ(cid::parse(with_prefix(blake)).error().code, errc::unsupported);
}

TEST(cid, is_an_ordered_value_for_maps_and_sets) {
  const cid a = cid::of(codec::raw, as_bytes("a"));
  const cid a_cbor(codec::dag_cbor, a.hash());
  EXPECT_NE(a, a_cbor);
  EXPECT_LT(a, a_cbor);
  const std::unordered_set<cid> set{a, a_cbor, cid::of(codec::raw, as_bytes("a"))};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(cid(), cid(codec::raw, digest{}));
}

RC_GTEST_PROP(cid, every_flipped_bit_is_refused_or_names_something_else, (const bytes& octets)) {
  const cid made = cid::of(codec::raw, octets);
  auto binary = made.binary();
  const auto bit = *rc::gen::inRange<std::size_t>(0, binary.size() * 8);
  binary[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
  const auto read = cid::from_binary(binary);
  if (read) {
    RC_ASSERT(*read != made);
    RC_ASSERT(read->binary() == binary);
  }
}

}  // namespace
}  // namespace weir
