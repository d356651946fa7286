#pragma once

#include <cstddef>

namespace weir::queue::testing {

/// What this thread has got from operator new, and given back to operator delete, while it lives; both are replaced in
/// this program (allocation_count_test.cc).
///   Threads  confined, one at a time in each thread.
class allocation_count {
 public:
  allocation_count();
  ~allocation_count();
  allocation_count(const allocation_count&) = delete;
  allocation_count& operator=(const allocation_count&) = delete;

  /// How often memory was asked for.
  [[nodiscard]] std::size_t made() const;
  /// How much more often than it was given back.
  [[nodiscard]] long kept() const;
  /// Lets the n-th request from now, and those after it, fail; 0 for none.
  void fail_from(std::size_t request);
};

}  // namespace weir::queue::testing
