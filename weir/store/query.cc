#include <weir/store/query.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/core/utf8.h>
#include <weir/store/internal/query_lexer.h>
#include <weir/store/internal/query_parser.h>
#include <weir/store/internal/query_tree.h>

namespace weir::store {

namespace {

using internal::query_lexer;

// A text that could be read as a keyword after a value list is still only a value there, so any word may stand bare.
std::string spelled(const internal::one_of& test, const internal::one_of::value& value) {
  if (test.field == internal::text_field::id || test.field == internal::text_field::publisher ||
      query_lexer::is_word(value.text))
    return value.text;
  std::string quoted = "'";
  for (const char c : value.text) {
    quoted += c;
    if (c == '\'') quoted += c;
  }
  return quoted + '\'';
}

struct speller {
  std::string operator()(const query::criteria::conjunction& all) const { return joined(all.of, " AND "); }
  std::string operator()(const query::criteria::disjunction& any) const { return joined(any.of, " OR "); }
  std::string operator()(const query::criteria::negation& opposite) const {
    return "NOT " + within(opposite.of.front());
  }
  std::string operator()(const internal::number_test& test) const {
    return fmt::format("{} {} {}", to_string(test.field), to_string(test.how), test.value);
  }
  std::string operator()(const internal::one_of& test) const {
    if (test.values.size() == 1)
      return fmt::format("{} {} {}", to_string(test.field), test.negated ? "!=" : "=",
                         spelled(test, test.values.front()));
    std::string list;
    for (const internal::one_of::value& value : test.values) {
      if (!list.empty()) list += ", ";
      list += spelled(test, value);
    }
    return fmt::format("{} {} ({})", to_string(test.field), test.negated ? "NOT IN" : "IN", list);
  }

 private:
  // AND and OR inside anything but their own kind are set in parentheses: right for every reader.
  std::string within(const query::criteria& inner) const {
    const std::string text = std::visit(*this, inner.node);
    const bool bare = !std::holds_alternative<query::criteria::conjunction>(inner.node) &&
                      !std::holds_alternative<query::criteria::disjunction>(inner.node);
    return bare ? text : '(' + text + ')';
  }
  std::string joined(const std::vector<query::criteria>& of, std::string_view by) const {
    std::string text;
    for (const query::criteria& each : of) {
      if (!text.empty()) text += by;
      text += within(each);
    }
    return text;
  }
};

}  // namespace

result<query> query::parse(std::string_view text) {
  const query_lexer faults(text);
  if (text.size() > limits::query_bytes_max)
    return faults.fault_at(limits::query_bytes_max, fmt::format("the query has {} octets; at most {} are allowed",
                                                                text.size(), limits::query_bytes_max));
  if (!is_utf8(text)) return fail(errc::invalid_argument, "the query is not UTF-8");
  WEIR_TRY(internal::parsed_query parsed, internal::parse_query(text));
  query q;
  q.namespace_ = std::move(parsed.name_space);
  q.with_children_ = parsed.with_children;
  q.limit_ = parsed.limit;
  if (parsed.where) q.where_ = std::make_shared<const criteria>(*std::move(parsed.where));
  // Peers are sent the canonical spelling, which a peer must be able to read.
  if (const std::size_t size = q.text().size(); size > limits::query_bytes_max)
    return faults.fault_at(0, fmt::format("the query, spelled in full, has {} octets; at most {} are allowed", size,
                                          limits::query_bytes_max));
  return q;
}

std::string query::text() const {
  std::string out = "SELECT * FROM " + namespace_;
  if (with_children_) out += namespace_.empty() ? "*" : ".*";
  if (where_) out += " WHERE " + std::visit(speller{}, where_->node);
  if (limit_) out += fmt::format(" LIMIT {}", *limit_);
  return out;
}

bool query::selects(const statement& what, const cid& id) const {
  const bool here = with_children_ ? namespace_.empty() || internal::is_within(what.name_space, namespace_)
                                   : what.name_space == namespace_;
  return here && (!where_ || internal::evaluate(*where_, what, id, std::nullopt) != false);
}

}  // namespace weir::store
