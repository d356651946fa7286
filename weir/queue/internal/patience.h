#pragma once

// When to wait a moment before looking at the other side's position, item by item.
//
// A look takes the cache line of the other side's position away from it, and costs both some 100 ns. When both sides are
// busy item by item and close to each other, every look finds a few items only, and the lines travel more than the sides
// work. Whoever waits a little first finds more: 640 to 770 million items a second in place of 380 (2 cores, ring of
// 1,024, items of 8 octets). When nothing streams, waiting would only be delay. So a side waits when its last look found
// more than one item but less than a quarter of the ring, and never longer than 100 ns; and from time to time it checks
// that the other side really moves meanwhile, which in a single thread it does not.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <weir/queue/spin.h>

namespace weir::queue::internal {

class patience {
 public:
  /// The other side's position, looked at with `look` now or in a moment.
  ///   enough  a quarter of the ring: who found that much is in nobody's way
  template <class Look>
  std::uint64_t see(Look look, std::size_t enough) noexcept {
    if (found_ < 2 || found_ >= enough) [[likely]]
      return look();
    return see_later(look);
  }

  /// How much the look has found.
  void found(std::uint64_t count) noexcept { found_ = count; }

 private:
  static constexpr std::int32_t trial = 64;  // looks until it is checked again whether waiting helps
  static constexpr std::uint64_t relaxes_max = 4;

  template <class Look>
  [[gnu::noinline]] std::uint64_t see_later(Look look) noexcept {
    if (trust_ == 0) {
      const std::uint64_t before = look();
      hold();
      const std::uint64_t now = look();
      trust_ = now == before ? -trial : trial;
      return now;
    }
    if (trust_ < 0) {
      ++trust_;
    } else {
      --trust_;
      hold();
    }
    return look();
  }

  void hold() const noexcept {
    for (std::uint64_t left = std::min(found_ / 8 + 1, relaxes_max); left != 0; --left) relax();
  }

  std::uint64_t found_ = 0;
  std::int32_t trust_ = 0;
};

}  // namespace weir::queue::internal
