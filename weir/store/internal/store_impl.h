#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include <weir/core/file.h>
#include <weir/store/internal/index_reader.h>
#include <weir/store/internal/index_writer.h>
#include <weir/store/internal/object_segments.h>
#include <weir/store/internal/sqlite.h>
#include <weir/store/internal/store_settings.h>
#include <weir/store/statement_store.h>

namespace weir::store::internal {

/// statement_store::open with other settings than everybody's.
result<std::unique_ptr<statement_store>> open_store(const std::filesystem::path& directory,
                                                    const store_settings& settings);

/// The parts of a store, put together.
///
/// The order of a write is the promise: objects are appended and synced; then one SQLite transaction adds bundles,
/// statements, totals and the new end of the objects, and is synced by its commit; then readers are shown both. Before
/// the commit nothing has happened, whatever is behind the old end of the objects; after it everything has.
class store_impl final : public statement_store {
 public:
  store_impl(directory_lock lock, sqlite_database writer, index_totals totals, std::unique_ptr<object_segments> objects,
             std::shared_ptr<reader_pool> readers)
      : lock_(std::move(lock)),
        objects_(std::move(objects)),
        readers_(std::move(readers)),
        writer_(std::move(writer)),
        totals_(std::move(totals)),
        shown_(totals_) {}

  result<receipt> write(std::span<const verified_batch> batches) override;
  flow::any_flow<row> select(const query& asked, std::uint64_t after) const override;
  result<std::vector<digest>> missing_statements(std::span<const digest> ids) const override;
  result<std::vector<cid>> missing_objects(std::span<const cid> ids) const override;
  result<std::vector<bytes>> read_statements(std::span<const digest> ids) const override;
  result<std::vector<bytes>> read_bundles(std::span<const digest> ids) const override;
  result<bytes> read_object(const cid& id) const override;
  result<std::vector<bool>> already_said(std::span<const record> records, std::string_view name_space,
                                         const public_key& publisher) const override;
  result<totals> count() const override;
  result<damage> check() const override;

 private:
  // A write as it takes shape: what of the batches is new.
  struct new_content {
    index_addition index;
    std::vector<const block*> objects;
    receipt done;
  };
  result<new_content> find_new(std::span<const verified_batch> batches);
  result<void> find_new_bundles_and_statements(std::span<const verified_batch> batches, new_content& to);
  result<void> find_new_objects(std::span<const verified_batch> batches, new_content& to);
  [[nodiscard]] index_totals shown() const;
  result<void> check_references(std::span<const verified_batch> batches, const new_content& what) const;

  const directory_lock lock_;
  const std::unique_ptr<object_segments> objects_;
  const std::shared_ptr<reader_pool> readers_;

  std::mutex write_mutex_;  // one write at a time; guards the two below
  sqlite_database writer_;
  index_totals totals_;  // as committed

  // What readers are shown: set after a commit, when its objects are visible too. Rows beyond its counter do not exist
  // for them, so nobody meets a statement before its object.
  mutable std::mutex shown_mutex_;  // guards shown_; held for a copy
  index_totals shown_;
};

}  // namespace weir::store::internal
