#include <weir/node/messages.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/merge/testing/samples.h>

namespace weir::node {
namespace {

using merge::testing::key_number;
using merge::testing::records;
using merge::testing::sealed;

digest filled(std::uint8_t value) {
  digest d;
  d.fill(value);
  return d;
}

status sample_status() {
  status now;
  now.who = {key_number(1).pub(), "1.2.3"};
  now.holds = {.statements = 1,
               .objects = 2,
               .bundles = 3,
               .object_bytes = 4,
               .counter = 5,
               .statement_set = filled(6),
               .object_set = filled(7)};
  now.listen = "127.0.0.1:9001";
  return now;
}

publication sample_publication() {
  auto some = records(0, 3);
  some[1].kind = codec::dag_cbor;
  some[1].object = {0xa0};
  some[2].deps = {cid::of(codec::raw, some[0].object)};
  return {"test.things", std::move(some), true};
}

store::row sample_row() {
  const auto batch = sealed(records(7, 1));
  const auto& said = batch.statements()[0];
  return {42, said.id, batch.bundles()[0].id.hash(), said.encoded};
}

TEST(messages, a_status_comes_back_as_it_was) {
  const auto back = decode_status(encode(sample_status()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->who.publisher, key_number(1).pub());
  EXPECT_EQ(back->who.version, "1.2.3");
  EXPECT_EQ(back->holds.statements, 1U);
  EXPECT_EQ(back->holds.objects, 2U);
  EXPECT_EQ(back->holds.bundles, 3U);
  EXPECT_EQ(back->holds.object_bytes, 4U);
  EXPECT_EQ(back->holds.counter, 5U);
  EXPECT_EQ(back->holds.statement_set, filled(6));
  EXPECT_EQ(back->holds.object_set, filled(7));
  EXPECT_EQ(back->listen, "127.0.0.1:9001");
}

TEST(messages, a_publication_comes_back_as_it_was) {
  const auto sent = sample_publication();
  const auto back = decode_publication(encode(sent));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->name_space, "test.things");
  EXPECT_TRUE(back->again);
  ASSERT_EQ(back->records.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back->records[i].kind, sent.records[i].kind);
    EXPECT_EQ(back->records[i].object, sent.records[i].object);
    EXPECT_EQ(back->records[i].refs, sent.records[i].refs);
    EXPECT_EQ(back->records[i].tags, sent.records[i].tags);
    EXPECT_EQ(back->records[i].deps, sent.records[i].deps);
  }
}

TEST(messages, the_other_messages_come_back_as_they_were) {
  const auto who = decode_identity(encode(identity{key_number(2).pub(), "0.1.0"}));
  ASSERT_TRUE(who);
  EXPECT_EQ(who->publisher, key_number(2).pub());
  EXPECT_EQ(who->version, "0.1.0");

  const auto done = decode_published(encode(published{{1, 2, 3, 4}, 5, {filled(1), filled(2)}}));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->wrote.statements, 1U);
  EXPECT_EQ(done->wrote.objects, 2U);
  EXPECT_EQ(done->wrote.bytes, 3U);
  EXPECT_EQ(done->wrote.already_here, 4U);
  EXPECT_EQ(done->said_before, 5U);
  EXPECT_EQ(done->ids, (std::vector{filled(1), filled(2)}));

  const auto order = decode_merge_order(encode(merge_order{"127.0.0.1:1", "SELECT * FROM a", 3}));
  ASSERT_TRUE(order);
  EXPECT_EQ(order->peer, "127.0.0.1:1");
  EXPECT_EQ(order->query, "SELECT * FROM a");
  EXPECT_EQ(order->lanes, 3U);

  const auto so_far = decode_progress(encode(merge::progress{1, 2, 3, 4, 0.5}));
  ASSERT_TRUE(so_far);
  EXPECT_EQ(so_far->listed, 1U);
  EXPECT_EQ(so_far->statements, 2U);
  EXPECT_EQ(so_far->objects, 3U);
  EXPECT_EQ(so_far->bytes, 4U);
  EXPECT_EQ(so_far->fraction, 0.5);

  store::damage broken;
  broken.dangling_objects = 1;
  broken.corrupt_objects = 2;
  broken.corrupt_statements = 3;
  broken.unattested = 4;
  broken.totals_differ = true;
  broken.first = {"one", "two"};
  const auto found = decode_damage(encode(broken));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dangling_objects, 1U);
  EXPECT_EQ(found->corrupt_objects, 2U);
  EXPECT_EQ(found->corrupt_statements, 3U);
  EXPECT_EQ(found->unattested, 4U);
  EXPECT_TRUE(found->totals_differ);
  EXPECT_EQ(found->first, broken.first);

  const auto row = decode_row(encode(sample_row()));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->counter, 42U);
  EXPECT_EQ(row->id, sample_row().id);
  EXPECT_EQ(row->bundle, sample_row().bundle);
  EXPECT_EQ(row->encoded, sample_row().encoded);
}

// Every message is DAG-CBOR that any strict reader takes; the keys' order is easily wrong in one of them.
TEST(messages, every_message_is_strict_dag_cbor) {
  for (const bytes& octets :
       {encode(sample_status()), encode(sample_publication()), encode(sample_row()), encode(identity{}),
        encode(published{}), encode(merge_order{}), encode(merge::progress{}), encode(store::damage{})}) {
    const auto valid = cbor::validate(octets);
    EXPECT_TRUE(valid) << valid.error().message;
  }
}

TEST(messages, a_publication_cut_short_anywhere_is_refused) {
  const bytes whole = encode(sample_publication());
  for (std::size_t cut = 0; cut < whole.size(); ++cut)
    EXPECT_FALSE(decode_publication(bytes_view(whole).first(cut))) << cut;
}

TEST(messages, more_records_than_a_publication_may_have_are_too_large) {
  publication many{"test.things", records(0, limits::batch_statements_max + 1, 1), false};
  const auto refused = decode_publication(encode(many));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_large);
}

TEST(messages, a_row_as_json_has_the_fields_of_the_documentation) {
  const auto line = row_json(sample_row());
  ASSERT_TRUE(line);
  const auto json = nlohmann::json::parse(*line);
  EXPECT_EQ(json.at("id"), sample_row().id.text());
  EXPECT_EQ(json.at("counter"), 42);
  EXPECT_EQ(json.at("publisher"), key_number(1).pub().text());
  EXPECT_EQ(json.at("namespace"), "test.things");
  EXPECT_EQ(json.at("refs"), nlohmann::json::array({"test:7"}));
  EXPECT_EQ(json.at("tags"), nlohmann::json::array({"sample"}));
  EXPECT_EQ(json.at("deps"), nlohmann::json::array());
  EXPECT_EQ(json.at("timestamp"), 1'700'000'000);
  EXPECT_EQ(json.at("bundle"), cid(codec::dag_cbor, sample_row().bundle).text());
  EXPECT_EQ(json.size(), 10U);
}

}  // namespace
}  // namespace weir::node
