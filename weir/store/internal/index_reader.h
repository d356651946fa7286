#pragma once

// Reading the statement index beside its writer.
//
// A read is one short transaction on a connection that is borrowed for its length: nobody waits for the writer, and no
// snapshot stays open long enough to keep the log from being checkpointed. There are at most `connections_max`
// connections; who comes while all are lent waits for the next to come back.

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/core/result.h>
#include <weir/core/set_hash.h>
#include <weir/store/batch.h>
#include <weir/store/internal/index_keys.h>
#include <weir/store/internal/object_segments.h>
#include <weir/store/internal/sqlite.h>

namespace weir::store::internal {

/// The one row of `total`.
struct index_totals {
  std::uint64_t counter = 0;
  std::uint64_t bundles = 0;
  set_hash statements;
  object_totals objects;
  object_mark mark;
};

result<index_totals> read_totals(const sqlite_database& db);

class reader_pool;

/// A connection on loan; goes back by itself.
class reader_lease {
 public:
  reader_lease(reader_pool& from, std::unique_ptr<sqlite_database> connection)
      : from_(&from), connection_(std::move(connection)) {}
  reader_lease(reader_lease&& other) noexcept = default;
  reader_lease& operator=(reader_lease&&) = delete;
  ~reader_lease();
  [[nodiscard]] const sqlite_database& db() const noexcept { return *connection_; }

 private:
  reader_pool* from_;
  std::unique_ptr<sqlite_database> connection_;
};

/// The connections.
///   Threads  shared.
class reader_pool {
 public:
  static constexpr std::size_t connections_max = 8;  ///< 8 MiB of cache each

  explicit reader_pool(std::filesystem::path path, index_keys keys) : path_(std::move(path)), keys_(keys) {}

  result<reader_lease> borrow();
  [[nodiscard]] const index_keys& keys() const noexcept { return keys_; }

 private:
  friend class reader_lease;
  void give_back(std::unique_ptr<sqlite_database> connection);

  const std::filesystem::path path_;
  const index_keys keys_;
  std::mutex mutex_;  // guards the two below
  std::vector<std::unique_ptr<sqlite_database>> idle_;
  std::size_t lent_ = 0;
  std::condition_variable returned_;
};

/// Which of these statements are in the index: a counter for each, 0 where it is not. Looks them up in the order of
/// their keys, whatever the order given.
///   upto  rows with a larger counter do not count: they are committed, but readers have not been shown them yet.
result<std::vector<std::uint64_t>> find_statements(const sqlite_database& db, const index_keys& keys,
                                                   std::span<const digest> ids, std::uint64_t upto);
/// The same for bundles; the number is the bundle's row.
result<std::vector<std::uint64_t>> find_bundles(const sqlite_database& db, const index_keys& keys,
                                                std::span<const digest> ids);

/// The octets of statements and bundles by those numbers, in the order given.
result<std::vector<bytes>> read_statement_bodies(const sqlite_database& db, std::span<const std::uint64_t> counters);
result<std::vector<bytes>> read_bundle_bodies(const sqlite_database& db, std::span<const std::uint64_t> rows);

/// statement_store::already_said.
result<std::vector<bool>> find_equal_statements(const sqlite_database& db, const index_keys& keys,
                                                std::span<const record> records, std::string_view name_space,
                                                const public_key& publisher, std::uint64_t upto);

}  // namespace weir::store::internal
