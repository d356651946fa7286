#pragma once

#include <cstdint>
#include <span>

namespace weir {

/// Where all of Weir takes chance from, so that a simulation can seed it.
///   Threads  shared.
class randomness {
 public:
  virtual ~randomness() = default;
  virtual void fill(std::span<std::uint8_t> octets) = 0;
  std::uint64_t next() {
    std::uint64_t value = 0;
    fill({reinterpret_cast<std::uint8_t*>(&value), sizeof value});
    return value;
  }

  /// The operating system's generator, fit for keys.
  static randomness& system();
};

}  // namespace weir
