// Items, digests and CIDs that the JavaScript packages made (tests/interop/core_vectors.mjs); the test of the same name
// among the interop tests compares with the packages themselves.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weir/core/cid.h>
#include <weir/core/file.h>
#include <weir/core/hex.h>
#include <weir/core/sha256.h>
#include <weir/core/testing/cbor_value.h>

namespace weir {
namespace {

nlohmann::json golden(const char* part) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../../tests/golden/core/vectors.json";
  return nlohmann::json::parse(read_file(path, 1 << 20).value()).at(part);
}

TEST(golden, what_javascript_writes_is_read_and_written_alike) {
  const auto items = golden("accepted");
  EXPECT_GE(items.size(), 30u);
  for (const auto& item : items) {
    const auto name = item.at("name").get<std::string>();
    const bytes octets = from_hex(item.at("octets").get<std::string>()).value();
    const auto value = testing::decode(octets);
    ASSERT_TRUE(value) << name << ": " << value.error().message;
    EXPECT_EQ(to_hex(testing::encode(*value)), to_hex(octets)) << name;
    EXPECT_EQ(to_hex(sha256(octets)), item.at("sha256").get<std::string>()) << name;
    EXPECT_EQ(cid::of(codec::raw, octets).text(), item.at("raw").get<std::string>()) << name;
    EXPECT_EQ(cid::of(codec::dag_cbor, octets).text(), item.at("dag_cbor").get<std::string>()) << name;
    EXPECT_EQ(cid::parse(item.at("dag_cbor").get<std::string>()).value(), cid::of(codec::dag_cbor, octets));
  }
}

TEST(golden, what_javascript_refuses_is_refused) {
  for (const auto& item : golden("refused")) {
    const bytes octets = from_hex(item.at("octets").get<std::string>()).value();
    EXPECT_FALSE(cbor::validate(octets)) << item.at("name");
  }
}

// Every prefix and every flipped bit of octets that we did not make ourselves.
TEST(golden, damaged_items_are_refused_or_the_one_spelling_of_another) {
  for (const auto& item : golden("accepted")) {
    const bytes whole = from_hex(item.at("octets").get<std::string>()).value();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      ASSERT_FALSE(cbor::validate(bytes_view(whole).first(size))) << item.at("name") << size;
    }
    if (whole.size() > 512) continue;
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
      bytes flipped = whole;
      flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      const auto value = testing::decode(flipped);
      if (!value) continue;
      ASSERT_EQ(testing::encode(*value), flipped) << item.at("name") << bit;
    }
  }
}

}  // namespace
}  // namespace weir
