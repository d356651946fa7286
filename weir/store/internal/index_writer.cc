#include <weir/store/internal/index_writer.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace weir::store::internal {

namespace {

using key_and_row = std::pair<std::int64_t, std::int64_t>;

// Sorted rows reach each page of an index once; unsorted ones come back to it all over the batch.
result<void> insert_sorted(const sqlite_database& db, std::string_view text, std::vector<key_and_row>& rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  WEIR_TRY(auto insert, db.prepare(text));
  for (const auto& [key, row] : rows) WEIR_CHECK(insert.integer(key).integer(row).run());
  return {};
}

// Namespaces and publishers are few: each is looked up once a write.
class dictionary {
 public:
  static result<dictionary> of_namespaces(const sqlite_database& db) {
    return make(db, "SELECT id FROM namespace WHERE name = ?", "INSERT INTO namespace(name, statements) VALUES(?, 0)");
  }
  static result<dictionary> of_publishers(const sqlite_database& db) {
    return make(db, "SELECT id FROM publisher WHERE key = ?", "INSERT INTO publisher(key) VALUES(?)");
  }

  template <class Bind>
  result<std::int64_t> id_of(std::string_view entry, Bind bind) {
    if (const auto known = known_.find(entry); known != known_.end()) return known->second;
    bind(find_, entry);
    WEIR_TRY(const bool row, find_.step());
    std::int64_t id = row ? find_.integer_at(0) : 0;
    find_.reset();
    if (!row) {
      bind(insert_, entry);
      WEIR_CHECK(insert_.run());
      id = db_->last_row_id();
    }
    known_.emplace(entry, id);
    return id;
  }

 private:
  static result<dictionary> make(const sqlite_database& db, std::string_view find, std::string_view insert) {
    WEIR_TRY(auto finds, db.prepare(find));
    WEIR_TRY(auto inserts, db.prepare(insert));
    return dictionary(db, std::move(finds), std::move(inserts));
  }
  dictionary(const sqlite_database& db, sqlite_statement find, sqlite_statement insert)
      : db_(&db), find_(std::move(find)), insert_(std::move(insert)) {}

  const sqlite_database* db_;
  sqlite_statement find_, insert_;
  std::unordered_map<std::string_view, std::int64_t> known_;  // views of the batches, which outlive the write
};

class addition_writer {
 public:
  addition_writer(const sqlite_database& db, const index_keys& keys, const index_totals& before,
                  const index_addition& what)
      : db_(db), keys_(keys), before_(before), what_(what) {}

  result<void> run() {
    WEIR_CHECK(bundles());
    WEIR_CHECK(statements());
    WEIR_CHECK(insert_sorted(db_, "INSERT INTO by_namespace(namespace, counter) VALUES(?, ?)", by_namespace_));
    WEIR_CHECK(insert_sorted(db_, "INSERT INTO by_id(id, counter) VALUES(?, ?)", by_id_));
    WEIR_CHECK(insert_sorted(db_, "INSERT INTO by_ref(ref, counter) VALUES(?, ?)", by_ref_));
    WEIR_CHECK(objects());
    return totals();
  }

 private:
  result<void> bundles() {
    WEIR_TRY(auto insert, db_.prepare("INSERT INTO bundle(id, digest, body) VALUES(?, ?, ?)"));
    std::vector<key_and_row> by_bundle;
    auto row = static_cast<std::int64_t>(before_.bundles);
    for (const block* b : what_.bundles) {
      WEIR_CHECK(insert.integer(++row).blob(b->id.hash()).blob(b->data).run());
      by_bundle.emplace_back(keys_.of(b->id.hash()), row);
    }
    return insert_sorted(db_, "INSERT INTO by_bundle(digest, bundle) VALUES(?, ?)", by_bundle);
  }

  result<void> statements() {
    WEIR_TRY(auto namespaces, dictionary::of_namespaces(db_));
    WEIR_TRY(auto publishers, dictionary::of_publishers(db_));
    WEIR_TRY(auto insert,
             db_.prepare("INSERT INTO statement(counter, id, namespace, publisher, timestamp, bundle, body) "
                         "VALUES(?, ?, ?, ?, ?, ?, ?)"));
    const std::size_t count = what_.statements.size();
    by_namespace_.reserve(count);
    by_id_.reserve(count);
    by_ref_.reserve(count);
    by_object_.reserve(count);
    auto counter = static_cast<std::int64_t>(before_.counter);
    for (const index_addition::one_statement& one : what_.statements) {
      const verified_batch::attested& s = *one.what;
      WEIR_TRY(const std::int64_t name_space,
               namespaces.id_of(s.what.name_space, [](sqlite_statement& to, std::string_view v) { to.text(v); }));
      WEIR_TRY(const std::int64_t publisher,
               publishers.id_of(as_text(s.what.publisher.octets),
                                [](sqlite_statement& to, std::string_view v) { to.blob(as_bytes(v)); }));
      ++counter;
      WEIR_CHECK(insert.integer(counter)
                     .blob(s.id.hash())
                     .integer(name_space)
                     .integer(publisher)
                     .integer(static_cast<std::int64_t>(s.what.timestamp))
                     .integer(static_cast<std::int64_t>(one.bundle))
                     .blob(s.encoded)
                     .run());
      ++namespace_counts_[name_space];
      by_namespace_.emplace_back(name_space, counter);
      by_id_.emplace_back(keys_.of(s.id.hash()), counter);
      by_object_.emplace_back(keys_.of(s.what.object.hash()), publisher, counter);
      for (const std::string& ref : s.what.refs) by_ref_.emplace_back(keys_.of(ref), counter);
    }
    WEIR_TRY(auto count_up, db_.prepare("UPDATE namespace SET statements = statements + ? WHERE id = ?"));
    for (const auto& [id, more] : namespace_counts_) WEIR_CHECK(count_up.integer(more).integer(id).run());
    return {};
  }

  result<void> objects() {
    std::sort(by_object_.begin(), by_object_.end());
    WEIR_TRY(auto insert, db_.prepare("INSERT INTO by_object(object, publisher, counter) VALUES(?, ?, ?)"));
    for (const auto& [object, publisher, counter] : by_object_)
      WEIR_CHECK(insert.integer(object).integer(publisher).integer(counter).run());
    return {};
  }

  result<void> totals() {
    WEIR_TRY(auto update, db_.prepare("UPDATE total SET counter = ?, bundles = ?, statement_set = ?, object_set = ?, "
                                      "object_bytes = ?, segment = ?, segment_length = ?"));
    const index_totals& t = what_.after;
    const auto statement_set = t.statements.binary();
    const auto object_set = t.objects.set.binary();
    return update.integer(static_cast<std::int64_t>(t.counter))
        .integer(static_cast<std::int64_t>(t.bundles))
        .blob(statement_set)
        .blob(object_set)
        .integer(static_cast<std::int64_t>(t.objects.bytes))
        .integer(t.mark.segment)
        .integer(static_cast<std::int64_t>(t.mark.length))
        .run();
  }

  const sqlite_database& db_;
  const index_keys& keys_;
  const index_totals& before_;
  const index_addition& what_;
  std::vector<key_and_row> by_namespace_, by_id_, by_ref_;
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> by_object_;
  std::map<std::int64_t, std::int64_t> namespace_counts_;
};

}  // namespace

result<void> add_to_index(const sqlite_database& db, const index_keys& keys, const index_totals& before,
                          const index_addition& what, bool& in_doubt) {
  WEIR_TRY(auto transaction, sqlite_transaction::begin(db, sqlite_transaction::kind::write));
  WEIR_CHECK(addition_writer(db, keys, before, what).run());
  auto committed = transaction.commit();
  // A disk that is full has not taken the frame that makes the transaction one; after another failure of the disk,
  // what is on it is anybody's guess.
  in_doubt = !committed && committed.error().code != errc::disk_full;
  return committed;
}

}  // namespace weir::store::internal
