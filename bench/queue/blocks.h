#pragma once

// The limit of every queue between two threads: as much memory as the queue has, in blocks with a flag each. The writer
// fills a block and raises its flag, the reader reads the block and lowers it. No positions, nothing to refuse.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/queue/separation.h>

#include "measure.h"

namespace weir::bench {

template <class Item>
class blocks {
 public:
  using T = typename Item::type;

  blocks(std::size_t items, std::size_t block_items)
      : block_items_(block_items), memory_(items), flags_(items / block_items) {}

  /// Writer: fills blocks with the items 0 to count - 1; count is a multiple of the block.
  void write(std::uint64_t count) {
    patience full(false);
    std::size_t at = 0;
    for (std::uint64_t number = 0; number < count; number += block_items_) {
      // Partner: the reader's store; what it has read may be written over.
      while (flags_[at].full.load(std::memory_order_acquire)) full.pause();
      T* const block = memory_.data() + at * block_items_;
      for (std::size_t i = 0; i < block_items_; ++i) block[i] = Item::make(number + i);
      flags_[at].full.store(true, std::memory_order_release);
      at = at + 1 == flags_.size() ? 0 : at + 1;
    }
  }

  /// Reader: the sum of the items in as many blocks.
  std::uint64_t read(std::uint64_t count) {
    patience empty(false);
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (std::uint64_t number = 0; number < count; number += block_items_) {
      // Partner: the writer's store; what it wrote may be read.
      while (!flags_[at].full.load(std::memory_order_acquire)) empty.pause();
      const T* const block = memory_.data() + at * block_items_;
      for (std::size_t i = 0; i < block_items_; ++i) sum += Item::value(block[i]);
      flags_[at].full.store(false, std::memory_order_release);
      at = at + 1 == flags_.size() ? 0 : at + 1;
    }
    return sum;
  }

 private:
  struct alignas(queue::separation) flag {
    std::atomic<bool> full{false};
  };
  const std::size_t block_items_;
  std::vector<T> memory_;
  std::vector<flag> flags_;
};

}  // namespace weir::bench
