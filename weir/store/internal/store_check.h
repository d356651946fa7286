#pragma once

#include <weir/core/result.h>
#include <weir/store/internal/index_reader.h>
#include <weir/store/internal/object_segments.h>
#include <weir/store/statement_store.h>

namespace weir::store::internal {

/// Reads everything that is committed when it begins and recomputes everything: hashes, signatures, references, index
/// rows, totals. Beside a writer; what is written meanwhile is not looked at.
result<damage> check_store(reader_pool& readers, const object_segments& objects);

}  // namespace weir::store::internal
