#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/store/batch.h>
#include <weir/store/query.h>

namespace weir::store {

/// One stored statement as a query gives it.
struct row {
  std::uint64_t counter = 0;  ///< order of insertion into this store, from 1
  cid id;
  digest bundle{};  ///< of the bundle that attests it (a dag-cbor CID)
  bytes encoded;    ///< read it with decode_statement
};

/// What one durable write did.
struct receipt {
  std::uint64_t statements = 0;    ///< new in this store
  std::uint64_t objects = 0;       ///< new in this store
  std::uint64_t bytes = 0;         ///< of new objects and statements
  std::uint64_t already_here = 0;  ///< statements of the batches that were here before
};

/// Totals, and an order-free hash of each set: two stores with equal hashes and counts hold the same.
struct totals {
  std::uint64_t statements = 0, objects = 0, bundles = 0, object_bytes = 0, counter = 0;
  digest statement_set{}, object_set{};
};

/// What `check` found wrong.
struct damage {
  std::uint64_t dangling_objects = 0;  ///< named by a statement, not here
  std::uint64_t corrupt_objects = 0;
  std::uint64_t corrupt_statements = 0;
  std::uint64_t unattested = 0;
  bool totals_differ = false;
  std::vector<std::string> first;  ///< at most 20 lines for people
  [[nodiscard]] bool none() const noexcept {
    return !dangling_objects && !corrupt_objects && !corrupt_statements && !unattested && !totals_differ;
  }
};

/// Statements, bundles and objects of one data directory, durable.
///   Threads  shared: any number of readers beside one writer (writers queue on a mutex). Readers never wait for a
///            writer and see whole batches.
///   Owns     DIR/lock while open, DIR/statements.db, DIR/objects/.
class statement_store {
 public:
  ///   Errors  locked, io, permission, corrupt (says which file, and what to do), unsupported (a newer version)
  static result<std::unique_ptr<statement_store>> open(const std::filesystem::path& directory);
  virtual ~statement_store() = default;

  /// Writes the batches as one: objects first and synced, then bundles and statements in one transaction and synced;
  /// returns after both. What is here already is skipped. If a statement names an object that is neither here nor in
  /// the batches, nothing of them is written (not_found).
  virtual result<receipt> write(std::span<const verified_batch> batches) = 0;

  /// The rows a query selects, in counter order, up to the counter the store had when called. Reads in pages of bounded
  /// size and holds nothing open between them, so a slow consumer hinders nobody.
  ///   after   only rows with a larger counter
  ///   Waits   pulls read the disk: put observe_on between it and an event loop.
  [[nodiscard]] virtual flow::any_flow<row> select(const query& asked, std::uint64_t after = 0) const = 0;

  /// Which of these statements / objects are not here, in the order given.
  [[nodiscard]] virtual result<std::vector<digest>> missing_statements(std::span<const digest> ids) const = 0;
  [[nodiscard]] virtual result<std::vector<cid>> missing_objects(std::span<const cid> ids) const = 0;

  /// Reads of many at once, answered in the order given; an id that is not here is not_found and named.
  [[nodiscard]] virtual result<std::vector<bytes>> read_statements(std::span<const digest> ids) const = 0;
  [[nodiscard]] virtual result<std::vector<bytes>> read_bundles(std::span<const digest> ids) const = 0;
  /// One object; its checksum is verified on the way (corrupt).
  [[nodiscard]] virtual result<bytes> read_object(const cid& id) const = 0;

  /// Of these would-be statements of a publisher in a namespace, which have an equal one here already (same object,
  /// refs, tags and deps, any timestamp)? One flag per record: lets `publish` be repeated.
  [[nodiscard]] virtual result<std::vector<bool>> already_said(std::span<const record> records,
                                                               std::string_view name_space,
                                                               const public_key& publisher) const = 0;

  [[nodiscard]] virtual result<totals> count() const = 0;
  /// Reads everything and recomputes everything. Minutes for tens of millions.
  [[nodiscard]] virtual result<damage> check() const = 0;
};

}  // namespace weir::store
