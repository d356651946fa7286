#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <weir/core/result.h>

namespace weir::store::internal {

/// The smallest pieces of a query. A word is a run of anything but blanks and `( ) , = ! < > ' "`, so that namespaces,
/// refs, numbers and keywords are all words and only the parser tells them apart.
enum class token_kind : std::uint8_t {
  word,
  quoted,
  open,
  close,
  comma,
  equal,
  not_equal,
  less,
  at_most,
  greater,
  at_least,
  end
};

struct token {
  token_kind kind = token_kind::end;
  std::string text;        ///< a word as written; a quoted text without its quotes
  std::size_t offset = 0;  ///< of its first octet in the query
  std::size_t length = 0;  ///< octets it takes there
};

/// Takes a query apart, one token ahead.
///   Threads  confined. Borrows the text.
class query_lexer {
 public:
  explicit query_lexer(std::string_view text) : text_(text) {}

  /// The next token. A quote without its partner, or a character that begins nothing, is an error with a caret.
  result<token> next();

  /// An error of three lines: the sentence, the query, and a caret under the octet at `offset`.
  [[nodiscard]] error fault_at(std::size_t offset, std::string_view sentence) const;

  /// Whether the text can stand without quotes.
  static bool is_word(std::string_view text) noexcept;

 private:
  result<token> quoted(std::size_t begin);
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace weir::store::internal
