#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weir/core/result.h>
#include <weir/store/internal/query_tree.h>

namespace weir::store::internal {

struct parsed_query {
  std::string name_space;
  bool with_children = false;
  std::optional<query::criteria> where;
  std::optional<std::uint64_t> limit;
};

/// Parses a query by recursive descent; the grammar is in docs/query.md and above each method of the parser. A fault is
/// invalid_argument in three lines: sentence, query, caret.
///   Bounds  limits::query_depth_max parentheses and NOTs deep.
result<parsed_query> parse_query(std::string_view text);

}  // namespace weir::store::internal
