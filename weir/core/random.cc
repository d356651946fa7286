#include <weir/core/random.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <sys/random.h>

namespace weir {

namespace {

class system_randomness final : public randomness {
 public:
  void fill(std::span<std::uint8_t> octets) override {
    while (!octets.empty()) {
      // Blocks only until the kernel has gathered its first seed, early at boot.
      const ssize_t got = ::getrandom(octets.data(), octets.size(), 0);
      if (got < 0) {
        if (errno == EINTR) continue;
        // Predictable keys are worse than no process.
        std::perror("weir: the system gives no randomness");
        std::abort();
      }
      octets = octets.subspan(static_cast<std::size_t>(got));
    }
  }
};

}  // namespace

randomness& randomness::system() {
  static system_randomness one;
  return one;
}

}  // namespace weir
