#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::store::internal {

/// Where an object's record is.
struct object_place {
  std::uint32_t segment = 0;  ///< from 1; 0 in no place
  std::uint32_t offset = 0;   ///< of the record in the segment
  std::uint32_t length = 0;   ///< octets of the object
};

/// A table from the first 8 octets of a digest to the places whose record may have it: open addressing, linear probing,
/// 24 octets a slot, at most 7 of 10 slots in use: 35 to 70 octets of memory an object.
///
/// Different objects may share a key; `find` gives all of them and the caller reads the records.
///   Threads  confined; its owner locks.
class object_index {
 public:
  /// The seed keeps strangers from choosing objects that fall into neighbouring slots.
  explicit object_index(std::uint64_t seed) : multiplier_(seed | 1) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Makes room for so many more, so that their inserts cannot fail.
  void reserve(std::size_t more) {
    std::size_t slots = slots_.empty() ? 1024 : slots_.size();
    while ((size_ + more) * 10 > slots * 7) slots *= 2;
    if (slots != slots_.size()) rehash(slots);
  }

  void insert(std::uint64_t key, object_place where) {
    reserve(1);
    put({key, where, 0});
    ++size_;
  }

  /// Calls `visit(place)` for each object with the key, until it gives false.
  template <class Visit>
  void find(std::uint64_t key, Visit&& visit) const {
    if (slots_.empty()) return;
    for (std::size_t i = home(key); slots_[i].where.segment != 0; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].key == key && !visit(slots_[i].where)) return;
    }
  }

 private:
  struct slot {
    std::uint64_t key = 0;
    object_place where;
    std::uint32_t unused = 0;
  };
  static_assert(sizeof(slot) == 24);

  [[nodiscard]] std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * multiplier_) >> shift_);
  }

  void put(const slot& what) noexcept {
    std::size_t i = home(what.key);
    while (slots_[i].where.segment != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = what;
  }

  void rehash(std::size_t slots) {
    std::vector<slot> old(slots);
    old.swap(slots_);
    shift_ = 64;
    for (std::size_t n = slots; n > 1; n /= 2) --shift_;
    for (const slot& s : old) {
      if (s.where.segment != 0) put(s);
    }
  }

  std::vector<slot> slots_;  // a power of two, or none yet
  std::size_t size_ = 0;
  std::uint64_t multiplier_;
  unsigned shift_ = 64;
};

}  // namespace weir::store::internal
