#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace weir::flow::internal {

/// Room for a flow that is made while its operator is pulled, one at a time. Not a std::optional, because a flow is
/// moved only before its first pull (R5): so an empty place is all there ever is to move, and what is made is never
/// moved.
///   Threads  confined, like the operator.
template <class T>
class place {
 public:
  // Not defaulted: a defaulted constructor would let `place p{}` zero the room.
  place() noexcept {}  // NOLINT(modernize-use-equals-default)
  place([[maybe_unused]] place&& other) noexcept { assert(!other.filled_); }
  place& operator=(place&&) = delete;
  ~place() { clear(); }

  explicit operator bool() const noexcept { return filled_; }
  T& operator*() noexcept { return assert(filled_), *std::launder(reinterpret_cast<T*>(storage_)); }
  T* operator->() noexcept { return &**this; }

  /// Puts `make()` there, which must be empty.
  template <class Make>
  void fill(Make&& make) {
    assert(!filled_);
    ::new (static_cast<void*>(storage_)) T(std::forward<Make>(make)());
    filled_ = true;
  }

  void clear() noexcept {
    if (!filled_) return;
    std::destroy_at(&**this);
    filled_ = false;
  }

 private:
  bool filled_ = false;
  alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace weir::flow::internal
