#pragma once

#include <atomic>
#include <cstdint>

namespace weir::net::internal {

/// A figure that one thread writes and any thread reads. Orders nothing: it is for people to look at.
class live_counter {
 public:
  void add(std::uint64_t more) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void raise_to(std::uint64_t seen) noexcept {
    if (seen > value_.load(std::memory_order_relaxed)) value_.store(seen, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// What connections did. The connections of one loop may share one.
///   Threads  written on the loop's thread, read from any.
struct live_counters {
  live_counter frames_in, frames_out, bytes_in, bytes_out;
  live_counter writes;                ///< system calls that took octets
  live_counter bundle_bytes_largest;  ///< most octets one write was offered
  live_counter stalls;                ///< times the outgoing buffer became full
};

}  // namespace weir::net::internal
