#include <weir/core/standard_descriptors.h>

#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace weir {

void occupy_standard_descriptors() {
  // From the lowest up, so that each open takes the one it is for.
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    if (::open("/dev/null", O_RDONLY) != descriptor) std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace weir
