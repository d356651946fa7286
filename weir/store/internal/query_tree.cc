#include <weir/store/internal/query_tree.h>

#include <algorithm>

namespace weir::store::internal {

std::string_view to_string(text_field field) noexcept {
  switch (field) {
    case text_field::id:
      return "id";
    case text_field::publisher:
      return "publisher";
    case text_field::ref:
      return "ref";
    case text_field::tag:
      return "tag";
    case text_field::name_space:
      return "namespace";
  }
  return "";
}

std::string_view to_string(number_field field) noexcept {
  return field == number_field::timestamp ? "timestamp" : "counter";
}

std::string_view to_string(comparison how) noexcept {
  switch (how) {
    case comparison::equal:
      return "=";
    case comparison::not_equal:
      return "!=";
    case comparison::less:
      return "<";
    case comparison::at_most:
      return "<=";
    case comparison::greater:
      return ">";
    case comparison::at_least:
      return ">=";
  }
  return "";
}

bool compare(std::uint64_t left, comparison how, std::uint64_t right) noexcept {
  switch (how) {
    case comparison::equal:
      return left == right;
    case comparison::not_equal:
      return left != right;
    case comparison::less:
      return left < right;
    case comparison::at_most:
      return left <= right;
    case comparison::greater:
      return left > right;
    case comparison::at_least:
      return left >= right;
  }
  return false;
}

bool is_within(std::string_view name, std::string_view parent) noexcept {
  return name.starts_with(parent) && (name.size() == parent.size() || name[parent.size()] == '.');
}

namespace {

bool same(bytes_view a, bytes_view b) noexcept { return std::ranges::equal(a, b); }

bool any_is(const std::vector<std::string>& texts, bytes_view octets) noexcept {
  return std::ranges::any_of(texts, [&](const std::string& t) { return same(as_bytes(t), octets); });
}

bool has(const statement& about, const cid& id, text_field field, bytes_view octets) noexcept {
  switch (field) {
    case text_field::id:
      return id.kind() == codec::dag_cbor && same(id.hash(), octets);
    case text_field::publisher:
      return same(about.publisher.octets, octets);
    case text_field::ref:
      return any_is(about.refs, octets);
    case text_field::tag:
      return any_is(about.tags, octets);
    case text_field::name_space:
      return same(as_bytes(about.name_space), octets);
  }
  return false;
}

struct evaluator {
  const statement& about;
  const cid& id;
  std::optional<std::uint64_t> counter;

  std::optional<bool> operator()(const query::criteria::conjunction& all) const {
    std::optional<bool> answer = true;
    for (const query::criteria& each : all.of) {
      const std::optional<bool> one = std::visit(*this, each.node);
      if (one == false) return false;
      if (!one) answer.reset();
    }
    return answer;
  }

  std::optional<bool> operator()(const query::criteria::disjunction& any) const {
    std::optional<bool> answer = false;
    for (const query::criteria& each : any.of) {
      const std::optional<bool> one = std::visit(*this, each.node);
      if (one == true) return true;
      if (!one) answer.reset();
    }
    return answer;
  }

  std::optional<bool> operator()(const query::criteria::negation& opposite) const {
    const std::optional<bool> one = std::visit(*this, opposite.of.front().node);
    return one ? std::optional(!*one) : std::nullopt;
  }

  std::optional<bool> operator()(const one_of& test) const {
    const bool found =
        std::ranges::any_of(test.values, [&](const one_of::value& v) { return has(about, id, test.field, v.octets); });
    return found != test.negated;
  }

  std::optional<bool> operator()(const number_test& test) const {
    if (test.field == number_field::timestamp) return compare(about.timestamp, test.how, test.value);
    return counter ? std::optional(compare(*counter, test.how, test.value)) : std::nullopt;
  }
};

}  // namespace

std::optional<bool> evaluate(const query::criteria& what, const statement& about, const cid& id,
                             std::optional<std::uint64_t> counter) {
  return std::visit(evaluator{about, id, counter}, what.node);
}

}  // namespace weir::store::internal
