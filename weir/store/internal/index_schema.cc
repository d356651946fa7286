#include <weir/store/internal/index_schema.h>

#include <fmt/format.h>

#include <weir/store/internal/query_functions.h>

namespace weir::store::internal {

namespace {

constexpr int schema_version = 1;
constexpr std::int64_t application_id = 0x77656972;  // "weir", so that file(1) can tell

// Rows of `statement` and `bundle` are only ever added, at the end. The by_ tables are keyed by integers and hold
// nothing else: their rows are sorted before they are inserted, batch by batch, so that neighbouring rows land on the
// same page while it is in the cache. That, rather than any pragma, is what makes large batches fast.
//
// `object`, `ref` and the like in keys are the 8-octet keys of index_keys.h. Refs and tags themselves stay in `body`.
constexpr const char* tables = R"(
CREATE TABLE namespace(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, statements INTEGER NOT NULL) STRICT;
CREATE TABLE publisher(
  id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE) STRICT;
CREATE TABLE bundle(
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE statement(
  counter INTEGER PRIMARY KEY, id BLOB NOT NULL, namespace INTEGER NOT NULL, publisher INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, bundle INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE by_id(
  id INTEGER NOT NULL, counter INTEGER NOT NULL, PRIMARY KEY(id, counter)) STRICT, WITHOUT ROWID;
CREATE TABLE by_namespace(
  namespace INTEGER NOT NULL, counter INTEGER NOT NULL, PRIMARY KEY(namespace, counter)) STRICT, WITHOUT ROWID;
CREATE TABLE by_ref(
  ref INTEGER NOT NULL, counter INTEGER NOT NULL, PRIMARY KEY(ref, counter)) STRICT, WITHOUT ROWID;
CREATE TABLE by_object(
  object INTEGER NOT NULL, publisher INTEGER NOT NULL, counter INTEGER NOT NULL,
  PRIMARY KEY(object, publisher, counter)) STRICT, WITHOUT ROWID;
CREATE TABLE by_bundle(
  digest INTEGER NOT NULL, bundle INTEGER NOT NULL, PRIMARY KEY(digest, bundle)) STRICT, WITHOUT ROWID;
CREATE TABLE total(
  one INTEGER PRIMARY KEY CHECK(one = 1), counter INTEGER NOT NULL, bundles INTEGER NOT NULL,
  statement_set BLOB NOT NULL, object_set BLOB NOT NULL, object_bytes INTEGER NOT NULL,
  segment INTEGER NOT NULL, segment_length INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES(1, 0, 0, zeroblob(40), zeroblob(40), 0, 0, 0);
)";

result<std::int64_t> read_integer(const sqlite_database& db, std::string_view text) {
  WEIR_TRY(auto read, db.prepare(text));
  WEIR_TRY(const bool row, read.step());
  return row ? read.integer_at(0) : 0;
}

error with_advice(const std::filesystem::path& path, error why) {
  if (why.code == errc::corrupt)
    why.message = fmt::format("{}; restore '{}' from a copy, or move the data directory away and merge again",
                              why.message, path.native());
  return why;
}

result<bool> make_or_check(const sqlite_database& db, const std::filesystem::path& path, bool may_be_new) {
  WEIR_TRY(const std::int64_t objects, read_integer(db, "SELECT count(*) FROM sqlite_schema"));
  if (objects == 0) {
    if (!may_be_new)
      return fail(errc::corrupt,
                  fmt::format("there are objects, but their statement index '{}' is missing or empty", path.native()));
    WEIR_TRY(auto transaction, sqlite_transaction::begin(db, sqlite_transaction::kind::write));
    WEIR_CHECK(db.run(tables));
    WEIR_CHECK(db.run(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, schema_version).c_str()));
    WEIR_CHECK(transaction.commit());
    return true;
  }
  WEIR_TRY(const std::int64_t application, read_integer(db, "PRAGMA application_id"));
  if (application != application_id)
    return fail(errc::corrupt, fmt::format("'{}' is a database, but not one of Weir's", path.native()));
  WEIR_TRY(const std::int64_t version, read_integer(db, "PRAGMA user_version"));
  if (version != schema_version)
    return fail(errc::unsupported,
                fmt::format("'{}' has version {} of the statement index; this program reads version {}: use a newer "
                            "one",
                            path.native(), version, schema_version));
  return false;
}

result<opened_index> open_or_make(const std::filesystem::path& path, const store_settings& settings, bool may_be_new) {
  WEIR_TRY(auto db, sqlite_database::open(path, sqlite_database::mode::read_write_create));
  // The size of pages can only be chosen before there are any. FULL: a commit has been synced when it returns. The
  // cache is a limit, filled as needed; index pages that fall out of it must be read again for every batch.
  WEIR_CHECK(
      db.run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
             "PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 10000"));
  WEIR_CHECK(db.run(fmt::format("PRAGMA wal_autocheckpoint = {}", settings.wal_checkpoint_pages).c_str()));
  if (settings.database_pages_max != 0)
    WEIR_CHECK(db.run(fmt::format("PRAGMA max_page_count = {}", settings.database_pages_max).c_str()));
  WEIR_TRY(const bool fresh, make_or_check(db, path, may_be_new));
  return opened_index{std::move(db), fresh};
}

}  // namespace

result<opened_index> open_index(const std::filesystem::path& path, const store_settings& settings, bool may_be_new) {
  auto opened = open_or_make(path, settings, may_be_new);
  if (!opened) return with_advice(path, std::move(opened).error());
  return opened;
}

result<sqlite_database> open_index_reader(const std::filesystem::path& path) {
  WEIR_TRY(auto db, sqlite_database::open(path, sqlite_database::mode::read_only));
  WEIR_CHECK(
      db.run("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 10000;"
             "PRAGMA query_only = ON"));
  WEIR_CHECK(add_query_functions(db));
  return db;
}

}  // namespace weir::store::internal
