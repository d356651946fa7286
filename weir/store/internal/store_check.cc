#include <weir/store/internal/store_check.h>

#include <algorithm>
#include <list>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/core/sha256.h>

namespace weir::store::internal {

namespace {

constexpr std::uint64_t rows_at_once = 1024;  // of one transaction
constexpr std::size_t bundles_kept = 16;      // opened bundles; the rows of one lie together

// Whether the index tables have the row that a statement must have in each.
struct index_lookups {
  sqlite_statement by_id, by_namespace, by_object, by_ref;

  static result<index_lookups> prepare(const sqlite_database& db) {
    WEIR_TRY(auto by_id, db.prepare("SELECT 1 FROM by_id WHERE id = ? AND counter = ?"));
    WEIR_TRY(auto by_namespace, db.prepare("SELECT 1 FROM by_namespace WHERE namespace = ? AND counter = ?"));
    WEIR_TRY(auto by_object, db.prepare("SELECT 1 FROM by_object WHERE object = ? AND publisher = ? AND counter = ?"));
    WEIR_TRY(auto by_ref, db.prepare("SELECT 1 FROM by_ref WHERE ref = ? AND counter = ?"));
    return index_lookups{std::move(by_id), std::move(by_namespace), std::move(by_object), std::move(by_ref)};
  }
};

class checker {
 public:
  checker(reader_pool& readers, const object_segments& objects) : readers_(readers), objects_(objects) {}

  result<damage> run() {
    {
      WEIR_TRY(const reader_lease lease, readers_.borrow());
      WEIR_TRY(stored_, read_totals(lease.db()));
      WEIR_CHECK(check_database(lease.db()));
    }
    WEIR_CHECK(check_objects());
    WEIR_CHECK(check_bundles());
    for (std::uint64_t after = 0; after < stored_.counter; after += rows_at_once) {
      WEIR_TRY(const reader_lease lease, readers_.borrow());
      WEIR_TRY(const auto snapshot, sqlite_transaction::begin(lease.db(), sqlite_transaction::kind::read));
      WEIR_CHECK(check_rows(lease.db(), after, std::min(after + rows_at_once, stored_.counter)));
    }
    compare_totals();
    return std::move(found_);
  }

 private:
  struct opened_bundle {
    std::int64_t row;
    bool sound;
    bundle what;
  };

  void note(std::string line) {
    if (found_.first.size() < limits::damage_lines_max) found_.first.push_back(std::move(line));
  }

  result<void> check_database(const sqlite_database& db) {
    WEIR_TRY(auto rows, db.prepare("PRAGMA integrity_check(20)"));
    while (true) {
      WEIR_TRY(const bool row, rows.step());
      if (!row) return {};
      if (rows.text_at(0) == "ok") continue;
      ++found_.corrupt_statements;
      note(fmt::format("statement index: {}", rows.text_at(0)));
    }
  }

  result<void> check_objects() {
    const auto visit = [&](const object_segments::found& o) {
      counted_.objects.add(o.id, o.data.size());
      if (o.sound) return;
      ++found_.corrupt_objects;
      note(fmt::format("object {} is corrupt: '{}' at offset {}", o.id.text(), objects_.path_of(o.segment).native(),
                       o.offset));
    };
    auto read = objects_.read_all(stored_.mark, visit);
    if (read || read.error().code != errc::corrupt) return read;
    // The chain of records is broken; the statements' own look-ups say which objects are out of reach.
    ++found_.corrupt_objects;
    note(read.error().message);
    return {};
  }

  result<void> check_bundles() {
    const std::uint64_t many = rows_at_once / 16;  // 42 KiB each at most
    for (std::uint64_t after = 0; after < stored_.bundles; after += many) {
      WEIR_TRY(const reader_lease lease, readers_.borrow());
      WEIR_TRY(auto rows, lease.db().prepare("SELECT id, digest, body FROM bundle WHERE id > ? AND id <= ?"));
      WEIR_TRY(auto by_bundle, lease.db().prepare("SELECT 1 FROM by_bundle WHERE digest = ? AND bundle = ?"));
      rows.integer(static_cast<std::int64_t>(after))
          .integer(static_cast<std::int64_t>(std::min(after + many, stored_.bundles)));
      while (true) {
        WEIR_TRY(const bool row, rows.step());
        if (!row) break;
        ++counted_.bundles;
        const digest id = sha256(rows.blob_at(2));
        by_bundle.reset();
        by_bundle.integer(readers_.keys().of(id)).integer(rows.integer_at(0));
        WEIR_TRY(const bool found_by_id, by_bundle.step());
        if (!found_by_id) {
          ++found_.corrupt_statements;
          note(fmt::format("the bundle in row {}: its row in by_bundle is missing", rows.integer_at(0)));
        }
        if (std::ranges::equal(rows.blob_at(1), id)) continue;
        ++found_.corrupt_statements;
        note(fmt::format("the bundle in row {} does not match its id", rows.integer_at(0)));
      }
    }
    return {};
  }

  result<void> check_rows(const sqlite_database& db, std::uint64_t after, std::uint64_t upto) {
    WEIR_TRY(auto rows, db.prepare("SELECT s.counter, s.id, s.timestamp, s.bundle, s.body, n.name, p.key, s.namespace, "
                                   "s.publisher FROM statement s LEFT JOIN namespace n ON n.id = s.namespace LEFT JOIN "
                                   "publisher p ON p.id = s.publisher WHERE s.counter > ? AND s.counter <= ? ORDER BY "
                                   "s.counter"));
    rows.integer(static_cast<std::int64_t>(after)).integer(static_cast<std::int64_t>(upto));
    WEIR_TRY(index_lookups lookups, index_lookups::prepare(db));
    std::uint64_t expected = after;
    while (true) {
      WEIR_TRY(const bool row, rows.step());
      if (!row) break;
      ++expected;
      WEIR_CHECK(check_row(db, rows, lookups));
    }
    if (expected != upto) {
      found_.corrupt_statements += upto - expected;
      note(fmt::format("{} of the rows {} to {} of the statement index are missing", upto - expected, after + 1, upto));
    }
    return {};
  }

  result<void> check_row(const sqlite_database& db, const sqlite_statement& row, index_lookups& lookups) {
    const std::int64_t counter = row.integer_at(0);
    const bytes_view body = row.blob_at(4);
    const digest id = sha256(body);
    const std::string name = cid(codec::dag_cbor, id).text();
    counted_.statements.add(id);
    const auto corrupt = [&](std::string_view why) {
      ++found_.corrupt_statements;
      note(fmt::format("statement {} in row {}: {}", name, counter, why));
    };
    if (!std::ranges::equal(row.blob_at(1), id)) {
      corrupt("its octets do not match its id");
      return {};
    }
    const auto what = decode_statement(body);
    if (!what) {
      corrupt(what.error().message);
      return {};
    }
    if (row.text_at(5) != what->name_space || !std::ranges::equal(row.blob_at(6), what->publisher.octets) ||
        row.integer_at(2) != static_cast<std::int64_t>(what->timestamp))
      corrupt("its columns do not say what it says");
    WEIR_CHECK(check_index_rows(lookups, row, id, *what, corrupt));
    WEIR_TRY(const bool attested, is_attested(db, row.integer_at(3), id, what->publisher));
    if (!attested) {
      ++found_.unattested;
      note(fmt::format("statement {} is attested by no sound bundle of its publisher", name));
    }
    WEIR_CHECK(check_reference(name, what->object));
    for (const cid& dep : what->deps) WEIR_CHECK(check_reference(name, dep));
    return {};
  }

  template <class Corrupt>
  result<void> check_index_rows(index_lookups& lookups, const sqlite_statement& row, const digest& id,
                                const statement& what, const Corrupt& corrupt) {
    const auto expect = [&](std::string_view table, sqlite_statement& look_up,
                            std::initializer_list<std::int64_t> key) -> result<void> {
      look_up.reset();
      for (const std::int64_t part : key) look_up.integer(part);
      WEIR_TRY(const bool there, look_up.step());
      if (!there) corrupt(fmt::format("its row in {} is missing", table));
      return {};
    };
    const index_keys& keys = readers_.keys();
    const std::int64_t counter = row.integer_at(0);
    WEIR_CHECK(expect("by_id", lookups.by_id, {keys.of(id), counter}));
    WEIR_CHECK(expect("by_namespace", lookups.by_namespace, {row.integer_at(7), counter}));
    WEIR_CHECK(expect("by_object", lookups.by_object, {keys.of(what.object.hash()), row.integer_at(8), counter}));
    for (const std::string& ref : what.refs) WEIR_CHECK(expect("by_ref", lookups.by_ref, {keys.of(ref), counter}));
    return {};
  }

  result<bool> is_attested(const sqlite_database& db, std::int64_t row, const digest& id, const public_key& publisher) {
    auto at = std::ranges::find(opened_, row, &opened_bundle::row);
    if (at == opened_.end()) {
      WEIR_TRY(opened_bundle opened, open_stored_bundle(db, row));
      if (opened_.size() == bundles_kept) opened_.pop_front();
      at = opened_.insert(opened_.end(), std::move(opened));
    }
    return at->sound && at->what.publisher == publisher && std::ranges::binary_search(at->what.statements, id);
  }

  result<opened_bundle> open_stored_bundle(const sqlite_database& db, std::int64_t row) {
    opened_bundle opened{row, false, {}};
    WEIR_TRY(auto rows, db.prepare("SELECT digest, body FROM bundle WHERE id = ?"));
    rows.integer(row);
    WEIR_TRY(const bool there, rows.step());
    if (!there || !std::ranges::equal(rows.blob_at(0), sha256(rows.blob_at(1)))) return opened;
    auto what = open_bundle(rows.blob_at(1));
    if (!what) return opened;
    opened.what = *std::move(what);
    std::ranges::sort(opened.what.statements);
    opened.sound = true;
    return opened;
  }

  result<void> check_reference(const std::string& statement_name, const cid& named) {
    WEIR_TRY(const bool here, objects_.contains(named));
    if (here) return {};
    ++found_.dangling_objects;
    note(fmt::format("statement {} names object {}, which is not here", statement_name, named.text()));
    return {};
  }

  void compare_totals() {
    const auto expect = [&](std::string_view what, std::uint64_t counted, std::uint64_t stored, bool equal) {
      if (equal) return;
      found_.totals_differ = true;
      note(fmt::format("the totals say {} {}, counted were {}", stored, what, counted));
    };
    expect("statements", counted_.statements.count(), stored_.statements.count(),
           counted_.statements == stored_.statements);
    expect("bundles", counted_.bundles, stored_.bundles, counted_.bundles == stored_.bundles);
    expect("objects", counted_.objects.set.count(), stored_.objects.set.count(),
           counted_.objects.set == stored_.objects.set);
    expect("octets of objects", counted_.objects.bytes, stored_.objects.bytes,
           counted_.objects.bytes == stored_.objects.bytes);
  }

  reader_pool& readers_;
  const object_segments& objects_;
  index_totals stored_;
  index_totals counted_;
  damage found_;
  std::list<opened_bundle> opened_;
};

}  // namespace

result<damage> check_store(reader_pool& readers, const object_segments& objects) {
  return checker(readers, objects).run();
}

}  // namespace weir::store::internal
