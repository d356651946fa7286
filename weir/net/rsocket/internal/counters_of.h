#pragma once

#include <weir/net/internal/live_counters.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket::internal {

/// The figures of this moment.
inline counters counters_of(const net::internal::live_counters& now) noexcept {
  counters seen;
  seen.frames_in = now.frames_in.get();
  seen.frames_out = now.frames_out.get();
  seen.bytes_in = now.bytes_in.get();
  seen.bytes_out = now.bytes_out.get();
  seen.writes = now.writes.get();
  seen.bundle_bytes_largest = now.bundle_bytes_largest.get();
  seen.stalls = now.stalls.get();
  return seen;
}

}  // namespace weir::net::rsocket::internal
