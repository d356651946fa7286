#pragma once

#include <cstdint>
#include <limits>

#include <weir/core/limits.h>

namespace weir::store::internal {

/// What a store is built with. The defaults are what everybody runs; tests make keys collide, segments small and disks
/// full by other values.
struct store_settings {
  /// Keeps so much of the 8-octet keys. Keys only narrow a search, whole ids decide, so any mask gives the same answers.
  std::uint64_t key_mask = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t segment_bytes_max = limits::segment_bytes_max;
  std::int64_t database_pages_max = 0;  ///< 0: as many as the disk has
  int wal_checkpoint_pages = 16384;     ///< 128 MiB of log; fewer checkpoints write fewer pages twice
};

}  // namespace weir::store::internal
