#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/store/batch.h>

namespace weir::store {

enum class import_format : std::uint8_t { automatic, json_lines, deb822 };

struct import_options {
  import_format format = import_format::automatic;  ///< automatic: by the first non-blank character, '{' is JSON
  std::string ref_field;                            ///< JSON lines: the member whose text or number becomes the ref
  std::string ref_prefix;                           ///< JSON lines: put before it: "dpla:"
  std::string tag_field;  ///< JSON lines: the member, text or array of texts, that becomes the tags
  std::shared_ptr<std::atomic<std::uint64_t>> taken;  ///< if set, counts the octets read so far: for progress
};

/// The records of a file ("-": standard input), read as they are pulled, in bounded memory. A JSON line becomes a
/// DAG-CBOR object ({"/": "b…"} is a link and a dep); a Packages stanza becomes a raw object of its own octets with ref
/// deb:<package>/<version>/<arch> and its Section as tag. A malformed line or stanza fails with file and line.
result<flow::any_flow<record>> import_file(const std::string& path, const import_options& how);

}  // namespace weir::store
