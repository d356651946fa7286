#pragma once

// An assertion that does not hold in a scenario is a failure of that execution, with its trace, and not the end of the program:
// the code under test asserts its invariants, and a weakened memory order shall be seen to break them.

#include <csignal>
#include <utility>

namespace weir::queue::testing::model::internal {

/// While it lives, abort() on a fiber calls `on_abort`, which must not return.
///   Threads  one at a time in a process: signal handlers are the process's.
class assertions_as_failures {
 public:
  explicit assertions_as_failures(void (*on_abort)()) noexcept : outer_(std::exchange(handler(), on_abort)) {
    struct sigaction action {};
    action.sa_handler = [](int) { handler()(); };
    // The handler is left by a switch to another stack, so the signal must not stay blocked.
    action.sa_flags = SA_NODEFER;
    ::sigaction(SIGABRT, &action, &before_);
  }
  ~assertions_as_failures() {
    ::sigaction(SIGABRT, &before_, nullptr);
    handler() = outer_;
  }
  assertions_as_failures(const assertions_as_failures&) = delete;
  assertions_as_failures& operator=(const assertions_as_failures&) = delete;

 private:
  static auto handler() noexcept -> void (*&)() {
    static void (*current)() = nullptr;
    return current;
  }

  void (*outer_)();
  struct sigaction before_ {};
};

}  // namespace weir::queue::testing::model::internal
