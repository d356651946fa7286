#include <weir/store/internal/index_reader.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <weir/store/internal/index_schema.h>

namespace weir::store::internal {

namespace {

bool same(bytes_view a, bytes_view b) noexcept { return std::ranges::equal(a, b); }

// The positions of the items in the order of their keys, so that a batch of look-ups goes through an index once, from
// one end to the other.
template <class Item, class Key>
std::vector<std::pair<std::int64_t, std::size_t>> by_key(std::span<const Item> items, Key key) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  order.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) order.emplace_back(key(items[i]), i);
  std::sort(order.begin(), order.end());
  return order;
}

// For each digest the number of the row that has it, 0 for none. `look_up` gives (number, whole digest) of the rows of
// a key.
result<std::vector<std::uint64_t>> find(const sqlite_database& db, const index_keys& keys, std::span<const digest> ids,
                                        std::uint64_t upto, std::string_view look_up) {
  std::vector<std::uint64_t> found(ids.size());
  WEIR_TRY(auto rows, db.prepare(look_up));
  for (const auto& [key, i] : by_key(ids, [&](const digest& id) { return keys.of(id); })) {
    rows.reset();
    rows.integer(key).integer(static_cast<std::int64_t>(upto));
    while (found[i] == 0) {
      WEIR_TRY(const bool row, rows.step());
      if (!row) break;
      if (same(rows.blob_at(1), ids[i])) found[i] = static_cast<std::uint64_t>(rows.integer_at(0));
    }
  }
  return found;
}

result<std::vector<bytes>> read_bodies(const sqlite_database& db, std::span<const std::uint64_t> numbers,
                                       std::string_view text) {
  std::vector<bytes> bodies(numbers.size());
  WEIR_TRY(auto rows, db.prepare(text));
  const auto in_order = by_key(numbers, [](std::uint64_t n) { return static_cast<std::int64_t>(n); });
  for (const auto& [number, i] : in_order) {
    rows.reset();
    rows.integer(number);
    WEIR_TRY(const bool row, rows.step());
    if (!row) return fail(errc::corrupt, fmt::format("the statement index has lost its row {}", number));
    bodies[i] = to_bytes(rows.blob_at(0));
  }
  return bodies;
}

result<std::optional<std::int64_t>> look_up_one(sqlite_statement& rows) {
  WEIR_TRY(const bool row, rows.step());
  return row ? std::optional(rows.integer_at(0)) : std::nullopt;
}

bool says_the_same(const statement& s, const cid& object, const record& r) {
  return s.object == object && s.refs == r.refs && s.tags == r.tags && s.deps == r.deps;
}

}  // namespace

result<index_totals> read_totals(const sqlite_database& db) {
  WEIR_TRY(auto read, db.prepare("SELECT counter, bundles, statement_set, object_set, object_bytes, segment, "
                                 "segment_length FROM total"));
  WEIR_TRY(const bool row, read.step());
  if (!row || read.blob_at(2).size() != set_hash::binary_size || read.blob_at(3).size() != set_hash::binary_size)
    return fail(errc::corrupt, "the statement index has lost its totals");
  const auto set_at = [&](int column) {
    std::array<std::uint8_t, set_hash::binary_size> binary;
    std::ranges::copy(read.blob_at(column), binary.begin());
    return set_hash::from_binary(binary);
  };
  index_totals t;
  t.counter = static_cast<std::uint64_t>(read.integer_at(0));
  t.bundles = static_cast<std::uint64_t>(read.integer_at(1));
  t.statements = set_at(2);
  t.objects.set = set_at(3);
  t.objects.bytes = static_cast<std::uint64_t>(read.integer_at(4));
  t.mark.segment = static_cast<std::uint32_t>(read.integer_at(5));
  t.mark.length = static_cast<std::uint64_t>(read.integer_at(6));
  return t;
}

// --- The pool. ---

reader_lease::~reader_lease() {
  if (connection_) from_->give_back(std::move(connection_));
}

result<reader_lease> reader_pool::borrow() {
  {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return lent_ < connections_max; });
    ++lent_;
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return reader_lease(*this, std::move(connection));
    }
  }
  auto opened = open_index_reader(path_);
  if (opened) return reader_lease(*this, std::make_unique<sqlite_database>(*std::move(opened)));
  {
    const std::lock_guard lock(mutex_);
    --lent_;
  }
  returned_.notify_one();
  return std::move(opened).error();
}

void reader_pool::give_back(std::unique_ptr<sqlite_database> connection) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
    --lent_;
  }
  returned_.notify_one();
}

// --- Look-ups. ---

result<std::vector<std::uint64_t>> find_statements(const sqlite_database& db, const index_keys& keys,
                                                   std::span<const digest> ids, std::uint64_t upto) {
  return find(db, keys, ids, upto,
              "SELECT s.counter, s.id FROM by_id d CROSS JOIN statement s ON s.counter = d.counter WHERE d.id = ? AND "
              "d.counter <= ?");
}

result<std::vector<std::uint64_t>> find_bundles(const sqlite_database& db, const index_keys& keys,
                                                std::span<const digest> ids) {
  return find(db, keys, ids, std::numeric_limits<std::int64_t>::max(),
              "SELECT b.id, b.digest FROM by_bundle d CROSS JOIN bundle b ON b.id = d.bundle WHERE d.digest = ? AND "
              "d.bundle <= ?");
}

result<std::vector<bytes>> read_statement_bodies(const sqlite_database& db, std::span<const std::uint64_t> counters) {
  return read_bodies(db, counters, "SELECT body FROM statement WHERE counter = ?");
}

result<std::vector<bytes>> read_bundle_bodies(const sqlite_database& db, std::span<const std::uint64_t> rows) {
  return read_bodies(db, rows, "SELECT body FROM bundle WHERE id = ?");
}

result<std::vector<bool>> find_equal_statements(const sqlite_database& db, const index_keys& keys,
                                                std::span<const record> records, std::string_view name_space,
                                                const public_key& publisher, std::uint64_t upto) {
  std::vector<bool> said(records.size());
  WEIR_TRY(auto namespaces, db.prepare("SELECT id FROM namespace WHERE name = ?"));
  namespaces.text(name_space);
  WEIR_TRY(const auto namespace_id, look_up_one(namespaces));
  WEIR_TRY(auto publishers, db.prepare("SELECT id FROM publisher WHERE key = ?"));
  publishers.blob(publisher.octets);
  WEIR_TRY(const auto publisher_id, look_up_one(publishers));
  if (!namespace_id || !publisher_id) return said;

  std::vector<cid> objects;
  objects.reserve(records.size());
  for (const record& r : records) objects.push_back(cid::of(r.kind, r.object));
  WEIR_TRY(auto rows, db.prepare("SELECT s.body FROM by_object d CROSS JOIN statement s ON s.counter = d.counter "
                                 "WHERE d.object = ? AND d.publisher = ? AND d.counter <= ? AND s.namespace = ?"));
  const auto in_order = by_key(std::span<const cid>(objects), [&](const cid& id) { return keys.of(id.hash()); });
  for (const auto& [key, i] : in_order) {
    rows.reset();
    rows.integer(key).integer(*publisher_id).integer(static_cast<std::int64_t>(upto)).integer(*namespace_id);
    while (!said[i]) {
      WEIR_TRY(const bool row, rows.step());
      if (!row) break;
      WEIR_TRY(const statement s, decode_statement(rows.blob_at(0)));
      said[i] = says_the_same(s, objects[i], records[i]);
    }
  }
  return said;
}

}  // namespace weir::store::internal
