#include <weir/store/statement_store.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <weir/core/hex.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/store/internal/store_impl.h>
#include <weir/store/testing/damage_files.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using namespace testing;  // samples and damage, all of this layer
using weir::testing::temporary_directory;

std::unique_ptr<statement_store> opened(const std::filesystem::path& directory,
                                        const internal::store_settings& settings = {}) {
  auto store = internal::open_store(directory, settings);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

std::vector<std::string> refs_of(const std::vector<row>& rows) {
  std::vector<std::string> refs;
  for (const row& r : rows) refs.push_back(decode_statement(r.encoded)->refs.at(0));
  return refs;
}

bool is_sound(const statement_store& store) {
  const auto found = store.check();
  if (!found) {
    ADD_FAILURE() << found.error().message;
    return false;
  }
  for (const std::string& line : found->first) ADD_FAILURE() << line;
  return found->none();
}

bool same(const totals& a, const totals& b) {
  return a.statements == b.statements && a.objects == b.objects && a.bundles == b.bundles &&
         a.object_bytes == b.object_bytes && a.counter == b.counter && a.statement_set == b.statement_set &&
         a.object_set == b.object_set;
}

void sql(const std::filesystem::path& directory, const std::string& text) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((directory / "statements.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  sqlite3_close(db);
}

TEST(statement_store, gives_back_what_was_written_also_after_opening_again) {
  const temporary_directory dir;
  const verified_batch batch = sealed(records_of("r", 5), "a.b");
  totals before;
  {
    const auto store = opened(dir / "s");
    const receipt done = write_one(*store, batch);
    EXPECT_EQ(done.statements, 5u);
    EXPECT_EQ(done.objects, 5u);
    EXPECT_EQ(done.already_here, 0u);
    EXPECT_EQ(done.bytes, batch.bytes_held());
    before = totals_of(*store);
    EXPECT_EQ(before.statements, 5u);
    EXPECT_EQ(before.objects, 5u);
    EXPECT_EQ(before.bundles, 1u);
    EXPECT_EQ(before.counter, 5u);
    EXPECT_EQ(before.object_bytes, 10u);
  }
  const auto store = opened(dir / "s");
  EXPECT_TRUE(same(totals_of(*store), before));
  const std::vector<row> rows = rows_of(*store, "SELECT * FROM *");
  ASSERT_EQ(rows.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(rows[i].counter, i + 1);
    EXPECT_EQ(rows[i].id, batch.statements()[i].id);
    EXPECT_EQ(rows[i].bundle, batch.bundles()[0].id.hash());
    EXPECT_EQ(rows[i].encoded, batch.statements()[i].encoded);
    EXPECT_EQ(*store->read_object(batch.objects()[i].id), batch.objects()[i].data);
  }
  const std::vector<digest> ids{rows[3].id.hash(), rows[0].id.hash()};
  EXPECT_EQ(*store->read_statements(ids), (std::vector<bytes>{rows[3].encoded, rows[0].encoded}));
  const std::vector<digest> bundles{rows[0].bundle};
  EXPECT_EQ(store->read_bundles(bundles)->at(0), batch.bundles()[0].data);
  EXPECT_TRUE(is_sound(*store));
}

TEST(statement_store, an_empty_store_answers_everything) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  EXPECT_TRUE(rows_of(*store, "SELECT * FROM *").empty());
  EXPECT_TRUE(rows_of(*store, "SELECT * FROM a.* WHERE ref = x").empty());
  EXPECT_EQ(totals_of(*store).counter, 0u);
  EXPECT_TRUE(store->write({}).ok());
  EXPECT_TRUE(is_sound(*store));
  const digest nothing{};
  EXPECT_EQ(store->missing_statements({&nothing, 1})->size(), 1u);
  EXPECT_EQ(store->read_statements({&nothing, 1}).error().code, errc::not_found);
  EXPECT_EQ(store->read_bundles({&nothing, 1}).error().code, errc::not_found);
  EXPECT_EQ(store->read_object(cid()).error().code, errc::not_found);
}

TEST(statement_store, an_object_of_no_octets_is_an_object) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  write_one(*store, sealed({record_of("", {"empty"})}));
  const auto read = store->read_object(cid::of(codec::raw, {}));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->empty());
}

TEST(statement_store, the_same_octets_as_raw_and_as_dag_cbor_are_two_objects) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  record as_cbor = record_of("\x01", {"cbor"});
  as_cbor.kind = codec::dag_cbor;
  write_one(*store, sealed({record_of("\x01", {"raw"})}));
  const cid other = cid::of(codec::dag_cbor, as_bytes("\x01"));
  EXPECT_EQ(store->missing_objects({&other, 1})->size(), 1u);
  EXPECT_EQ(write_one(*store, sealed({as_cbor})).objects, 1u);
  EXPECT_EQ(totals_of(*store).objects, 2u);
}

TEST(statement_store, writing_what_is_here_changes_nothing) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  const verified_batch batch = sealed(records_of("r", 5));
  write_one(*store, batch);
  const totals before = totals_of(*store);
  const receipt again = write_one(*store, batch);
  EXPECT_EQ(again.statements, 0u);
  EXPECT_EQ(again.objects, 0u);
  EXPECT_EQ(again.bytes, 0u);
  EXPECT_EQ(again.already_here, 5u);
  EXPECT_TRUE(same(totals_of(*store), before));
}

TEST(statement_store, batches_of_one_write_may_repeat_and_complete_each_other) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  record about_both = record_of("b", {"both"});
  about_both.deps = {cid::of(codec::raw, as_bytes("r1"))};
  std::vector<verified_batch> batches;
  batches.push_back(sealed({about_both}));  // its dep comes with the second batch
  batches.push_back(sealed(records_of("r", 2)));
  batches.push_back(sealed(records_of("r", 2)));
  const auto done = store->write(batches);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->statements, 3u);
  EXPECT_EQ(done->already_here, 2u);
  EXPECT_EQ(done->objects, 3u);
  EXPECT_TRUE(is_sound(*store));
}

TEST(statement_store, nothing_is_written_of_batches_whose_objects_are_missing) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  record dangling = record_of("x", {"x"});
  dangling.deps = {cid::of(codec::raw, as_bytes("nowhere"))};
  std::vector<verified_batch> batches;
  batches.push_back(sealed(records_of("r", 3)));
  batches.push_back(sealed({dangling}));
  const auto refused = store->write(batches);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::not_found);
  EXPECT_NE(refused.error().message.find(dangling.deps[0].text()), std::string::npos);
  EXPECT_EQ(totals_of(*store).counter, 0u);
  EXPECT_EQ(totals_of(*store).objects, 0u);
  EXPECT_TRUE(is_sound(*store));
  EXPECT_EQ(write_one(*store, batches[0]).statements, 3u);
}

TEST(statement_store, says_what_is_missing_in_the_order_asked) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  const verified_batch here = sealed(records_of("r", 50));
  const verified_batch elsewhere = sealed(records_of("s", 50));
  write_one(*store, here);
  std::vector<digest> statements, absent;
  std::vector<cid> objects, absent_objects;
  for (std::size_t i = 0; i < 50; ++i) {
    for (const verified_batch* batch : {&here, &elsewhere}) {
      statements.push_back(batch->statements()[i].id.hash());
      objects.push_back(batch->objects()[i].id);
    }
    absent.push_back(elsewhere.statements()[i].id.hash());
    absent_objects.push_back(elsewhere.objects()[i].id);
  }
  EXPECT_EQ(*store->missing_statements(statements), absent);
  EXPECT_EQ(*store->missing_objects(objects), absent_objects);
  const auto read = store->read_statements(statements);
  EXPECT_EQ(read.error().code, errc::not_found);
  EXPECT_NE(read.error().message.find(elsewhere.statements()[0].id.text()), std::string::npos);
}

TEST(statement_store, knows_what_a_publisher_has_said_whatever_the_time) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  std::vector<record> records = records_of("r", 3);
  write_one(*store, sealed(records, "a", 1, 1000));
  records.push_back(record_of("r0", {"r0", "more"}));  // the same object, other refs
  records.push_back(record_of("r0", {"r0"}, {"tag"}));
  records.push_back(record_of("new", {"new"}));
  EXPECT_EQ(*store->already_said(records, "a", key_of(1).pub()),
            (std::vector<bool>{true, true, true, false, false, false}));
  EXPECT_EQ(*store->already_said(records, "a.b", key_of(1).pub()), std::vector<bool>(6));
  EXPECT_EQ(*store->already_said(records, "a", key_of(2).pub()), std::vector<bool>(6));
}

// Keys that collide all the time must change nothing but the speed.
TEST(statement_store, eight_octet_keys_only_narrow_a_search_down) {
  const temporary_directory dir;
  internal::store_settings all_alike;
  all_alike.key_mask = 0;
  const auto store = opened(dir / "s", all_alike);
  std::vector<record> records = records_of("r", 40);
  const verified_batch batch = sealed(records);
  write_one(*store, batch);
  EXPECT_EQ(write_one(*store, batch).already_here, 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(*store->read_object(batch.objects()[i].id), batch.objects()[i].data);
    EXPECT_EQ(refs_of(rows_of(*store, "SELECT * FROM * WHERE ref = r" + std::to_string(i))),
              std::vector<std::string>{"r" + std::to_string(i)});
    EXPECT_EQ(rows_of(*store, "SELECT * FROM * WHERE id = " + batch.statements()[i].id.text()).size(), 1u);
  }
  const verified_batch other = sealed(records_of("s", 1));
  const digest absent = other.statements()[0].id.hash();
  EXPECT_EQ(store->missing_statements({&absent, 1})->size(), 1u);
  EXPECT_EQ(store->read_object(other.objects()[0].id).error().code, errc::not_found);
  EXPECT_EQ(*store->already_said(records, "test", key_of(1).pub()), std::vector<bool>(40, true));
  EXPECT_TRUE(is_sound(*store));
}

// --- Merging is an algebra. ---

// Batches that overlap in statements, objects and bundles.
std::vector<verified_batch> overlapping_batches() {
  std::vector<verified_batch> batches;
  batches.push_back(sealed(records_of("r", 4), "a"));
  batches.push_back(sealed(records_of("r", 8), "a"));     // those four and four more, another bundle
  batches.push_back(sealed(records_of("r", 4), "b", 2));  // the same objects, another publisher
  batches.push_back(sealed(records_of("s", 3), "a", 1, 2000));
  batches.push_back(sealed(records_of("r", 4), "a"));
  return batches;
}

TEST(statement_store, any_order_grouping_and_repetition_of_batches_gives_the_same_store) {
  const std::vector<verified_batch> batches = overlapping_batches();
  const temporary_directory dir;
  totals expected;
  {
    const auto store = opened(dir / "all");
    ASSERT_TRUE(store->write(batches));
    expected = totals_of(*store);
    EXPECT_EQ(expected.statements, 8u + 4u + 3u);
    EXPECT_EQ(expected.objects, 8u + 3u);
    EXPECT_EQ(expected.bundles, 4u);
  }
  std::mt19937 chance(20261130);
  for (int round = 0; round < 20; ++round) {
    std::vector<verified_batch> order = batches;
    for (int extra = round % 3; extra > 0; --extra) order.push_back(batches[chance() % batches.size()]);
    std::shuffle(order.begin(), order.end(), chance);
    const auto store = opened(dir / std::to_string(round));
    for (std::size_t from = 0; from < order.size();) {
      const std::size_t count = std::min<std::size_t>(1 + chance() % 3, order.size() - from);
      ASSERT_TRUE(store->write(std::span(order).subspan(from, count)));
      from += count;
    }
    ASSERT_TRUE(same(totals_of(*store), expected)) << "round " << round;
    ASSERT_TRUE(is_sound(*store)) << "round " << round;
  }
}

// --- Opening. ---

TEST(statement_store, a_directory_in_use_names_the_process_that_uses_it) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  const auto second = statement_store::open(dir / "s");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::locked);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos) << second.error().message;
}

TEST(statement_store, a_newer_index_is_refused_as_unsupported) {
  const temporary_directory dir;
  opened(dir / "s").reset();
  sql(dir / "s", "PRAGMA user_version = 2");
  EXPECT_EQ(statement_store::open(dir / "s").error().code, errc::unsupported);
}

TEST(statement_store, a_file_that_is_no_index_is_corrupt_and_the_error_says_what_to_do) {
  const temporary_directory dir;
  std::filesystem::create_directories(dir / "s");
  write_whole(dir / "s" / "statements.db", bytes(20000, 'x'));
  const auto refused = statement_store::open(dir / "s");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::corrupt);
  EXPECT_NE(refused.error().message.find("statements.db"), std::string::npos);
  EXPECT_NE(refused.error().message.find("restore"), std::string::npos) << refused.error().message;

  std::filesystem::remove(dir / "s" / "statements.db");
  sql(dir / "s", "CREATE TABLE other(x)");
  EXPECT_EQ(statement_store::open(dir / "s").error().code, errc::corrupt);
}

// Were the index made anew, the objects would be taken for what a crash left, and cut off.
TEST(statement_store, objects_without_their_index_are_refused_and_left_alone) {
  const temporary_directory dir;
  {
    const auto store = opened(dir / "s");
    write_one(*store, sealed(records_of("r", 3)));
  }
  const auto segment = dir / "s" / "objects" / "00000001.seg";
  const bytes before = read_whole(segment);
  std::filesystem::remove(dir / "s" / "statements.db");
  // However often it is tried: a refusal must not leave an index behind that the next one finds in order.
  for (int i = 0; i < 3; ++i) {
    const auto refused = statement_store::open(dir / "s");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::corrupt);
    EXPECT_EQ(read_whole(segment), before);
  }
}

// --- check ---

TEST(statement_store, check_finds_each_kind_of_damage) {
  const temporary_directory dir;
  {
    const auto store = opened(dir / "s");
    write_one(*store, sealed(records_of("r", 4)));
  }
  const auto damage_after = [&](const std::string& text) {
    const auto copy = dir / "copy";
    copy_store(dir / "s", copy);
    sql(copy, text);
    const auto found = opened(copy)->check();
    if (!found) throw std::runtime_error(found.error().message);
    EXPECT_FALSE(found->first.empty()) << text;
    return *found;
  };
  EXPECT_EQ(damage_after("UPDATE statement SET id = zeroblob(32) WHERE counter = 2").corrupt_statements, 1u);
  EXPECT_EQ(damage_after("UPDATE statement SET body = x'a0' WHERE counter = 2").corrupt_statements, 1u);
  EXPECT_EQ(damage_after("UPDATE statement SET timestamp = 5 WHERE counter = 2").corrupt_statements, 1u);
  EXPECT_EQ(damage_after("DELETE FROM statement WHERE counter = 2").corrupt_statements, 1u);
  EXPECT_TRUE(damage_after("DELETE FROM statement WHERE counter = 2").totals_differ);
  for (const char* table : {"by_id", "by_namespace", "by_ref", "by_object"})
    EXPECT_EQ(damage_after(std::string("DELETE FROM ") + table + " WHERE counter = 3").corrupt_statements, 1u) << table;
  EXPECT_EQ(damage_after("DELETE FROM by_bundle").corrupt_statements, 1u);
  EXPECT_EQ(damage_after("UPDATE bundle SET body = x'a0'").unattested, 4u);
  EXPECT_EQ(damage_after("UPDATE statement SET bundle = 7 WHERE counter < 3").unattested, 2u);
  EXPECT_TRUE(damage_after("UPDATE total SET object_set = zeroblob(40)").totals_differ);
  EXPECT_TRUE(damage_after("UPDATE total SET bundles = 2").totals_differ);
}

TEST(statement_store, check_and_read_find_a_flipped_bit_in_an_object) {
  const temporary_directory dir;
  const verified_batch batch = sealed(records_of("r", 4));
  {
    const auto store = opened(dir / "s");
    write_one(*store, batch);
  }
  flip_bit(dir / "s" / "objects" / "00000001.seg", 16 + 41);  // the first octet of the first object
  const auto store = opened(dir / "s");
  const auto read = store->read_object(batch.objects()[0].id);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::corrupt);
  EXPECT_NE(read.error().message.find("00000001.seg"), std::string::npos);
  EXPECT_NE(read.error().message.find("offset 16"), std::string::npos) << read.error().message;
  EXPECT_TRUE(store->read_object(batch.objects()[1].id));
  const auto found = store->check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->corrupt_objects, 1u);
  EXPECT_EQ(found->dangling_objects, 0u);
}

TEST(statement_store, check_finds_an_object_that_is_not_there) {
  const temporary_directory dir;
  {
    const auto store = opened(dir / "s");
    write_one(*store, sealed(records_of("r", 4)));
  }
  flip_bit(dir / "s" / "objects" / "00000001.seg", 16 + 9);  // the first octet of the first object's digest
  const auto found = opened(dir / "s")->check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dangling_objects, 1u);
  EXPECT_EQ(found->corrupt_objects, 1u);
  EXPECT_TRUE(found->totals_differ);
}

}  // namespace
}  // namespace weir::store
