#include <weir/core/clock.h>

#include <ctime>

namespace weir {

namespace {

class system_clock final : public clock {
 public:
  [[nodiscard]] std::int64_t unix_s() const override { return now(CLOCK_REALTIME).tv_sec; }
  [[nodiscard]] std::uint64_t steady_ns() const override {
    const timespec at = now(CLOCK_MONOTONIC);
    return static_cast<std::uint64_t>(at.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(at.tv_nsec);
  }

 private:
  static timespec now(clockid_t which) noexcept {
    timespec at{};
    ::clock_gettime(which, &at);  // Cannot fail for these two clocks.
    return at;
  }
};

}  // namespace

clock& clock::system() {
  static system_clock one;
  return one;
}

}  // namespace weir
