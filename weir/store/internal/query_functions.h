#pragma once

#include <weir/core/result.h>
#include <weir/store/internal/sqlite.h>

namespace weir::store::internal {

/// Gives a connection the two functions that the SQL of queries uses on a statement's octets:
/// weir_has_ref(body, text) and weir_has_tag(body, text), 1 or 0. They read in place and allocate nothing.
result<void> add_query_functions(const sqlite_database& to);

}  // namespace weir::store::internal
