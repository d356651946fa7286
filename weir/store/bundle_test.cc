#include <string>

#include <gtest/gtest.h>

#include <weir/core/hex.h>
#include <weir/core/limits.h>
#include <weir/core/sha256.h>
#include <weir/store/statement.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using testing::key_of;

// The worked example of docs/formats/bundle.md: the statement of statement_test.cc, signed by another program (OpenSSL)
// with the first key of RFC 8032, section 7.1.
constexpr std::string_view example_hex =
    "a3"
    "697075626c6973686572"
    "5820"
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    "697369676e6174757265"
    "5840"
    "02e70593a18e3a7d843a0d26ba97f4fcc8ffce19560b4269a43f8eb11a89b265"
    "7423f823c01c13b94aad24c4ff7cc8d6fbec119f4591961379bc311b14af560b"
    "6a73746174656d656e7473"
    "81"
    "d82a5825"
    "00"
    "01711220"
    "d9f4f238fff2baf9196549b5e06e0378b89ecbf649aaf310e2bfcbfa831b5723";
constexpr std::string_view example_id = "bafyreifpsz62n4vqtxgekct6nynbjtz7764miw4u7otrm6lqz5cgqdjtl4";

key_pair example_key() {
  std::array<std::uint8_t, 32> seed;
  EXPECT_TRUE(from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", seed));
  return key_pair::from_seed(seed);
}

digest example_statement() {
  digest id;
  EXPECT_TRUE(from_hex("d9f4f238fff2baf9196549b5e06e0378b89ecbf649aaf310e2bfcbfa831b5723", id));
  return id;
}

std::vector<digest> some_ids(std::size_t count) {
  std::vector<digest> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(sha256(as_bytes(std::to_string(i))));
  return ids;
}

TEST(bundle, has_the_octets_and_the_id_of_the_documented_example) {
  const std::vector<digest> ids{example_statement()};
  const bytes block = seal_bundle(example_key(), ids);
  EXPECT_EQ(to_hex(block), example_hex);
  EXPECT_EQ(cid::of(codec::dag_cbor, block).text(), example_id);
  const auto opened = open_bundle(block);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->publisher, example_key().pub());
  EXPECT_EQ(opened->statements, ids);
}

TEST(bundle, every_prefix_and_every_changed_octet_is_refused) {
  const bytes whole = *from_hex(example_hex);
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_FALSE(open_bundle(bytes_view(whole).first(size))) << size;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes changed = whole;
      changed[at] ^= static_cast<std::uint8_t>(1 << bit);
      ASSERT_FALSE(open_bundle(changed)) << at << " bit " << bit;
    }
  }
  bytes longer = whole;
  longer.push_back(0);
  EXPECT_EQ(open_bundle(longer).error().code, errc::malformed);
}

TEST(bundle, keeps_the_order_of_up_to_1024_statements) {
  const std::vector<digest> ids = some_ids(limits::bundle_statements_max);
  const auto opened = open_bundle(seal_bundle(key_of(1), ids));
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->statements, ids);
}

// Blocks that only an attacker would sign: well signed, and still not bundles.
TEST(bundle, one_that_lists_nothing_or_too_much_or_twice_is_refused_however_well_signed) {
  std::vector<digest> twice = some_ids(3);
  twice.push_back(twice.front());
  EXPECT_EQ(open_bundle(seal_bundle(key_of(1), twice)).error().code, errc::malformed);

  // a2 "publisher" … "statements" 80: the empty list; the count is refused before the signature is looked at
  std::string hex(example_hex);
  hex.resize(hex.find("6a73746174656d656e7473") + 22);
  EXPECT_EQ(open_bundle(*from_hex(hex + "80")).error().code, errc::malformed);

  std::string many = hex + "990401";
  for (int i = 0; i < 1025; ++i) many += "d82a58250001711220" + to_hex(sha256(as_bytes(std::to_string(i))));
  EXPECT_EQ(open_bundle(*from_hex(many)).error().code, errc::too_large);

  // A link to raw octets cannot be a statement.
  std::string raw(example_hex);
  raw.replace(raw.find("01711220"), 8, "01551220");
  EXPECT_EQ(open_bundle(*from_hex(raw)).error().code, errc::malformed);
}

// What is signed begins with the name of what it is, so that no other signature of the same key, over the bare list
// say, passes for a bundle's.
TEST(bundle, a_signature_made_for_something_else_is_refused) {
  const key_pair key = example_key();
  bytes block = *from_hex(example_hex);
  const std::string list = std::string("a2697075626c6973686572") + "5820" + to_hex(key.pub().octets) +
                           "6a73746174656d656e747381d82a58250001711220" + to_hex(example_statement());
  const signature bare = key.sign(*from_hex(list));
  std::copy(bare.begin(), bare.end(), block.begin() + 1 + 10 + 34 + 10 + 2);
  EXPECT_EQ(open_bundle(block).error().code, errc::bad_signature);
  const signature other = key_of(2).sign(*from_hex("776569722d62756e646c652d763100" + list));
  std::copy(other.begin(), other.end(), block.begin() + 1 + 10 + 34 + 10 + 2);
  EXPECT_EQ(open_bundle(block).error().code, errc::bad_signature);
  const signature right = key.sign(*from_hex("776569722d62756e646c652d763100" + list));
  std::copy(right.begin(), right.end(), block.begin() + 1 + 10 + 34 + 10 + 2);
  EXPECT_TRUE(open_bundle(block));
}

}  // namespace
}  // namespace weir::store
