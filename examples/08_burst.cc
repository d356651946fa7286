// A burst that nobody has read yet: a chain takes memory as it needs it, up to a bound, and gives it back.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include <weir/queue/park_point.h>
#include <weir/queue/parking.h>
#include <weir/queue/spsc_chain.h>

namespace queue = weir::queue;

// [recorder
struct recorder {
  // Most of the time a few lines are in, and a chunk or two go back and forth for them; a burst takes what it needs.
  queue::spsc_chain<std::string> lines{{.items_max = 10'000}};
  queue::parking reader;

  /// Keeps the line if there is room; never waits.
  bool record(std::string line) {
    const bool is_kept = lines.try_push(std::move(line)) == queue::push_outcome::pushed;
    reader.notify();
    return is_kept;
  }
};
// recorder]

// [reader
void read_all(recorder& from) {
  queue::park_point bed;
  std::array<std::string, 256> some;
  std::string first, last;
  std::uint32_t count = 0;
  while (!from.lines.ended()) {
    const std::size_t got = from.lines.try_pop_n(some);
    if (got == 0) {
      if (from.reader.park(bed.action(), [&] { return from.lines.has_items() || from.lines.ended(); })) bed.wait();
      continue;
    }
    if (count == 0) first = some[0];
    last = some[got - 1];
    count += static_cast<std::uint32_t>(got);
  }
  // Before the bed goes: no action is running when this returns, and none will run.
  from.reader.withdraw();
  std::printf("%u lines read: %s ... %s\n", count, first.c_str(), last.c_str());
}
// reader]

int main() {
  recorder shared;
  std::uint32_t refused = 0;
  for (std::uint32_t i = 0; i != 12'000; ++i) {
    if (!shared.record("start " + std::to_string(i))) ++refused;
  }
  std::printf("%zu lines kept, %u refused\n", shared.lines.size(), refused);

  std::jthread reader([&] { read_all(shared); });
  shared.lines.close();
  shared.reader.notify();
}
