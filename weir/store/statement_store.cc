#include <weir/store/statement_store.h>

#include <algorithm>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <weir/store/internal/index_schema.h>
#include <weir/store/internal/select_flow.h>
#include <weir/store/internal/store_check.h>
#include <weir/store/internal/store_impl.h>

namespace weir::store {

namespace internal {

namespace {

result<void> make_directory(const std::filesystem::path& path) {
  std::error_code failed;
  if (std::filesystem::create_directory(path, failed)) return sync_directory(path.parent_path());
  if (failed) return system_error(fmt::format("cannot create directory '{}'", path.native()), failed.value());
  return {};
}

}  // namespace

result<std::unique_ptr<statement_store>> open_store(const std::filesystem::path& directory,
                                                    const store_settings& settings) {
  WEIR_TRY(directory_lock lock, directory_lock::acquire(directory));
  const std::filesystem::path index = directory / "statements.db", objects = directory / "objects";
  WEIR_CHECK(make_directory(objects));
  // An index is made only where there are no objects. Were a lost one made anew, its mark would say that no object is
  // committed, and they would all be cut off as the rest of an unfinished write.
  WEIR_TRY(const bool has_objects, object_segments::has_records(objects));
  WEIR_TRY(opened_index opened, open_index(index, settings, !has_objects));
  if (opened.fresh) WEIR_CHECK(sync_directory(directory));
  WEIR_TRY(index_totals totals, read_totals(opened.writer));
  WEIR_TRY(auto segments, object_segments::open(objects, totals.mark, settings));
  auto readers = std::make_shared<reader_pool>(index, index_keys(settings.key_mask));
  return std::unique_ptr<statement_store>(std::make_unique<store_impl>(
      std::move(lock), std::move(opened.writer), std::move(totals), std::move(segments), std::move(readers)));
}

// --- Writing. ---

result<receipt> store_impl::write(std::span<const verified_batch> batches) {
  const std::lock_guard lock(write_mutex_);
  WEIR_TRY(new_content what, find_new(batches));
  WEIR_CHECK(check_references(batches, what));

  WEIR_CHECK(objects_->append(what.objects));
  what.index.after.mark = objects_->staged_end();
  if (what.index.statements.empty() && what.index.bundles.empty() && what.objects.empty()) return what.done;
  bool in_doubt = false;
  if (auto added = add_to_index(writer_, readers_->keys(), totals_, what.index, in_doubt); !added) {
    if (in_doubt) {
      objects_->give_up(added.error());
    } else {
      objects_->roll_back();
    }
    return std::move(added).error();
  }
  objects_->publish();
  totals_ = what.index.after;
  const std::lock_guard show(shown_mutex_);
  shown_ = totals_;
  return what.done;
}

result<store_impl::new_content> store_impl::find_new(std::span<const verified_batch> batches) {
  new_content what;
  what.index.after = totals_;
  // One transaction for all look-ups: by itself, each would lock and unlock the log.
  WEIR_TRY(auto look_ups, sqlite_transaction::begin(writer_, sqlite_transaction::kind::read));
  WEIR_CHECK(find_new_bundles_and_statements(batches, what));
  WEIR_CHECK(look_ups.commit());
  WEIR_CHECK(find_new_objects(batches, what));
  return what;
}

result<void> store_impl::find_new_bundles_and_statements(std::span<const verified_batch> batches, new_content& to) {
  std::vector<digest> ids;
  for (const verified_batch& batch : batches) {
    for (const block& b : batch.bundles()) ids.push_back(b.id.hash());
  }
  WEIR_TRY(const std::vector<std::uint64_t> bundle_rows, find_bundles(writer_, readers_->keys(), ids));
  ids.clear();
  for (const verified_batch& batch : batches) {
    for (const verified_batch::attested& s : batch.statements()) ids.push_back(s.id.hash());
  }
  WEIR_TRY(const std::vector<std::uint64_t> counters, find_statements(writer_, readers_->keys(), ids, totals_.counter));

  index_totals& after = to.index.after;
  std::unordered_map<cid, std::uint64_t> new_bundles;
  std::unordered_set<cid> new_statements;
  new_statements.reserve(counters.size());
  to.index.statements.reserve(counters.size());
  std::size_t bundle_at = 0, statement_at = 0;
  std::vector<std::uint64_t> rows;  // of the bundles of one batch
  for (const verified_batch& batch : batches) {
    rows.clear();
    for (const block& b : batch.bundles()) {
      std::uint64_t row = bundle_rows[bundle_at++];
      if (row == 0) {
        const auto [place, is_new] = new_bundles.emplace(b.id, after.bundles + 1);
        row = place->second;
        if (is_new) {
          to.index.bundles.push_back(&b);
          ++after.bundles;
          to.done.bytes += b.data.size();
        }
      }
      rows.push_back(row);
    }
    for (const verified_batch::attested& s : batch.statements()) {
      if (counters[statement_at++] != 0 || !new_statements.insert(s.id).second) {
        ++to.done.already_here;
        continue;
      }
      to.index.statements.push_back({&s, rows[s.bundle]});
      ++after.counter;
      after.statements.add(s.id.hash());
      ++to.done.statements;
      to.done.bytes += s.encoded.size();
    }
  }
  return {};
}

result<void> store_impl::find_new_objects(std::span<const verified_batch> batches, new_content& to) {
  std::unordered_set<cid> seen;
  for (const verified_batch& batch : batches) {
    for (const block& object : batch.objects()) {
      if (!seen.insert(object.id).second) continue;
      WEIR_TRY(const bool here, objects_->contains(object.id));
      if (here) continue;
      to.objects.push_back(&object);
      to.index.after.objects.add(object.id, object.data.size());
      ++to.done.objects;
      to.done.bytes += object.data.size();
    }
  }
  return {};
}

// No statement enters before what it names: the object and every dep is here or comes with it.
result<void> store_impl::check_references(std::span<const verified_batch> batches, const new_content& what) const {
  std::unordered_set<cid> known;
  for (const verified_batch& batch : batches) {
    for (const block& object : batch.objects()) known.insert(object.id);
  }
  for (const index_addition::one_statement& one : what.index.statements) {
    const auto check_one = [&](const cid& named) -> result<void> {
      if (known.contains(named)) return {};
      WEIR_TRY(const bool here, objects_->contains(named));
      if (!here)
        return fail(errc::not_found, fmt::format("statement {} names object {}, which is neither here nor came with it",
                                                 one.what->id.text(), named.text()));
      known.insert(named);
      return {};
    };
    WEIR_CHECK(check_one(one.what->what.object));
    for (const cid& dep : one.what->what.deps) WEIR_CHECK(check_one(dep));
  }
  return {};
}

// --- Reading. ---

index_totals store_impl::shown() const {
  const std::lock_guard lock(shown_mutex_);
  return shown_;
}

flow::any_flow<row> store_impl::select(const query& asked, std::uint64_t after) const {
  return select_flow(std::make_unique<row_pages>(readers_, asked, after, shown().counter));
}

result<std::vector<digest>> store_impl::missing_statements(std::span<const digest> ids) const {
  const std::uint64_t upto = shown().counter;
  WEIR_TRY(const reader_lease lease, readers_->borrow());
  WEIR_TRY(const auto snapshot, sqlite_transaction::begin(lease.db(), sqlite_transaction::kind::read));
  WEIR_TRY(const std::vector<std::uint64_t> counters, find_statements(lease.db(), readers_->keys(), ids, upto));
  std::vector<digest> missing;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (counters[i] == 0) missing.push_back(ids[i]);
  }
  return missing;
}

result<std::vector<cid>> store_impl::missing_objects(std::span<const cid> ids) const {
  std::vector<cid> missing;
  for (const cid& id : ids) {
    WEIR_TRY(const bool here, objects_->contains(id));
    if (!here) missing.push_back(id);
  }
  return missing;
}

namespace {

result<void> expect_all(std::string_view what, std::span<const digest> ids, std::span<const std::uint64_t> rows) {
  const auto absent = std::find(rows.begin(), rows.end(), 0u);
  if (absent == rows.end()) return {};
  const digest& id = ids[static_cast<std::size_t>(absent - rows.begin())];
  return fail(errc::not_found, fmt::format("{} {} is not here", what, cid(codec::dag_cbor, id).text()));
}

}  // namespace

result<std::vector<bytes>> store_impl::read_statements(std::span<const digest> ids) const {
  const std::uint64_t upto = shown().counter;
  WEIR_TRY(const reader_lease lease, readers_->borrow());
  WEIR_TRY(const auto snapshot, sqlite_transaction::begin(lease.db(), sqlite_transaction::kind::read));
  WEIR_TRY(const auto counters, find_statements(lease.db(), readers_->keys(), ids, upto));
  WEIR_CHECK(expect_all("statement", ids, counters));
  return read_statement_bodies(lease.db(), counters);
}

result<std::vector<bytes>> store_impl::read_bundles(std::span<const digest> ids) const {
  WEIR_TRY(const reader_lease lease, readers_->borrow());
  WEIR_TRY(const auto snapshot, sqlite_transaction::begin(lease.db(), sqlite_transaction::kind::read));
  WEIR_TRY(const auto rows, find_bundles(lease.db(), readers_->keys(), ids));
  WEIR_CHECK(expect_all("bundle", ids, rows));
  return read_bundle_bodies(lease.db(), rows);
}

result<bytes> store_impl::read_object(const cid& id) const { return objects_->read(id); }

result<std::vector<bool>> store_impl::already_said(std::span<const record> records, std::string_view name_space,
                                                   const public_key& publisher) const {
  const std::uint64_t upto = shown().counter;
  WEIR_TRY(const reader_lease lease, readers_->borrow());
  WEIR_TRY(const auto snapshot, sqlite_transaction::begin(lease.db(), sqlite_transaction::kind::read));
  return find_equal_statements(lease.db(), readers_->keys(), records, name_space, publisher, upto);
}

result<totals> store_impl::count() const {
  const index_totals t = shown();
  totals out;
  out.statements = t.statements.count();
  out.objects = t.objects.set.count();
  out.bundles = t.bundles;
  out.object_bytes = t.objects.bytes;
  out.counter = t.counter;
  out.statement_set = t.statements.value();
  out.object_set = t.objects.set.value();
  return out;
}

result<damage> store_impl::check() const { return check_store(*readers_, *objects_); }

}  // namespace internal

result<std::unique_ptr<statement_store>> statement_store::open(const std::filesystem::path& directory) {
  return internal::open_store(directory, {});
}

}  // namespace weir::store
