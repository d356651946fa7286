#include <weir/store/batch.h>

#include <algorithm>

#include <gtest/gtest.h>

#include <weir/core/limits.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using testing::blocks_of;
using testing::key_of;
using testing::parsed;
using testing::record_of;
using testing::records_of;
using testing::sealed;

const query& everything() {
  static const query q = parsed("SELECT * FROM *");
  return q;
}

errc code_of(unverified_batch blocks, const query& asked = everything()) {
  const auto verified = verify(std::move(blocks), asked);
  return verified ? errc{} : verified.error().code;
}

void rename(block& b) { b.id = cid::of(b.id.kind(), b.data); }

TEST(seal, makes_a_statement_of_each_record_and_a_bundle_of_each_1024) {
  const verified_batch batch = sealed(records_of("r", 1025), "a.b", 3, 77);
  ASSERT_EQ(batch.statements().size(), 1025u);
  ASSERT_EQ(batch.objects().size(), 1025u);
  ASSERT_EQ(batch.bundles().size(), 2u);
  EXPECT_EQ(batch.statements()[1023].bundle, 0u);
  EXPECT_EQ(batch.statements()[1024].bundle, 1u);
  const verified_batch::attested& first = batch.statements().front();
  EXPECT_EQ(first.what.name_space, "a.b");
  EXPECT_EQ(first.what.publisher, key_of(3).pub());
  EXPECT_EQ(first.what.timestamp, 77u);
  EXPECT_EQ(first.what.refs, std::vector<std::string>{"r0"});
  EXPECT_EQ(first.what.object, cid::of(codec::raw, as_bytes("r0")));
  EXPECT_EQ(first.id, cid::of(codec::dag_cbor, first.encoded));
  EXPECT_EQ(open_bundle(batch.bundles()[1].data)->statements, std::vector<digest>{batch.statements()[1024].id.hash()});
}

TEST(seal, says_the_same_thing_once_and_keeps_an_object_once) {
  const verified_batch batch = sealed({record_of("x", {"1"}), record_of("x", {"1"}), record_of("x", {"2"})});
  EXPECT_EQ(batch.statements().size(), 2u);
  EXPECT_EQ(batch.objects().size(), 1u);
}

TEST(seal, names_the_record_it_cannot_make_a_statement_of) {
  const auto long_ref = seal({record_of("x"), record_of("y", {std::string(2000, 'r')})}, "a", key_of(1), 1);
  EXPECT_EQ(long_ref.error().code, errc::too_large);
  EXPECT_NE(long_ref.error().message.find("record 2"), std::string::npos);
  record bad = record_of("\xff");
  bad.kind = codec::dag_cbor;
  EXPECT_EQ(seal({bad}, "a", key_of(1), 1).error().code, errc::malformed);
  record large;
  large.object.resize(limits::object_bytes_max + 1);
  EXPECT_EQ(seal({large}, "a", key_of(1), 1).error().code, errc::too_large);
  EXPECT_EQ(seal({record_of("x")}, "a..b", key_of(1), 1).error().code, errc::invalid_argument);
}

TEST(verify, passes_what_seal_made_unchanged) {
  const verified_batch made = sealed(records_of("r", 3));
  const auto read = verify(blocks_of(made), everything());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->statements().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->statements()[i].id, made.statements()[i].id);
    EXPECT_EQ(read->statements()[i].what, made.statements()[i].what);
    EXPECT_EQ(read->statements()[i].encoded, made.statements()[i].encoded);
    EXPECT_EQ(read->statements()[i].bundle, 0u);
    EXPECT_EQ(read->objects()[i].data, made.objects()[i].data);
  }
  EXPECT_EQ(read->bytes_held(), made.bytes_held());
  EXPECT_TRUE(verify({}, everything())->statements().empty());
}

TEST(verify, refuses_a_block_that_is_not_what_its_cid_says) {
  const unverified_batch good = blocks_of(sealed(records_of("r", 2)));
  unverified_batch bad = good;
  bad.objects[1].data.back() ^= 1;
  EXPECT_EQ(code_of(bad), errc::corrupt);
  bad = good;
  bad.statements[0].data.back() ^= 1;
  EXPECT_EQ(code_of(bad), errc::corrupt);
  bad = good;
  bad.bundles[0].data.back() ^= 1;
  EXPECT_EQ(code_of(bad), errc::corrupt);
  bad = good;
  bad.statements[0].id = cid(codec::raw, bad.statements[0].id.hash());
  EXPECT_EQ(code_of(bad), errc::malformed);
}

TEST(verify, names_the_block_that_is_at_fault) {
  unverified_batch bad = blocks_of(sealed(records_of("r", 2)));
  bad.objects[1].data.back() ^= 1;
  const auto refused = verify(bad, everything());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(bad.objects[1].id.text()), std::string::npos) << refused.error().message;
}

TEST(verify, refuses_a_bundle_whose_signature_does_not_hold) {
  unverified_batch bad = blocks_of(sealed(records_of("r", 2)));
  bad.bundles[0].data[60] ^= 1;  // within the signature; its CID is that of the changed octets
  rename(bad.bundles[0]);
  EXPECT_EQ(code_of(bad), errc::bad_signature);
}

TEST(verify, refuses_a_statement_that_no_bundle_lists) {
  unverified_batch bad = blocks_of(sealed(records_of("r", 2)));
  const unverified_batch other = blocks_of(sealed(records_of("s", 1)));
  bad.statements.push_back(other.statements[0]);
  EXPECT_EQ(code_of(bad), errc::bad_signature);
}

// Key 2 signs a list of key 1's statements: a fine bundle, but nobody can attest for somebody else.
TEST(verify, refuses_a_statement_that_only_somebody_else_attests) {
  const verified_batch genuine = sealed(records_of("r", 1), "a", 1);
  unverified_batch bad = blocks_of(genuine);
  const std::vector<digest> ids{genuine.statements()[0].id.hash()};
  bad.bundles[0].data = seal_bundle(key_of(2), ids);
  rename(bad.bundles[0]);
  EXPECT_EQ(code_of(bad), errc::unexpected);
  // Also beside a genuine bundle of its own.
  const verified_batch own = sealed(records_of("s", 1), "a", 2);
  const std::vector<digest> both{own.statements()[0].id.hash(), genuine.statements()[0].id.hash()};
  unverified_batch mixed = blocks_of(own);
  mixed.statements.push_back(blocks_of(genuine).statements[0]);
  mixed.objects.push_back(genuine.objects()[0]);
  mixed.bundles[0].data = seal_bundle(key_of(2), both);
  rename(mixed.bundles[0]);
  EXPECT_EQ(code_of(mixed), errc::bad_signature);
}

TEST(verify, refuses_a_statement_outside_of_the_query) {
  const unverified_batch blocks = blocks_of(sealed(records_of("r", 1), "imagesx.y"));
  EXPECT_EQ(code_of(blocks, parsed("SELECT * FROM images.*")), errc::outside_query);
  EXPECT_EQ(code_of(blocks, parsed("SELECT * FROM imagesx.* WHERE ref = other")), errc::outside_query);
  EXPECT_EQ(code_of(blocks, parsed("SELECT * FROM imagesx.* WHERE ref = r0 AND counter > 5 LIMIT 1")), errc{});
}

TEST(verify, refuses_what_nobody_asked_for) {
  unverified_batch bad = blocks_of(sealed(records_of("r", 1)));
  bad.bundles.push_back(blocks_of(sealed(records_of("s", 1))).bundles[0]);
  EXPECT_EQ(code_of(bad), errc::unexpected);
  bad = blocks_of(sealed(records_of("r", 1)));
  bad.objects.push_back(blocks_of(sealed(records_of("s", 1))).objects[0]);
  EXPECT_EQ(code_of(bad), errc::unexpected);
}

TEST(verify, refuses_blocks_over_their_limit_before_hashing_them) {
  unverified_batch bad = blocks_of(sealed(records_of("r", 1)));
  bad.objects[0].data.resize(limits::object_bytes_max + 1);
  EXPECT_EQ(code_of(bad), errc::too_large);
  bad = blocks_of(sealed(records_of("r", 1)));
  bad.statements[0].data.resize(limits::statement_bytes_max + 1);
  EXPECT_EQ(code_of(bad), errc::too_large);
  bad = blocks_of(sealed(records_of("r", 1)));
  bad.bundles[0].data.resize(1 << 20);
  EXPECT_EQ(code_of(bad), errc::too_large);
}

TEST(verify, takes_a_block_that_came_twice_once) {
  const verified_batch made = sealed(records_of("r", 2));
  unverified_batch blocks = blocks_of(made);
  blocks.statements.push_back(blocks.statements[0]);
  blocks.bundles.push_back(blocks.bundles[0]);
  blocks.objects.push_back(blocks.objects[1]);
  const auto read = verify(blocks, everything());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->statements().size(), 2u);
  EXPECT_EQ(read->bundles().size(), 1u);
  EXPECT_EQ(read->objects().size(), 2u);
  EXPECT_EQ(read->bytes_held(), made.bytes_held());
}

TEST(verify, objects_may_be_here_already_and_deps_may_come_along) {
  unverified_batch blocks = blocks_of(sealed(records_of("r", 2)));
  blocks.objects.clear();
  EXPECT_EQ(code_of(blocks), errc{});
  record with_dep = record_of("map");
  with_dep.deps = {cid::of(codec::raw, as_bytes("schema"))};
  blocks = blocks_of(sealed({with_dep}));
  blocks.objects.push_back({with_dep.deps[0], to_bytes("schema")});
  EXPECT_EQ(code_of(blocks), errc{});
}

}  // namespace
}  // namespace weir::store
