#include <weir/store/internal/query_lexer.h>

#include <algorithm>

#include <fmt/format.h>

namespace weir::store::internal {

namespace {

// What a person sees of a long query: this much to either side of the fault.
constexpr std::size_t shown_around = 90;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_control(char c) noexcept {
  const auto octet = static_cast<unsigned char>(c);
  return octet < 0x20 || octet == 0x7f;
}

bool is_word_character(char c) noexcept {
  return !is_blank(c) && !is_control(c) && std::string_view("(),;=!<>'\"").find(c) == std::string_view::npos;
}

bool continues_a_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

bool query_lexer::is_word(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, is_word_character);
}

error query_lexer::fault_at(std::size_t offset, std::string_view sentence) const {
  offset = std::min(offset, text_.size());
  std::size_t from = offset > shown_around ? offset - shown_around : 0;
  std::size_t to = std::min(text_.size(), offset + shown_around);
  while (from > 0 && continues_a_character(text_[from])) --from;
  while (to < text_.size() && continues_a_character(text_[to])) ++to;

  // The caret counts characters, not octets, and blanks of any kind become spaces, so that it stands where it points.
  std::string line = from > 0 ? "..." : "";
  std::size_t column = line.size();
  for (std::size_t i = from; i < to; ++i) {
    line += is_control(text_[i]) ? ' ' : text_[i];
    if (i < offset && !continues_a_character(text_[i])) ++column;
  }
  if (to < text_.size()) line += "...";
  return fail(errc::invalid_argument, fmt::format("{}\n{}\n{}^", sentence, line, std::string(column, ' ')));
}

result<token> query_lexer::next() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  const std::size_t begin = at_;
  const auto take = [&](token_kind kind, std::size_t length) {
    at_ = begin + length;
    return token{kind, std::string(text_.substr(begin, length)), begin, length};
  };
  if (begin == text_.size()) return token{token_kind::end, "", begin, 0};
  const std::string_view rest = text_.substr(begin);
  switch (rest.front()) {
    case '(':
      return take(token_kind::open, 1);
    case ')':
      return take(token_kind::close, 1);
    case ',':
      return take(token_kind::comma, 1);
    case '=':
      if (rest.starts_with("==")) return fault_at(begin, "'==' is not an operator here; expected '='");
      return take(token_kind::equal, 1);
    case '<':
      if (rest.starts_with("<=")) return take(token_kind::at_most, 2);
      if (rest.starts_with("<>")) return take(token_kind::not_equal, 2);
      return take(token_kind::less, 1);
    case '>':
      return rest.starts_with(">=") ? take(token_kind::at_least, 2) : take(token_kind::greater, 1);
    case '!':
      if (rest.starts_with("!=")) return take(token_kind::not_equal, 2);
      return fault_at(begin, "'!' stands alone; expected '!=', or NOT before a condition");
    case '\'':
      return quoted(begin);
    case '"':
      return fault_at(begin, "texts are quoted with ', not with \"");
    case ';':
      return fault_at(begin, "a query has no ';': it ends with its text; in a value, quote it: 'a;b'");
    default:
      break;
  }
  std::size_t length = 0;
  while (length < rest.size() && is_word_character(rest[length])) ++length;
  if (length == 0) return fault_at(begin, "a control character has no place in a query");
  return take(token_kind::word, length);
}

result<token> query_lexer::quoted(std::size_t begin) {
  std::string value;
  for (at_ = begin + 1; at_ < text_.size(); ++at_) {
    if (text_[at_] != '\'') {
      value += text_[at_];
    } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
      value += text_[at_++];
    } else {
      ++at_;
      return token{token_kind::quoted, std::move(value), begin, at_ - begin};
    }
  }
  return fault_at(begin, "this quote has no partner; a quote inside a text is written twice: 'it''s'");
}

}  // namespace weir::store::internal
