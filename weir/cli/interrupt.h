#pragma once

#include <atomic>
#include <stop_token>

#include <weir/core/thread.h>

namespace weir::cli {

/// Turns SIGINT and SIGTERM into a stop request; a second one ends the process at once.
///   Threads  made in main before any other thread, because they inherit that these signals are blocked.
class interrupt {
 public:
  interrupt();
  ~interrupt();
  interrupt(const interrupt&) = delete;
  interrupt& operator=(const interrupt&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// Returns when a signal has come.
  void wait();

 private:
  std::stop_source source_;
  std::atomic<bool> over_{false};
  thread waits_;
};

}  // namespace weir::cli
