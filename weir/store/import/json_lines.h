#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weir/core/result.h>
#include <weir/store/batch.h>
#include <weir/store/import/import.h>

namespace weir::store::internal {

/// Makes the record of one line of JSON: the object in deterministic DAG-CBOR, its links as deps, a ref and tags from
/// the members that `how` names. A fault names file, line and column.
///
/// Whole numbers become integers, numbers with a point or an exponent floats; {"/": "b…"} a link. What JSON leaves open
/// is refused rather than guessed: repeated keys, whole numbers beyond 64 bits, other uses of the key "/".
///   Bounds  the line; limits::cbor_depth_max nested arrays and objects.
///   Source  RFC 8259; https://ipld.io/specs/codecs/dag-json/spec/
result<record> json_record(std::string_view text, const import_options& how, std::string_view file, std::uint64_t line);

}  // namespace weir::store::internal
