#pragma once

// Writing the statement index: one transaction for a whole write, every index table's rows sorted before they go in.

#include <cstdint>
#include <span>
#include <vector>

#include <weir/core/result.h>
#include <weir/store/batch.h>
#include <weir/store/internal/index_keys.h>
#include <weir/store/internal/index_reader.h>
#include <weir/store/internal/sqlite.h>

namespace weir::store::internal {

/// What goes into the index in one transaction. Nothing of it is there yet.
struct index_addition {
  struct one_statement {
    const verified_batch::attested* what;
    std::uint64_t bundle;  ///< its row: `bundle_rows` of an earlier write, or totals.bundles + 1 + index into `bundles`
  };
  std::vector<const block*> bundles;
  std::vector<one_statement> statements;
  index_totals after;  ///< the totals with this addition
};

/// Commits the addition, durably: statements get the counters after `before.counter`, bundles the rows after
/// `before.bundles`. After an error nothing of it is there, unless it is in doubt.
///   in_doubt  set if the sync of the commit failed: the log may hold the whole transaction, and only the next opening
///             shows whether it does.
result<void> add_to_index(const sqlite_database& db, const index_keys& keys, const index_totals& before,
                          const index_addition& what, bool& in_doubt);

}  // namespace weir::store::internal
