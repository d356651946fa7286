#include <weir/store/internal/query_parser.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include <weir/core/cid.h>
#include <weir/core/keys.h>
#include <weir/core/limits.h>
#include <weir/store/internal/query_lexer.h>

namespace weir::store::internal {

namespace {

bool is_keyword(const token& t, std::string_view upper) noexcept {
  return t.kind == token_kind::word && std::ranges::equal(t.text, upper, [](char a, char b) {
           return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
         });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string described(const token& t) {
  if (t.kind == token_kind::end) return "the query ends here";
  if (t.kind == token_kind::quoted) return fmt::format("'{}' is out of place", t.text);
  return fmt::format("'{}' is out of place", t.text);
}

// a OR b OR c is one node of three, however it was bracketed.
template <class Node>
void add_flat(Node& to, query::criteria part) {
  if (auto* same = std::get_if<Node>(&part.node)) {
    for (query::criteria& each : same->of) to.of.push_back(std::move(each));
  } else {
    to.of.push_back(std::move(part));
  }
}

class parser {
 public:
  explicit parser(std::string_view text) : lexer_(text) {}

  // query := SELECT * FROM from [WHERE disjunction] [LIMIT number]
  result<parsed_query> run() {
    WEIR_CHECK(advance());
    WEIR_CHECK(take_select());
    parsed_query q;
    WEIR_CHECK(take_from(q));
    if (is_keyword(now_, "WHERE")) {
      WEIR_CHECK(advance());
      WEIR_TRY(q.where, disjunction(0));
    }
    if (is_keyword(now_, "LIMIT")) {
      WEIR_CHECK(advance());
      WEIR_TRY(q.limit, limit());
    }
    if (now_.kind != token_kind::end)
      return here(q.limit   ? "expected the end of the query"
                  : q.where ? "expected AND, OR, LIMIT or the end of the query"
                            : "expected WHERE, LIMIT or the end of the query");
    return q;
  }

 private:
  result<void> advance() {
    WEIR_TRY(now_, lexer_.next());
    return {};
  }

  // The fault is the current token, and this was expected instead.
  error here(std::string_view expected) const {
    return lexer_.fault_at(now_.offset, fmt::format("{}; {}", described(now_), expected));
  }
  error fault(const token& at, std::string_view sentence) const { return lexer_.fault_at(at.offset, sentence); }

  result<void> take_select() {
    if (is_keyword(now_, "DELETE")) return here("queries only read: expected SELECT * FROM");
    if (!is_keyword(now_, "SELECT")) return here("expected SELECT * FROM a namespace");
    WEIR_CHECK(advance());
    if (now_.text != "*" || now_.kind != token_kind::word)
      return here("expected '*': a query selects whole statements");
    WEIR_CHECK(advance());
    if (!is_keyword(now_, "FROM")) return here("expected FROM and a namespace");
    return advance();
  }

  // from := '*' | namespace | namespace '.*'
  result<void> take_from(parsed_query& q) {
    if (now_.kind != token_kind::word)
      return here("expected a namespace as in images.dpla, one and all below as in images.*, or *");
    std::string_view name = now_.text;
    if (name == "*") {
      q.with_children = true;
      return advance();
    }
    if (name.ends_with(".*")) {
      q.with_children = true;
      name.remove_suffix(2);
    }
    if (auto good = check_namespace(name); !good) return fault(now_, good.error().message);
    q.name_space = name;
    return advance();
  }

  result<std::uint64_t> limit() {
    const token at = now_;
    WEIR_TRY(const std::uint64_t rows, number());
    if (rows == 0) return fault(at, "LIMIT 0 selects nothing; leave LIMIT out to have all rows");
    return rows;
  }

  // disjunction := conjunction { OR conjunction }
  result<query::criteria> disjunction(int depth) {
    return chain<query::criteria::disjunction>("OR", [&] { return conjunction(depth); });
  }

  // conjunction := term { AND term }
  result<query::criteria> conjunction(int depth) {
    return chain<query::criteria::conjunction>("AND", [&] { return term(depth); });
  }

  template <class Node, class Part>
  result<query::criteria> chain(std::string_view joint, Part part) {
    WEIR_TRY(query::criteria first, part());
    if (!is_keyword(now_, joint)) return first;
    Node node;
    add_flat(node, std::move(first));
    while (is_keyword(now_, joint)) {
      WEIR_CHECK(advance());
      WEIR_TRY(query::criteria next, part());
      add_flat(node, std::move(next));
    }
    return query::criteria{std::move(node)};
  }

  // term := NOT term | '(' disjunction ')' | test
  result<query::criteria> term(int depth) {
    if (depth > limits::query_depth_max)
      return lexer_.fault_at(now_.offset,
                             fmt::format("parentheses and NOTs go more than {} deep", limits::query_depth_max));
    if (is_keyword(now_, "NOT")) {
      WEIR_CHECK(advance());
      WEIR_TRY(query::criteria inner, term(depth + 1));
      query::criteria::negation node;
      node.of.push_back(std::move(inner));
      return query::criteria{std::move(node)};
    }
    if (now_.kind == token_kind::open) {
      const token open = now_;
      WEIR_CHECK(advance());
      WEIR_TRY(query::criteria inner, disjunction(depth + 1));
      if (now_.kind != token_kind::close)
        return now_.kind == token_kind::end ? fault(open, "this parenthesis is never closed")
                                            : here("expected AND, OR or ')'");
      WEIR_CHECK(advance());
      return inner;
    }
    return test();
  }

  // test := text-field (=|!=) value | text-field [NOT] IN '(' value {',' value} ')' | number-field comparison number
  result<query::criteria> test() {
    if (now_.kind != token_kind::word)
      return here("expected a condition: id, publisher, ref, tag, namespace, timestamp or counter");
    const std::string name = lower(now_.text);
    if (name == "timestamp") return number_test_of(number_field::timestamp);
    if (name == "counter") return number_test_of(number_field::counter);
    for (const auto& [known, field] :
         {std::pair("id", text_field::id), std::pair("publisher", text_field::publisher),
          std::pair("ref", text_field::ref), std::pair("wki", text_field::ref), std::pair("tag", text_field::tag),
          std::pair("namespace", text_field::name_space)}) {
      if (name == known) return text_test_of(field);
    }
    return here("expected a condition: id, publisher, ref, tag, namespace, timestamp or counter");
  }

  result<query::criteria> number_test_of(number_field field) {
    WEIR_CHECK(advance());
    number_test test;
    test.field = field;
    switch (now_.kind) {
      case token_kind::equal:
        test.how = comparison::equal;
        break;
      case token_kind::not_equal:
        test.how = comparison::not_equal;
        break;
      case token_kind::less:
        test.how = comparison::less;
        break;
      case token_kind::at_most:
        test.how = comparison::at_most;
        break;
      case token_kind::greater:
        test.how = comparison::greater;
        break;
      case token_kind::at_least:
        test.how = comparison::at_least;
        break;
      default:
        return here("expected = != < <= > or >=");
    }
    WEIR_CHECK(advance());
    WEIR_TRY(test.value, number());
    return query::criteria{test};
  }

  result<query::criteria> text_test_of(text_field field) {
    WEIR_CHECK(advance());
    one_of test;
    test.field = field;
    if (is_keyword(now_, "NOT")) {
      test.negated = true;
      WEIR_CHECK(advance());
      if (!is_keyword(now_, "IN")) return here("expected IN and a list in parentheses");
    }
    if (is_keyword(now_, "IN")) {
      WEIR_CHECK(advance());
      WEIR_CHECK(take_list(test));
      return query::criteria{std::move(test)};
    }
    if (now_.kind == token_kind::not_equal) {
      test.negated = true;
    } else if (now_.kind != token_kind::equal) {
      return here("expected =, != or IN");
    }
    WEIR_CHECK(advance());
    WEIR_CHECK(take_value(test));
    return query::criteria{std::move(test)};
  }

  result<void> take_list(one_of& test) {
    if (now_.kind != token_kind::open) return here("expected a list in parentheses");
    do {
      WEIR_CHECK(advance());
      WEIR_CHECK(take_value(test));
    } while (now_.kind == token_kind::comma);
    if (now_.kind != token_kind::close) return here("expected ',' or ')'");
    return advance();
  }

  // Adds a value, read as its field demands: an id is a CID, a publisher a key.
  result<void> take_value(one_of& test) {
    if (now_.kind != token_kind::word && now_.kind != token_kind::quoted)
      return here("expected a value, in quotes if it has blanks or signs in it");
    one_of::value value{now_.text, to_bytes(now_.text)};
    switch (test.field) {
      case text_field::id: {
        const auto id = cid::parse(now_.text);
        if (!id || id->kind() != codec::dag_cbor)
          return fault(now_, "this is not a statement's id; expected a CID that begins with bafyrei");
        value.octets = to_bytes(id->hash());
        break;
      }
      case text_field::publisher: {
        const auto key = public_key::parse(now_.text);
        if (!key) return fault(now_, "this is not a publisher; expected a key that begins with z6Mk");
        value.octets = to_bytes(key->octets);
        break;
      }
      case text_field::name_space:
        if (now_.text == "*" || now_.text.ends_with(".*"))
          return fault(now_, "expected one namespace here; wildcards stand after FROM");
        if (auto good = check_namespace(now_.text); !good) return fault(now_, good.error().message);
        break;
      case text_field::ref:
      case text_field::tag:
        if (now_.text.empty()) return fault(now_, fmt::format("a {} is never empty", to_string(test.field)));
        break;
    }
    if (std::ranges::none_of(test.values, [&](const one_of::value& v) { return v.octets == value.octets; }))
      test.values.push_back(std::move(value));
    return advance();
  }

  result<std::uint64_t> number() {
    std::uint64_t value = 0;
    const char* const end = now_.text.data() + now_.text.size();
    const auto [stopped, why] = std::from_chars(now_.text.data(), end, value);
    if (now_.kind != token_kind::word || stopped != end ||
        (why != std::errc() && why != std::errc::result_out_of_range))
      return here("expected a whole number");
    if (why == std::errc::result_out_of_range)
      return fault(now_, "this number is too large; at most 18446744073709551615 is allowed");
    WEIR_CHECK(advance());
    return value;
  }

  query_lexer lexer_;
  token now_;
};

}  // namespace

result<parsed_query> parse_query(std::string_view text) { return parser(text).run(); }

}  // namespace weir::store::internal
