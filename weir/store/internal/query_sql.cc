#include <weir/store/internal/query_sql.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace weir::store::internal {

namespace {

constexpr std::uint64_t integer_max = std::numeric_limits<std::int64_t>::max();

// More namespaces than this are not merged: reading all rows and looking at each costs less than that many cursors.
constexpr std::size_t merged_namespaces_max = 1024;

void add(sql_condition& to, sql_condition part) {
  to.text += part.text;
  std::move(part.values.begin(), part.values.end(), std::back_inserter(to.values));
}

std::string question_marks(std::size_t count) {
  std::string marks = "?";
  for (std::size_t i = 1; i < count; ++i) marks += ",?";
  return marks;
}

struct compiler {
  sql_condition operator()(const query::criteria::conjunction& all) const { return joined(all.of, " AND "); }
  sql_condition operator()(const query::criteria::disjunction& any) const { return joined(any.of, " OR "); }

  sql_condition operator()(const query::criteria::negation& opposite) const {
    sql_condition out{"NOT ", {}};
    add(out, std::visit(*this, opposite.of.front().node));
    return out;
  }

  sql_condition operator()(const number_test& test) const {
    // SQLite's integers end where no stored number goes beyond, so a larger one decides by itself.
    if (test.value > integer_max) {
      const bool holds = compare(0, test.how, test.value);
      return {holds ? "1" : "0", {}};
    }
    return {fmt::format("s.{} {} ?", to_string(test.field), to_string(test.how)),
            {static_cast<std::int64_t>(test.value)}};
  }

  sql_condition operator()(const one_of& test) const {
    sql_condition out{test.negated ? "NOT (" : "(", {}};
    add(out, membership(test));
    out.text += ')';
    return out;
  }

 private:
  sql_condition joined(const std::vector<query::criteria>& of, std::string_view by) const {
    sql_condition out{"(", {}};
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (i != 0) out.text += by;
      add(out, std::visit(*this, of[i].node));
    }
    out.text += ')';
    return out;
  }

  static sql_condition membership(const one_of& test) {
    const std::string marks = question_marks(test.values.size());
    sql_condition out;
    switch (test.field) {
      case text_field::id:
        out.text = fmt::format("s.id IN ({})", marks);
        for (const one_of::value& v : test.values) out.values.emplace_back(v.octets);
        break;
      case text_field::publisher:
        out.text = fmt::format("s.publisher IN (SELECT id FROM publisher WHERE key IN ({}))", marks);
        for (const one_of::value& v : test.values) out.values.emplace_back(v.octets);
        break;
      case text_field::name_space:
        out.text = fmt::format("s.namespace IN (SELECT id FROM namespace WHERE name IN ({}))", marks);
        for (const one_of::value& v : test.values) out.values.emplace_back(v.text);
        break;
      case text_field::ref:
      case text_field::tag:
        for (const one_of::value& v : test.values) {
          if (!out.text.empty()) out.text += " OR ";
          out.text += test.field == text_field::ref ? "weir_has_ref(s.body, ?)" : "weir_has_tag(s.body, ?)";
          out.values.emplace_back(v.text);
        }
        break;
    }
    return out;
  }
};

// Keys of an index that together have every row for which a condition can hold.
struct key_choice {
  row_source source = row_source::all;
  std::vector<one_of::value> values;
};

// Lower is better: how few rows a key of the source is likely to have.
int rank(row_source source) noexcept {
  switch (source) {
    case row_source::by_id:
      return 0;
    case row_source::by_ref:
      return 1;
    case row_source::by_namespace:
      return 2;
    case row_source::all:
      return 3;
  }
  return 3;
}

struct key_chooser {
  // The best of the parts will do, for all of them must hold.
  std::optional<key_choice> operator()(const query::criteria::conjunction& all) const {
    std::optional<key_choice> best;
    for (const query::criteria& each : all.of) {
      std::optional<key_choice> one = std::visit(*this, each.node);
      if (one && (!best || rank(one->source) < rank(best->source))) best = std::move(one);
    }
    return best;
  }

  // Every part must give keys, and of one kind.
  std::optional<key_choice> operator()(const query::criteria::disjunction& any) const {
    std::optional<key_choice> joined;
    for (const query::criteria& each : any.of) {
      std::optional<key_choice> one = std::visit(*this, each.node);
      if (!one || (joined && joined->source != one->source)) return std::nullopt;
      if (!joined) {
        joined = std::move(one);
      } else {
        std::move(one->values.begin(), one->values.end(), std::back_inserter(joined->values));
      }
    }
    return joined;
  }

  std::optional<key_choice> operator()(const query::criteria::negation&) const { return std::nullopt; }
  std::optional<key_choice> operator()(const number_test&) const { return std::nullopt; }

  std::optional<key_choice> operator()(const one_of& test) const {
    if (test.negated) return std::nullopt;
    switch (test.field) {
      case text_field::id:
        return key_choice{row_source::by_id, test.values};
      case text_field::ref:
        return key_choice{row_source::by_ref, test.values};
      case text_field::name_space:
        return key_choice{row_source::by_namespace, test.values};
      case text_field::publisher:
      case text_field::tag:
        break;
    }
    return std::nullopt;
  }
};

// Narrows the range of counters by what the query says about them outright.
void narrow(query_plan& to, const query::criteria& what) {
  if (const auto* all = std::get_if<query::criteria::conjunction>(&what.node)) {
    for (const query::criteria& each : all->of) narrow(to, each);
    return;
  }
  const auto* test = std::get_if<number_test>(&what.node);
  if (test == nullptr || test->field != number_field::counter) return;
  const std::uint64_t n = test->value;
  switch (test->how) {
    case comparison::greater:
      to.after = std::max(to.after, n);
      break;
    case comparison::at_least:
      to.after = std::max(to.after, n == 0 ? 0 : n - 1);
      break;
    case comparison::less:
      to.upto = std::min(to.upto, n == 0 ? 0 : n - 1);
      break;
    case comparison::at_most:
      to.upto = std::min(to.upto, n);
      break;
    case comparison::equal:
      to.after = std::max(to.after, n == 0 ? 0 : n - 1);
      to.upto = std::min(to.upto, n);
      break;
    case comparison::not_equal:
      break;
  }
}

struct known_namespaces {
  std::vector<std::int64_t> ids;
  std::uint64_t statements = 0;
};

result<known_namespaces> look_up(const sql_condition& which, const sqlite_database& db) {
  WEIR_TRY(auto read, db.prepare("SELECT id, statements FROM namespace WHERE " + which.text + " ORDER BY id LIMIT ?"));
  which.bind_to(read);
  read.integer(merged_namespaces_max + 1);
  known_namespaces found;
  while (true) {
    WEIR_TRY(const bool row, read.step());
    if (!row) return found;
    found.ids.push_back(read.integer_at(0));
    found.statements += static_cast<std::uint64_t>(read.integer_at(1));
  }
}

// Whether merging these namespaces beats reading all rows: most of the rows are looked at either way, but by namespace
// each costs a search.
bool is_worth_merging(const known_namespaces& found, std::uint64_t counter) noexcept {
  return found.ids.size() <= merged_namespaces_max && found.statements <= counter / 2;
}

}  // namespace

void sql_condition::bind_to(sqlite_statement& statement) const {
  for (const value& v : values) {
    if (const auto* number = std::get_if<std::int64_t>(&v)) {
      statement.integer(*number);
    } else if (const auto* text_value = std::get_if<std::string>(&v)) {
      statement.text(*text_value);
    } else {
      statement.blob(std::get<bytes>(v));
    }
  }
}

sql_condition to_sql(const query::criteria& what) { return std::visit(compiler{}, what.node); }

sql_condition namespaces_to_sql(std::string_view column, std::string_view name, bool with_children) {
  if (!with_children) return {fmt::format("{} = ?", column), {std::string(name)}};
  if (name.empty()) return {"1", {}};
  // "a." to "a/" is everything that begins with "a.", for '/' comes after '.'; texts are compared octet by octet.
  return {fmt::format("({0} = ? OR ({0} > ? AND {0} < ?))", column),
          {std::string(name), std::string(name) + '.', std::string(name) + '/'}};
}

std::string query_plan::page_text() const {
  constexpr std::string_view columns = "SELECT s.counter, s.id, b.digest, s.body FROM ";
  constexpr std::string_view statement = "CROSS JOIN statement s ON s.counter = d.counter ";
  constexpr std::string_view bundle = "CROSS JOIN bundle b ON b.id = s.bundle ";
  const auto from = [&](std::string_view table, std::string_view key) {
    return fmt::format(
        "{}{} d {}{}WHERE d.{} = ? AND d.counter > ? AND d.counter <= ? AND {} ORDER BY d.counter LIMIT ?", columns,
        table, statement, bundle, key, where.text);
  };
  switch (source) {
    case row_source::by_id:
      return from("by_id", "id");
    case row_source::by_ref:
      return from("by_ref", "ref");
    case row_source::by_namespace:
      return from("by_namespace", "namespace");
    case row_source::all:
      break;
  }
  return fmt::format("{}statement s {}WHERE s.counter > ? AND s.counter <= ? AND {} ORDER BY s.counter LIMIT ?",
                     columns, bundle, where.text);
}

std::string query_plan::peek_text() const {
  const auto from = [](std::string_view table, std::string_view key) {
    return fmt::format("SELECT counter FROM {} WHERE {} = ? AND counter > ? ORDER BY counter LIMIT 1", table, key);
  };
  switch (source) {
    case row_source::by_id:
      return from("by_id", "id");
    case row_source::by_ref:
      return from("by_ref", "ref");
    case row_source::by_namespace:
      return from("by_namespace", "namespace");
    case row_source::all:
      break;
  }
  return "SELECT counter FROM statement WHERE ? = 0 AND counter > ? ORDER BY counter LIMIT 1";
}

result<query_plan> plan(const query& asked, std::uint64_t after, std::uint64_t upto, const index_keys& keys,
                        const sqlite_database& db) {
  query_plan out;
  out.after = std::min(after, integer_max);
  out.upto = std::min(upto, integer_max);
  std::optional<key_choice> choice;
  if (const query::criteria* where = asked.where()) {
    out.where = to_sql(*where);
    narrow(out, *where);
    out.after = std::min(out.after, integer_max);
    choice = std::visit(key_chooser{}, where->node);
  } else {
    out.where.text = "1";
  }

  const bool everywhere = asked.with_children() && asked.name_space().empty();
  if (choice && choice->source != row_source::by_namespace) {
    out.source = choice->source;
    for (const one_of::value& v : choice->values) {
      if (out.source == row_source::by_id) {
        digest id;
        std::copy(v.octets.begin(), v.octets.end(), id.begin());
        out.keys.push_back(keys.of(id));
      } else {
        out.keys.push_back(keys.of(v.text));
      }
    }
  } else if (choice || !everywhere) {
    // By the namespaces that WHERE names, if any, else by those of FROM.
    sql_condition which = namespaces_to_sql("name", asked.name_space(), asked.with_children());
    if (choice) {
      which = {fmt::format("name IN ({})", question_marks(choice->values.size())), {}};
      for (const one_of::value& v : choice->values) which.values.emplace_back(v.text);
    }
    WEIR_TRY(known_namespaces found, look_up(which, db));
    if (is_worth_merging(found, upto)) {
      out.source = row_source::by_namespace;
      out.keys = std::move(found.ids);
    }
  }
  std::sort(out.keys.begin(), out.keys.end());
  out.keys.erase(std::unique(out.keys.begin(), out.keys.end()), out.keys.end());

  // Rows that do not come by the namespaces of FROM are asked for them.
  if (!everywhere && (out.source != row_source::by_namespace || choice)) {
    sql_condition here = namespaces_to_sql("name", asked.name_space(), asked.with_children());
    out.where.text =
        fmt::format("{} AND s.namespace IN (SELECT id FROM namespace WHERE {})", out.where.text, here.text);
    std::move(here.values.begin(), here.values.end(), std::back_inserter(out.where.values));
  }
  return out;
}

}  // namespace weir::store::internal
