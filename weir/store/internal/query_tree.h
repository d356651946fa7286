#pragma once

// The syntax tree of a query's WHERE clause, as parsing leaves it: checked, resolved to octets, and flat, so that
// `a AND b AND c` is one node of three. Both readings of a query, `evaluate` here and the SQL of query_sql.h, walk this
// tree; a property test holds them against each other.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/store/query.h>

namespace weir::store {

namespace internal {

enum class text_field : std::uint8_t { id, publisher, ref, tag, name_space };
enum class number_field : std::uint8_t { timestamp, counter };
enum class comparison : std::uint8_t { equal, not_equal, less, at_most, greater, at_least };

std::string_view to_string(text_field field) noexcept;
std::string_view to_string(number_field field) noexcept;
std::string_view to_string(comparison how) noexcept;

/// Whether `left how right`.
bool compare(std::uint64_t left, comparison how, std::uint64_t right) noexcept;

/// The statement has one of these values: as its id, its publisher, its namespace, or among its refs or tags.
struct one_of {
  struct value {
    std::string text;  ///< as a person writes it: a CID, a key, a ref
    bytes octets;      ///< what is compared: the digest, the key's octets, the text's
  };
  text_field field = text_field::id;
  bool negated = false;  ///< written as `!=` or NOT IN: the statement has none of them
  std::vector<value> values;
};

struct number_test {
  number_field field = number_field::timestamp;
  comparison how = comparison::equal;
  std::uint64_t value = 0;
};

}  // namespace internal

struct query::criteria {
  struct conjunction {
    std::vector<criteria> of;  ///< two or more
  };
  struct disjunction {
    std::vector<criteria> of;  ///< two or more
  };
  struct negation {
    std::vector<criteria> of;  ///< exactly one; a vector because the type is not complete here
  };
  std::variant<conjunction, disjunction, negation, internal::one_of, internal::number_test> node;
};

namespace internal {

/// Whether the criteria hold for the statement; nothing if that hangs on a counter that is not given. Logic of three
/// values: `false AND unknown` is false, `true OR unknown` is true, else the unknown stays unknown.
std::optional<bool> evaluate(const query::criteria& what, const statement& about, const cid& id,
                             std::optional<std::uint64_t> counter);

/// Whether `name` is `parent` or a namespace below it: "a.b" is below "a", "ab" is not.
bool is_within(std::string_view name, std::string_view parent) noexcept;

}  // namespace internal

}  // namespace weir::store
