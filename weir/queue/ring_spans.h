#pragma once

#include <cstddef>
#include <iterator>
#include <span>

namespace weir::queue {

/// A part of a queue as memory sees it: a second span where the part goes over the edge of the ring, or of a chunk.
/// Borrows from the queue; in order from the first item to the last:
///
///     for (T& item : ring.readable(64)) …
///
/// Where a loop should be as fast as over an array, go through `first`, then `second`.
template <class T>
struct ring_spans {
  std::span<T> first;
  std::span<T> second;

  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using reference = T&;
    using pointer = T*;

    iterator() = default;
    T& operator*() const noexcept { return *at_; }
    T* operator->() const noexcept { return at_; }
    iterator& operator++() noexcept {
      ++at_;
      --left_;
      step_over();
      return *this;
    }
    iterator operator++(int) noexcept {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.left_ == b.left_; }

   private:
    friend ring_spans;
    iterator(const ring_spans& of, std::size_t left) noexcept
        : at_(of.first.data()), gap_(of.first.data() + of.first.size()), after_(of.second.data()), left_(left) {
      step_over();
    }
    void step_over() noexcept {
      if (at_ == gap_) at_ = after_;
    }

    T* at_ = nullptr;
    T* gap_ = nullptr;
    T* after_ = nullptr;
    std::size_t left_ = 0;
  };

  [[nodiscard]] std::size_t size() const noexcept { return first.size() + second.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] T& operator[](std::size_t at) const noexcept {
    return at < first.size() ? first[at] : second[at - first.size()];
  }
  /// At most `count` of them, from the first on.
  [[nodiscard]] ring_spans up_to(std::size_t count) const noexcept {
    if (count <= first.size()) return {first.first(count), second.first(0)};
    if (count >= size()) return *this;
    return {first, second.first(count - first.size())};
  }

  [[nodiscard]] iterator begin() const noexcept { return {*this, size()}; }
  [[nodiscard]] iterator end() const noexcept { return {*this, 0}; }
};

}  // namespace weir::queue
