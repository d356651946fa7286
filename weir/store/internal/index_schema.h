#pragma once

#include <filesystem>

#include <weir/core/result.h>
#include <weir/store/internal/sqlite.h>
#include <weir/store/internal/store_settings.h>

namespace weir::store::internal {

/// The statement index of a data directory, made or checked.
struct opened_index {
  sqlite_database writer;
  bool fresh = false;  ///< it was made just now
};

/// Opens the writer's connection, and makes the tables if there are none.
///   may_be_new  false: no tables are corrupt, and none are made
///   Errors  unsupported if a newer program made them; corrupt, with what to do, if they are not ours or damaged.
result<opened_index> open_index(const std::filesystem::path& path, const store_settings& settings, bool may_be_new);

/// One more connection, for reading, to an index that is there.
result<sqlite_database> open_index_reader(const std::filesystem::path& path);

}  // namespace weir::store::internal
