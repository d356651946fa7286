#include <weir/store/internal/query_functions.h>

#include <sqlite3.h>

#include <weir/core/cbor.h>

namespace weir::store::internal {

namespace {

result<bool> list_has(cbor::reader& in, std::string_view wanted) {
  WEIR_TRY(const std::uint64_t count, in.array());
  bool found = false;
  for (std::uint64_t i = 0; i < count; ++i) {
    WEIR_TRY(const std::string_view text, in.text());
    found = found || text == wanted;
  }
  return found;
}

// A statement begins with deps, refs, tags; see statement.cc.
result<bool> statement_has(bytes_view body, std::string_view list, std::string_view wanted) {
  cbor::reader in(body);
  WEIR_CHECK(in.map());
  WEIR_CHECK(in.key("deps"));
  WEIR_CHECK(in.skip());
  WEIR_CHECK(in.key("refs"));
  if (list == "refs") return list_has(in, wanted);
  WEIR_CHECK(in.skip());
  WEIR_CHECK(in.key("tags"));
  return list_has(in, wanted);
}

void answer(sqlite3_context* context, sqlite3_value** arguments, std::string_view list) {
  const auto* body = static_cast<const std::uint8_t*>(sqlite3_value_blob(arguments[0]));
  const auto body_size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[1]));
  const auto text_size = static_cast<std::size_t>(sqlite3_value_bytes(arguments[1]));
  const auto found = statement_has({body, body_size}, list, {text, text_size});
  if (found) {
    sqlite3_result_int(context, *found ? 1 : 0);
  } else {
    sqlite3_result_error(context, found.error().message.c_str(), -1);
    sqlite3_result_error_code(context, SQLITE_CORRUPT);
  }
}

}  // namespace

result<void> add_query_functions(const sqlite_database& to) {
  constexpr int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  int code = sqlite3_create_function_v2(
      to.handle(), "weir_has_ref", 2, flags, nullptr,
      [](sqlite3_context* c, int, sqlite3_value** a) { answer(c, a, "refs"); }, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK)
    code = sqlite3_create_function_v2(
        to.handle(), "weir_has_tag", 2, flags, nullptr,
        [](sqlite3_context* c, int, sqlite3_value** a) { answer(c, a, "tags"); }, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return to.failure(code);
  return {};
}

}  // namespace weir::store::internal
