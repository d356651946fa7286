// What a peer may send instead of what it was asked for, and what becomes of it: nothing of it is handed on.

#include <weir/merge/internal/fetcher.h>

#include <functional>

#include <gtest/gtest.h>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/merge/testing/samples.h>

namespace weir::merge::internal {
namespace {

using net::rsocket::payload;
using testing::records;
using testing::sealed;

// An exchange: what was asked for, and the blocks of an honest reply, which a test may change before they are sent.
struct exchange {
  fetch_request asked;
  std::vector<store::block> reply;
  std::string query = "SELECT * FROM test.*";

  explicit exchange(const store::verified_batch& batch) {
    for (const auto& bundle : batch.bundles()) {
      asked.bundles.push_back(bundle.id.hash());
      reply.push_back(bundle);
    }
    for (const auto& said : batch.statements()) {
      asked.statements.push_back(said.id.hash());
      reply.push_back({said.id, said.encoded});
    }
    for (const auto& object : batch.objects()) {
      asked.objects.push_back(object.id);
      reply.push_back(object);
    }
  }
  std::size_t first_statement() const { return asked.bundles.size(); }
  std::size_t first_object() const { return asked.bundles.size() + asked.statements.size(); }

  struct outcome {
    std::vector<store::verified_batch> batches;
    result<void> end;
  };
  outcome run(std::size_t blocks_per_payload = 3) const {
    std::vector<payload> payloads;
    for (std::size_t i = 0; i < reply.size(); ++i) {
      if (i % blocks_per_payload == 0) payloads.emplace_back();
      append_section(payloads.back().data, reply[i].id, reply[i].data);
    }
    return run(std::move(payloads));
  }
  outcome run(std::vector<payload> payloads) const {
    outcome got;
    got.end = flow::for_each(fetcher(flow::from_range(std::move(payloads)), asked,
                                     std::make_shared<store::query>(testing::query(query)), "the peer"),
                             [&](store::verified_batch&& batch) { got.batches.push_back(std::move(batch)); });
    return got;
  }
};

void expect_refused(const exchange& sent, errc code, std::string_view named) {
  const auto got = sent.run();
  ASSERT_FALSE(got.end);
  EXPECT_EQ(to_string(got.end.error().code), to_string(code)) << got.end.error().message;
  EXPECT_NE(got.end.error().message.find(named), std::string::npos) << got.end.error().message;
  for (const auto& batch : got.batches) EXPECT_TRUE(batch.statements().empty());
}

TEST(fetcher, an_honest_reply_is_handed_on_whole) {
  const auto batch = sealed(records(0, 20));
  for (std::size_t per_payload : {1U, 3U, 100U}) {
    const auto got = exchange(batch).run(per_payload);
    ASSERT_TRUE(got.end) << got.end.error().message;
    std::size_t statements = 0, objects = 0;
    for (const auto& part : got.batches) {
      statements += part.statements().size();
      objects += part.objects().size();
    }
    EXPECT_EQ(statements, 20U);
    EXPECT_EQ(objects, 20U);
  }
}

TEST(fetcher, statements_come_after_all_their_objects) {
  const auto got = exchange(sealed(records(0, 12, 1 << 20))).run();
  ASSERT_TRUE(got.end);
  // 12 MiB of objects do not fit what a fetch may hold, so they come in several batches.
  ASSERT_GT(got.batches.size(), 2U);
  for (std::size_t i = 0; i + 1 < got.batches.size(); ++i) {
    EXPECT_TRUE(got.batches[i].statements().empty());
    EXPECT_LT(got.batches[i].bytes_held(), limits::fetch_held_bytes + (1U << 20) + 1);
  }
  EXPECT_EQ(got.batches.back().statements().size(), 12U);
}

TEST(fetcher, an_object_with_a_flipped_bit_is_corrupt) {
  exchange sent(sealed(records(0, 5)));
  store::block& object = sent.reply[sent.first_object() + 2];
  object.data[7] ^= 1;
  expect_refused(sent, errc::corrupt, object.id.text());
}

TEST(fetcher, a_statement_with_a_flipped_bit_is_corrupt) {
  exchange sent(sealed(records(0, 5)));
  store::block& said = sent.reply[sent.first_statement() + 2];
  said.data.back() ^= 1;
  expect_refused(sent, errc::corrupt, said.id.text());
}

TEST(fetcher, a_bundle_with_a_wrong_signature_is_refused) {
  exchange sent(sealed(records(0, 5)));
  store::block& bundle = sent.reply[0];
  // The signature is 64 octets behind its key; the block is then renamed, so that only the signature is wrong.
  const auto at =
      std::search(bundle.data.begin(), bundle.data.end(), std::begin("signature"), std::end("signature") - 1);
  ASSERT_NE(at, bundle.data.end());
  *(at + 9 + 2 + 10) ^= 1;
  bundle.id = cid::of(codec::dag_cbor, bundle.data);
  sent.asked.bundles[0] = bundle.id.hash();
  expect_refused(sent, errc::bad_signature, bundle.id.text());
}

TEST(fetcher, a_statement_that_only_somebody_else_attests_is_refused) {
  const auto batch = sealed(records(0, 1));
  const digest listed[] = {batch.statements()[0].id.hash()};
  exchange sent(batch);
  sent.reply[0].data = store::seal_bundle(testing::key_number(2), listed);
  sent.reply[0].id = cid::of(codec::dag_cbor, sent.reply[0].data);
  sent.asked.bundles[0] = sent.reply[0].id.hash();
  const auto got = sent.run();
  ASSERT_FALSE(got.end);
  EXPECT_TRUE(got.batches.empty());
}

TEST(fetcher, a_statement_outside_the_query_is_refused) {
  exchange sent(sealed(records(0, 3), "other.things"));
  expect_refused(sent, errc::outside_query, "other.things");
}

TEST(fetcher, a_block_that_was_not_asked_for_is_refused) {
  exchange sent(sealed(records(0, 3)));
  const bytes stray = to_bytes("nobody wants this");
  sent.reply.push_back({cid::of(codec::raw, stray), stray});
  expect_refused(sent, errc::unexpected, sent.reply.back().id.text());
}

TEST(fetcher, blocks_in_another_order_are_refused) {
  exchange sent(sealed(records(0, 3)));
  std::swap(sent.reply[sent.first_object()], sent.reply[sent.first_object() + 1]);
  expect_refused(sent, errc::unexpected, sent.reply[sent.first_object()].id.text());
}

TEST(fetcher, an_object_that_no_statement_names_is_refused) {
  exchange sent(sealed(records(0, 3)));
  const bytes stray = to_bytes("nobody names this");
  sent.reply.push_back({cid::of(codec::raw, stray), stray});
  sent.asked.objects.push_back(sent.reply.back().id);
  expect_refused(sent, errc::unexpected, sent.reply.back().id.text());
}

TEST(fetcher, a_reply_that_ends_early_is_refused_at_every_place) {
  const exchange honest(sealed(records(0, 3)));
  for (std::size_t sent_blocks = 0; sent_blocks < honest.reply.size(); ++sent_blocks) {
    exchange sent = honest;
    sent.reply.resize(sent_blocks);
    expect_refused(sent, errc::unexpected, fmt::format("after {} of {} blocks", sent_blocks, honest.reply.size()));
  }
}

TEST(fetcher, a_payload_cut_anywhere_is_refused) {
  const exchange honest(sealed(records(0, 2)));
  bytes whole;
  for (const auto& block : honest.reply) append_section(whole, block.id, block.data);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    std::vector<payload> cut_short(1);
    cut_short[0].data.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
    EXPECT_FALSE(honest.run(std::move(cut_short)).end) << cut;
  }
}

TEST(fetcher, a_statement_over_its_limit_is_too_large) {
  exchange sent(sealed(records(0, 1)));
  store::block& said = sent.reply[sent.first_statement()];
  said.data.assign(limits::statement_bytes_max + 1, 0);
  expect_refused(sent, errc::too_large, said.id.text());
}

TEST(fetcher, a_failure_of_the_connection_ends_the_fetch_without_statements) {
  const exchange honest(sealed(records(0, 3)));
  std::size_t at = 0;
  auto failing = flow::generate([&]() -> result<std::optional<payload>> {
    if (at == honest.reply.size() - 1) return fail(errc::disconnected, "the peer is gone");
    payload next;
    append_section(next.data, honest.reply[at].id, honest.reply[at].data);
    ++at;
    return std::optional(std::move(next));
  });
  std::size_t batches = 0;
  const auto end = flow::for_each(
      fetcher(std::move(failing), honest.asked, std::make_shared<store::query>(testing::query()), "the peer"),
      [&](store::verified_batch&&) { ++batches; });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, errc::disconnected);
  EXPECT_EQ(batches, 0U);
}

}  // namespace
}  // namespace weir::merge::internal
