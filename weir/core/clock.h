#pragma once

#include <cstdint>

namespace weir {

/// Where all of Weir takes the time from, so that a simulation can give it another.
///   Threads  shared: both calls from any thread.
class clock {
 public:
  virtual ~clock() = default;
  /// Seconds since 1970 in UTC, for timestamps that people see. May jump.
  [[nodiscard]] virtual std::int64_t unix_s() const = 0;
  /// Nanoseconds since some fixed moment. Never goes back; for durations and deadlines.
  [[nodiscard]] virtual std::uint64_t steady_ns() const = 0;

  /// The operating system's clocks.
  static clock& system();
};

}  // namespace weir
