#pragma once

// A query as SQLite reads it. Only the shape of the query goes into the text; every name and number of its author is a
// bound parameter.
//
// `to_sql` gives a condition on the columns of one row of `statement` (alias s) that is 0 or 1, never NULL, and never
// joins: so NOT means what it says, and no row is dropped or doubled however many refs it has.
//
// `plan` chooses where the rows come from. The rows of a key of an index table come in counter order, so several keys
// are merged by counter without sorting, page by page; see select_flow.h.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <weir/store/internal/index_keys.h>
#include <weir/store/internal/query_tree.h>
#include <weir/store/internal/sqlite.h>

namespace weir::store::internal {

struct sql_condition {
  using value = std::variant<std::int64_t, std::string, bytes>;
  std::string text;           ///< with a '?' for each value
  std::vector<value> values;  ///< numbers, texts and blobs, in the order of the '?'

  /// Binds the values; they must outlive the statement's use.
  void bind_to(sqlite_statement& statement) const;
};

/// The condition that holds for exactly the rows for which the criteria do.
sql_condition to_sql(const query::criteria& what);

/// The condition on s.namespace of FROM: one namespace, or it and all below.
sql_condition namespaces_to_sql(std::string_view column, std::string_view name, bool with_children);

/// Where the rows of a query come from.
enum class row_source : std::uint8_t {
  all,           ///< `statement` itself, by counter
  by_id,         ///< the rows of some 8-octet keys of ids
  by_ref,        ///< the rows of some 8-octet keys of refs
  by_namespace,  ///< the rows of some namespaces
};

struct query_plan {
  row_source source = row_source::all;
  std::vector<std::int64_t> keys;  ///< sorted, without repetition; empty for `all`
  std::uint64_t after = 0;         ///< only counters above this …
  std::uint64_t upto = 0;          ///< … and up to this
  sql_condition where;             ///< on the rows that come from there; always a condition

  /// The text that gives counter, id, bundle's digest, body of rows in counter order. Parameters: the key unless the
  /// source is `all`, the counter before, the counter up to, then those of `where`, then the number of rows.
  [[nodiscard]] std::string page_text() const;
  /// The text that gives the first counter of a key above a counter. Parameters: key, counter.
  [[nodiscard]] std::string peek_text() const;
};

/// Plans a query on the rows with counters in (after, upto]. Looks up namespaces.
result<query_plan> plan(const query& asked, std::uint64_t after, std::uint64_t upto, const index_keys& keys,
                        const sqlite_database& db);

}  // namespace weir::store::internal
