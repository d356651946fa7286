// Two threads and a ring between them: one writes readings in place, the other reads them in place, and whoever has
// nothing to do sleeps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>

#include <weir/queue/park_point.h>
#include <weir/queue/parking.h>
#include <weir/queue/spsc_ring.h>

namespace queue = weir::queue;

struct reading {
  std::uint32_t number;
  std::uint32_t level_mm;
};

// [writer
/// Where one side sleeps.
struct sleeper {
  queue::parking parking;
  queue::park_point bed;

  template <class Ready>
  void sleep_until(Ready ready) {
    if (parking.park(bed.action(), ready)) bed.wait();
  }
};

/// All that two threads share. The ring is part of it, and nothing is allocated.
struct channel {
  queue::spsc_ring<reading, 1024> ring;
  sleeper writer, reader;
};

// A quarter of the ring at a time, so that the other side can work at the rest meanwhile.
constexpr std::size_t batch = 1024 / 4;

void measure(channel& to, std::uint32_t count) {
  for (std::uint32_t number = 0; number != count;) {
    const auto places = to.ring.prepare(std::min<std::size_t>(batch, count - number));
    if (places.empty()) {
      to.writer.sleep_until([&] { return to.ring.free_places(1) != 0; });
      continue;
    }
    for (reading& place : places) {
      std::construct_at(&place, reading{number, number % 100});
      ++number;
    }
    to.ring.commit(places.size());
    to.reader.parking.notify();
  }
  to.ring.close();
  to.reader.parking.notify();
}
// writer]

int main() {
  channel shared;
  std::jthread station([&] { measure(shared, 1'000'000); });

  std::uint64_t sum_mm = 0;
  std::uint32_t expected = 0, out_of_order = 0;
  // [reader
  while (!shared.ring.ended()) {
    const auto readings = shared.ring.readable(batch);
    if (readings.empty()) {
      shared.reader.sleep_until([&] { return shared.ring.has_items() || shared.ring.ended(); });
      continue;
    }
    for (const reading& each : readings) {
      sum_mm += each.level_mm;
      if (each.number != expected++) ++out_of_order;
    }
    shared.ring.release(readings.size());
    shared.writer.parking.notify();
  }
  // reader]
  std::printf("%u readings, %u out of order, mean %.1f mm\n", expected, out_of_order,
              static_cast<double>(sum_mm) / expected);
}
