#pragma once

// SQLite in the terms of this library: results instead of codes, views instead of pointers, closing by scope. Nothing
// outside of internal/ sees it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

struct sqlite3;
struct sqlite3_stmt;

namespace weir::store::internal {

class sqlite_statement;

/// A connection to one database file.
///   Threads  confined, one thread at a time.
class sqlite_database {
 public:
  enum class mode : std::uint8_t { read_only, read_write_create };

  static result<sqlite_database> open(const std::filesystem::path& path, mode how);

  /// Runs statements that give no rows worth having. The text is a constant of ours, never made of input.
  result<void> run(const char* text) const;
  result<sqlite_statement> prepare(std::string_view text) const;

  [[nodiscard]] std::int64_t last_row_id() const noexcept;
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }

  /// The error of a call that gave `code`: a full disk is disk_full, a damaged file corrupt, and so on.
  [[nodiscard]] error failure(int code) const;

 private:
  struct closer {
    void operator()(sqlite3* open) const noexcept;
  };
  sqlite_database(sqlite3* handle, std::filesystem::path path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, closer> handle_;
  std::filesystem::path path_;
};

/// A prepared statement. Binds borrow their octets until the next reset().
///   Threads  confined, with its connection. Does not outlive it, nor the connection's being moved.
class sqlite_statement {
 public:
  /// Binds the next parameter, from the first after reset().
  sqlite_statement& integer(std::int64_t value) noexcept;
  sqlite_statement& blob(bytes_view value) noexcept;
  sqlite_statement& text(std::string_view value) noexcept;

  /// Goes to the next row; false when there is none.
  result<bool> step();
  /// Binds were made: runs the statement to its end and resets it.
  result<void> run();
  void reset() noexcept;

  /// Columns of the row, from 0. Views live until the next step or reset.
  [[nodiscard]] std::int64_t integer_at(int column) const noexcept;
  [[nodiscard]] bytes_view blob_at(int column) const noexcept;
  [[nodiscard]] std::string_view text_at(int column) const noexcept;

 private:
  friend class sqlite_database;
  struct finalizer {
    void operator()(sqlite3_stmt* prepared) const noexcept;
  };
  sqlite_statement(sqlite3_stmt* prepared, const sqlite_database& of) : prepared_(prepared), of_(&of) {}
  std::unique_ptr<sqlite3_stmt, finalizer> prepared_;
  const sqlite_database* of_;
  int bound_ = 0;
};

/// BEGIN … COMMIT; rolls back if it goes out of scope before that.
class sqlite_transaction {
 public:
  enum class kind : std::uint8_t { read, write };
  static result<sqlite_transaction> begin(const sqlite_database& of, kind what);
  sqlite_transaction(sqlite_transaction&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  sqlite_transaction& operator=(sqlite_transaction&&) = delete;
  ~sqlite_transaction();

  result<void> commit();

 private:
  explicit sqlite_transaction(const sqlite_database& of) : of_(&of) {}
  const sqlite_database* of_;
};

}  // namespace weir::store::internal
