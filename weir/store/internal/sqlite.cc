#include <weir/store/internal/sqlite.h>

#include <cassert>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

namespace weir::store::internal {

namespace {

errc code_of(int primary, int system) noexcept {
  switch (primary) {
    case SQLITE_FULL:
      return errc::disk_full;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return system == ENOSPC || system == EDQUOT ? errc::disk_full : errc::io;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return errc::corrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return errc::permission;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return errc::locked;
    default:
      return errc::io;
  }
}

}  // namespace

void sqlite_database::closer::operator()(sqlite3* open) const noexcept { sqlite3_close_v2(open); }
void sqlite_statement::finalizer::operator()(sqlite3_stmt* prepared) const noexcept { sqlite3_finalize(prepared); }

result<sqlite_database> sqlite_database::open(const std::filesystem::path& path, mode how) {
  const int flags = SQLITE_OPEN_NOMUTEX |
                    (how == mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  if (handle == nullptr) return fail(errc::io, fmt::format("cannot open '{}': out of memory", path.native()));
  sqlite_database made(handle, path);
  if (code != SQLITE_OK) return made.failure(code);
  sqlite3_extended_result_codes(handle, 1);
  return made;
}

error sqlite_database::failure(int code) const {
  const int system = sqlite3_system_errno(handle_.get());
  return fail(code_of(code & 0xff, system), fmt::format("'{}': {}", path_.native(), sqlite3_errmsg(handle_.get())),
              system);
}

result<void> sqlite_database::run(const char* text) const {
  const int code = sqlite3_exec(handle_.get(), text, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return {};
}

result<sqlite_statement> sqlite_database::prepare(std::string_view text) const {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), text.data(), static_cast<int>(text.size()), &prepared, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return sqlite_statement(prepared, *this);
}

std::int64_t sqlite_database::last_row_id() const noexcept { return sqlite3_last_insert_rowid(handle_.get()); }

// A bind fails only for a parameter that the text does not have, or out of memory; step() then says so.
sqlite_statement& sqlite_statement::integer(std::int64_t value) noexcept {
  [[maybe_unused]] const int code = sqlite3_bind_int64(prepared_.get(), ++bound_, value);
  assert(code == SQLITE_OK);
  return *this;
}

sqlite_statement& sqlite_statement::blob(bytes_view value) noexcept {
  // A null pointer would bind NULL; an empty blob is not that.
  static constexpr std::uint8_t nothing = 0;
  [[maybe_unused]] const int code = sqlite3_bind_blob64(
      prepared_.get(), ++bound_, value.empty() ? &nothing : value.data(), value.size(), SQLITE_STATIC);
  assert(code == SQLITE_OK);
  return *this;
}

sqlite_statement& sqlite_statement::text(std::string_view value) noexcept {
  [[maybe_unused]] const int code = sqlite3_bind_text64(prepared_.get(), ++bound_, value.empty() ? "" : value.data(),
                                                        value.size(), SQLITE_STATIC, SQLITE_UTF8);
  assert(code == SQLITE_OK);
  return *this;
}

result<bool> sqlite_statement::step() {
  const int code = sqlite3_step(prepared_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return of_->failure(code);
}

result<void> sqlite_statement::run() {
  const auto stepped = step();
  reset();
  if (!stepped) return stepped.error();
  return {};
}

void sqlite_statement::reset() noexcept {
  sqlite3_reset(prepared_.get());
  bound_ = 0;
}

std::int64_t sqlite_statement::integer_at(int column) const noexcept {
  return sqlite3_column_int64(prepared_.get(), column);
}

bytes_view sqlite_statement::blob_at(int column) const noexcept {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(prepared_.get(), column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(prepared_.get(), column))};
}

std::string_view sqlite_statement::text_at(int column) const noexcept {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(prepared_.get(), column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(prepared_.get(), column))};
}

result<sqlite_transaction> sqlite_transaction::begin(const sqlite_database& of, kind what) {
  WEIR_CHECK(of.run(what == kind::read ? "BEGIN" : "BEGIN IMMEDIATE"));
  return sqlite_transaction(of);
}

sqlite_transaction::~sqlite_transaction() {
  // Some failures roll back by themselves; then there is nothing left to do here.
  if (of_ != nullptr && sqlite3_get_autocommit(of_->handle()) == 0) (void)of_->run("ROLLBACK");
}

result<void> sqlite_transaction::commit() {
  WEIR_CHECK(of_->run("COMMIT"));
  of_ = nullptr;
  return {};
}

}  // namespace weir::store::internal
