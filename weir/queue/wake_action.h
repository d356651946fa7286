#pragma once

namespace weir::queue {

/// What wakes a sleeper: cheap, takes no caller's lock, and neither runs the sleeper's work inline nor waits for it.
struct wake_action {
  void (*function)(void*) noexcept = nullptr;
  void* target = nullptr;

  /// Nothing happens where there is nobody to wake.
  void operator()() const noexcept {
    if (function) function(target);
  }
};

}  // namespace weir::queue
