#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <weir/core/result.h>
#include <weir/store/statement.h>

namespace weir::store {

/// A parsed query: SELECT * FROM ns[.*] [WHERE criteria] [LIMIT n]. An immutable value.
class query {
 public:
  /// Reads the text. A fault is invalid_argument whose message has three lines: what is wrong and what was expected,
  /// the query, and a caret under the fault.
  static result<query> parse(std::string_view text);

  /// The query in its canonical spelling.
  [[nodiscard]] std::string text() const;
  /// Whether the query selects this statement, as far as the statement itself can tell: `counter` predicates, which
  /// are local to a store, count as true either way round; LIMIT is not considered.
  [[nodiscard]] bool selects(const statement& what, const cid& id) const;
  [[nodiscard]] std::optional<std::uint64_t> limit() const noexcept { return limit_; }

  struct criteria;  ///< the syntax tree; defined in internal/query_tree.h

  [[nodiscard]] const std::string& name_space() const noexcept { return namespace_; }  ///< without ".*"; empty for "*"
  [[nodiscard]] bool with_children() const noexcept { return with_children_; }         ///< ends in ".*" or is "*"
  [[nodiscard]] const criteria* where() const noexcept { return where_.get(); }        ///< null if none

 private:
  query() = default;
  std::string namespace_;
  bool with_children_ = false;
  std::shared_ptr<const criteria> where_;
  std::optional<std::uint64_t> limit_;
};

}  // namespace weir::store
