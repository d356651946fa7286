#pragma once

// When to wait a moment before looking at the other side's position, item by item.
//
// A look takes the cache line of the other side's position away from it, and costs both some 100 ns. When both sides are
// busy item by item and close to each other, every look finds a few items only, and the lines travel more than the sides
// work. Whoever waits a little first finds more: about twice as many items a second cross (2 cores, ring of 1,024, items
// of 8 octets). When nothing streams, waiting would only be delay. So a side waits when its last look found
// more than one item but less than a quarter of the ring, and never longer than 200 ns; and from time to time it checks
// that the other side really moves meanwhile, which in a single thread it does not.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <weir/queue/spin.h>

namespace weir::queue::internal {

class patience {
 public:
  /// How far the side may go, looked at now or in a moment.
  ///   look    says it
  ///   from    where the side is
  ///   enough  a quarter of the ring: who finds that much is in nobody's way
  template <class Look>
  [[gnu::always_inline]] std::uint64_t see(Look look, std::uint64_t from, std::size_t enough) noexcept {
    if (few_ != 0) [[unlikely]]
      return see_later(look, from, enough);
    const std::uint64_t reach = look();
    if (is_few(reach - from, enough)) few_ = reach - from;
    return reach;
  }

 private:
  static constexpr std::int32_t trial = 64;  // looks until it is checked again whether waiting helps
  static constexpr std::uint64_t relaxes_max = 8;

  static bool is_few(std::uint64_t count, std::size_t enough) noexcept { return count > 1 && count < enough; }

  template <class Look>
  [[gnu::noinline]] std::uint64_t see_later(Look look, std::uint64_t from, std::size_t enough) noexcept {
    if (trust_ == 0) {
      const std::uint64_t before = look();
      hold();
      trust_ = look() == before ? -trial : trial;
    } else if (trust_ < 0) {
      ++trust_;
    } else {
      --trust_;
      hold();
    }
    const std::uint64_t reach = look();
    few_ = is_few(reach - from, enough) ? reach - from : 0;
    return reach;
  }

  void hold() const noexcept {
    for (std::uint64_t left = std::min(few_ / 8 + 1, relaxes_max); left != 0; --left) relax();
  }

  std::uint64_t few_ = 0;  // what the last look found, if that was few but more than one
  std::int32_t trust_ = 0;
};

}  // namespace weir::queue::internal
