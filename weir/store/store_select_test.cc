// select: the same rows as the model, in counter order, page by page.

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sqlite3.h>

#include <weir/core/testing/temporary_directory.h>
#include <weir/store/internal/query_tree.h>
#include <weir/store/internal/select_flow.h>
#include <weir/store/internal/store_impl.h>
#include <weir/store/testing/samples.h>

namespace weir::store {
namespace {

using namespace testing;
using weir::testing::temporary_directory;

std::unique_ptr<statement_store> opened(const std::filesystem::path& directory,
                                        const internal::store_settings& settings = {}) {
  auto store = internal::open_store(directory, settings);
  if (!store) throw std::runtime_error(store.error().message);
  return *std::move(store);
}

std::vector<std::uint64_t> counters_of(const std::vector<row>& rows) {
  std::vector<std::uint64_t> counters;
  for (const row& r : rows) counters.push_back(r.counter);
  return counters;
}

// --- A model: statements in a vector, queries as trees with their own meaning, spelled and read back. ---

struct world {
  temporary_directory dir;
  std::unique_ptr<statement_store> store;
  std::vector<statement> said;  // said[i] has counter i + 1

  // 600 statements of every combination of a few namespaces, publishers, refs and tags, in small writes.
  explicit world(std::uint64_t key_mask) {
    internal::store_settings settings;
    settings.key_mask = key_mask;
    store = opened(dir / "s", settings);
    const std::vector<std::string> namespaces{"a", "a.b", "a.b.c", "ab", "ab.c", "b", "A"};
    std::mt19937 chance(4711);
    for (int i = 0; i < 600;) {
      const std::string& in = namespaces[chance() % namespaces.size()];
      const auto key = static_cast<std::uint8_t>(1 + chance() % 3);
      std::vector<record> records;
      for (std::size_t n = 1 + chance() % 9; n > 0 && i < 600; --n, ++i) {
        record r = record_of("object " + std::to_string(i));
        for (int ref = 0; ref < 4; ++ref) {
          if (chance() % 4 == 0) r.refs.push_back("r" + std::to_string(ref));
        }
        if (chance() % 2 == 0) r.tags.push_back("t" + std::to_string(chance() % 3));
        records.push_back(std::move(r));
      }
      const verified_batch batch = sealed(std::move(records), in, key, 1000 + chance() % 20);
      write_one(*store, batch);
      for (const auto& s : batch.statements()) said.push_back(s.what);
    }
  }
  [[nodiscard]] cid id_of(std::size_t counter) const { return cid::of(codec::dag_cbor, *encode(said[counter - 1])); }
};

const world& plain() {
  static const world w(~std::uint64_t{0});
  return w;
}
const world& colliding() {
  static const world w(1);
  return w;
}

struct condition {
  enum kind { all, any, opposite, id, publisher, ref, tag, name_space, timestamp, counter } what = ref;
  std::vector<condition> of;
  bool negated = false;             // != or NOT IN
  std::vector<std::size_t> values;  // what they mean hangs on the kind
  std::string sign;                 // of a number
  friend std::ostream& operator<<(std::ostream& to, const condition&) { return to << "a condition"; }
};

std::string value_text(const world& w, condition::kind what, std::size_t v) {
  static const std::vector<std::string> namespaces{"a", "a.b", "a.b.c", "ab", "zz"};
  switch (what) {
    case condition::id:
      return w.id_of(1 + v * 37 % 600).text();
    case condition::publisher:
      return key_of(static_cast<std::uint8_t>(1 + v % 4)).pub().text();  // key 4 said nothing
    case condition::ref:
      return "r" + std::to_string(v % 5);  // r4 is nobody's
    case condition::tag:
      return "t" + std::to_string(v % 4);
    default:
      return namespaces[v % namespaces.size()];
  }
}

std::uint64_t number_of(const condition& c) {
  if (c.values[0] % 17 == 16) return ~std::uint64_t{0};  // beyond what SQLite can hold
  return c.what == condition::timestamp ? 998 + c.values[0] % 25 : c.values[0] % 620;
}

std::string spelled(const world& w, const condition& c) {
  static const char* const names[] = {"", "", "", "id", "publisher", "ref", "tag", "namespace", "timestamp", "counter"};
  switch (c.what) {
    case condition::all:
    case condition::any: {
      std::string text;
      for (const condition& each : c.of) {
        if (!text.empty()) text += c.what == condition::all ? " AND " : " OR ";
        text += '(' + spelled(w, each) + ')';
      }
      return text;
    }
    case condition::opposite:
      return "NOT (" + spelled(w, c.of[0]) + ")";
    case condition::timestamp:
    case condition::counter:
      return names[c.what] + c.sign + std::to_string(number_of(c));
    default:
      break;
  }
  if (c.values.size() == 1)
    return names[c.what] + std::string(c.negated ? " != " : " = ") + value_text(w, c.what, c.values[0]);
  std::string list;
  for (const std::size_t v : c.values) list += (list.empty() ? "" : ", ") + value_text(w, c.what, v);
  return names[c.what] + std::string(c.negated ? " NOT IN (" : " IN (") + list + ")";
}

bool holds(const world& w, const condition& c, const statement& s, std::uint64_t counter) {
  const auto each = [&](const condition& one) { return holds(w, one, s, counter); };
  const auto has = [](const std::vector<std::string>& in, const std::string& text) {
    return std::find(in.begin(), in.end(), text) != in.end();
  };
  switch (c.what) {
    case condition::all:
      return std::all_of(c.of.begin(), c.of.end(), each);
    case condition::any:
      return std::any_of(c.of.begin(), c.of.end(), each);
    case condition::opposite:
      return !each(c.of[0]);
    case condition::timestamp:
    case condition::counter: {
      const std::uint64_t left = c.what == condition::counter ? counter : s.timestamp, right = number_of(c);
      if (c.sign == "=") return left == right;
      if (c.sign == "!=") return left != right;
      if (c.sign == "<") return left < right;
      if (c.sign == "<=") return left <= right;
      if (c.sign == ">") return left > right;
      return left >= right;
    }
    default:
      break;
  }
  const bool found = std::any_of(c.values.begin(), c.values.end(), [&](std::size_t v) {
    const std::string text = value_text(w, c.what, v);
    switch (c.what) {
      case condition::id:
        return w.id_of(counter).text() == text;
      case condition::publisher:
        return s.publisher.text() == text;
      case condition::ref:
        return has(s.refs, text);
      case condition::tag:
        return has(s.tags, text);
      default:
        return s.name_space == text;
    }
  });
  return found != c.negated;
}

rc::Gen<condition> some_condition(int depth) {
  const auto leaf = rc::gen::exec([] {
    condition c;
    c.what = *rc::gen::element(condition::id, condition::publisher, condition::ref, condition::ref, condition::tag,
                               condition::name_space, condition::timestamp, condition::counter);
    c.negated = *rc::gen::inRange(0, 4) == 0;
    c.sign = *rc::gen::element<std::string>("=", "!=", "<", "<=", ">", ">=");
    c.values.resize(static_cast<std::size_t>(*rc::gen::inRange(1, 4)));
    for (std::size_t& v : c.values) v = static_cast<std::size_t>(*rc::gen::inRange(0, 10000));
    return c;
  });
  if (depth == 0) return leaf;
  return rc::gen::exec([=] {
    const int shape = *rc::gen::inRange(0, 5);
    if (shape < 2) return *leaf;
    condition c;
    c.what = shape == 2 ? condition::all : shape == 3 ? condition::any : condition::opposite;
    const int parts = shape == 4 ? 1 : *rc::gen::inRange(2, 4);
    for (int i = 0; i < parts; ++i) c.of.push_back(*some_condition(depth - 1));
    return c;
  });
}

bool is_from(const std::string& from, const std::string& name) {
  if (from == "*") return true;
  if (!from.ends_with(".*")) return from == name;
  const std::string parent = from.substr(0, from.size() - 2);
  return name == parent || name.rfind(parent + ".", 0) == 0;
}

void compare_with_model(const world& w) {
  const condition where = *some_condition(3);
  const std::string from = *rc::gen::element<std::string>("*", "a", "a.*", "a.b.*", "ab.*", "b", "nobody.*", "A.*");
  const std::uint64_t after = *rc::gen::element<std::uint64_t>(0, 0, 1, 300, 599, 600, 1000);
  const std::size_t limit = static_cast<std::size_t>(*rc::gen::element(0, 0, 1, 7, 256, 257));
  std::string text = "SELECT * FROM " + from + " WHERE " + spelled(w, where);
  if (limit != 0) text += " LIMIT " + std::to_string(limit);

  std::vector<std::uint64_t> expected;
  for (std::uint64_t counter = 1; counter <= w.said.size(); ++counter) {
    const statement& s = w.said[counter - 1];
    if (counter <= after || !is_from(from, s.name_space) || !holds(w, where, s, counter)) continue;
    if (limit == 0 || expected.size() < limit) expected.push_back(counter);
  }
  RC_LOG() << text << " after " << after << "\n";
  RC_ASSERT(counters_of(rows_of(*w.store, text, after)) == expected);

  // The receiver's reading agrees, given the counter; and without it lets nothing be missed.
  const query q = parsed(text);
  for (std::uint64_t counter = 1; counter <= w.said.size(); counter += 7) {
    const statement& s = w.said[counter - 1];
    const bool model = holds(w, where, s, counter);
    RC_ASSERT(internal::evaluate(*q.where(), s, w.id_of(counter), counter) == std::optional(model));
    if (model && is_from(from, s.name_space)) RC_ASSERT(q.selects(s, w.id_of(counter)));
  }
  RC_ASSERT(parsed(q.text()).text() == q.text());
}

RC_GTEST_PROP(select, gives_what_the_model_gives_for_any_query, ()) { compare_with_model(plain()); }

RC_GTEST_PROP(select, gives_what_the_model_gives_also_when_all_keys_collide, ()) { compare_with_model(colliding()); }

// --- Order, pages, snapshots. ---

TEST(select, rows_come_in_counter_order_however_namespaces_alternate) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  for (int i = 0; i < 40; ++i) {
    write_one(*store, sealed(records_of("x" + std::to_string(i) + ".", 1), i % 2 == 0 ? "a.x" : "a.y"));
    write_one(*store, sealed(records_of("z" + std::to_string(i) + ".", 3), "other"));
  }
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 40; ++i) expected.push_back(4 * i + 1);
  EXPECT_EQ(counters_of(rows_of(*store, "SELECT * FROM a.*")), expected);
}

TEST(select, a_row_with_two_of_the_refs_asked_for_comes_once) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  write_one(*store, sealed({record_of("1", {"x", "y"}), record_of("2", {"y"}), record_of("3", {"x"}),
                            record_of("4", {"z"}), record_of("5", {"y", "x"})}));
  EXPECT_EQ(counters_of(rows_of(*store, "SELECT * FROM * WHERE ref IN (x, y)")),
            (std::vector<std::uint64_t>{1, 2, 3, 5}));
  EXPECT_EQ(counters_of(rows_of(*store, "SELECT * FROM * WHERE ref = x OR ref = y LIMIT 3")),
            (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST(select, more_rows_than_a_page_come_whole_and_once) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  write_one(*store, sealed(records_of("r", 1000)));
  const std::vector<row> rows = rows_of(*store, "SELECT * FROM test");
  ASSERT_EQ(rows.size(), 1000u);
  for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i].counter, i + 1);
  EXPECT_EQ(rows_of(*store, "SELECT * FROM test", 990).size(), 10u);
  EXPECT_EQ(rows_of(*store, "SELECT * FROM test", ~std::uint64_t{0}).size(), 0u);
  EXPECT_EQ(rows_of(*store, "SELECT * FROM test LIMIT 600").size(), 600u);
}

TEST(select, rows_larger_than_a_page_come_one_by_one) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  std::vector<record> records;
  for (int i = 0; i < 40; ++i) {
    record r = record_of("o" + std::to_string(i));
    for (int t = 0; t < 60; ++t) r.tags.push_back(std::string(1000, 'x') + std::to_string(t));
    records.push_back(std::move(r));
  }
  write_one(*store, sealed(std::move(records)));  // 60 KB a statement, 2.4 MB in all
  EXPECT_EQ(rows_of(*store, "SELECT * FROM test").size(), 40u);
}

TEST(select, gives_what_was_there_when_it_was_called) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  write_one(*store, sealed(records_of("r", 300)));
  auto rows = store->select(parsed("SELECT * FROM *"));
  write_one(*store, sealed(records_of("s", 300)));
  const auto taken = flow::to_vector(std::move(rows));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->size(), 300u);
}

TEST(select, asks_for_as_much_as_is_demanded_and_ends_once) {
  const temporary_directory dir;
  const auto store = opened(dir / "s");
  write_one(*store, sealed(records_of("r", 5)));
  auto rows = store->select(parsed("SELECT * FROM *"));
  error failure;
  flow::context cx({}, failure);
  std::vector<std::uint64_t> seen;
  const auto emit = [&](row&& r) { seen.push_back(r.counter); };
  std::size_t demand = 2;
  EXPECT_EQ(rows.pull(demand, emit, cx), flow::step::more);
  EXPECT_EQ(demand, 0u);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2}));
  demand = 10;
  EXPECT_EQ(rows.pull(demand, emit, cx), flow::step::done);
  EXPECT_EQ(demand, 7u);
  EXPECT_EQ(seen.size(), 5u);
}

TEST(select, rows_can_be_read_after_the_store_is_gone) {
  const temporary_directory dir;
  auto store = opened(dir / "s");
  write_one(*store, sealed(records_of("r", 300)));
  auto rows = store->select(parsed("SELECT * FROM *"));
  store.reset();
  EXPECT_EQ(flow::to_vector(std::move(rows))->size(), 300u);
}

// A consumer that has taken one row and thinks: what it holds must not keep the log from being folded back.
TEST(select, a_slow_consumer_does_not_hold_the_log) {
  const temporary_directory dir;
  internal::store_settings settings;
  settings.wal_checkpoint_pages = 1 << 30;  // only when this test says so
  const auto store = opened(dir / "s", settings);
  write_one(*store, sealed(records_of("r", 600)));
  auto rows = store->select(parsed("SELECT * FROM *"));
  error failure;
  flow::context cx({}, failure);
  std::size_t demand = 1, taken = 0;
  const auto emit = [&](row&&) { ++taken; };
  ASSERT_EQ(rows.pull(demand, emit, cx), flow::step::more);
  write_one(*store, sealed(records_of("s", 600)));

  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((dir / "s" / "statements.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "SELECT * FROM total", nullptr, nullptr, nullptr), SQLITE_OK);  // now it knows of the log
  int in_log = -1, folded_back = -1;
  // TRUNCATE succeeds only when no reader uses the log.
  EXPECT_EQ(sqlite3_wal_checkpoint_v2(db, nullptr, SQLITE_CHECKPOINT_TRUNCATE, &in_log, &folded_back), SQLITE_OK);
  EXPECT_EQ(in_log, 0);
  sqlite3_close(db);
  EXPECT_EQ(std::filesystem::file_size(dir / "s" / "statements.db-wal"), 0u);

  demand = flow::unbounded;
  EXPECT_EQ(rows.pull(demand, emit, cx), flow::step::done);
  EXPECT_EQ(taken, 600u);
}

}  // namespace
}  // namespace weir::store
