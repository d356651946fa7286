// The cells of ./bench/run queue, one at a time; bench/queue/rows decides which and when.
//
//   weir_bench_queue list            every cell as a line of JSON
//   weir_bench_queue run CELL MS     measures the cell of that number for about so long, and prints its value
//   weir_bench_queue check           runs every cell as briefly as it goes: whether all items come out right

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "cells.h"
#include "measure.h"

int main(int argc, char** argv) {
  weir::bench::cells all;
  weir::bench::add_calibration(all);
  weir::bench::add_rx_ring_buffer(all);
  weir::bench::add_hand_over(all);
  weir::bench::add_round_trip(all);
  weir::bench::add_wake_up(all);

  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "list" && argc == 2) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const weir::bench::cell& c = all[i];
      std::printf(R"({"cell": %zu, "group": "%s", "way": "%s", "who": "%s", "unit": "%s"})"
                  "\n",
                  i, c.group.c_str(), c.way.c_str(), c.who.c_str(), c.unit.c_str());
    }
    return 0;
  }
  if (what == "run" && argc == 4) {
    const std::size_t which = std::strtoul(argv[2], nullptr, 10);
    if (which >= all.size()) weir::bench::fail("no such cell");
    std::printf("%.6g\n", all[which].run(std::strtod(argv[3], nullptr) / 1e3));
    return 0;
  }
  if (what == "check" && argc == 2) {
    for (const weir::bench::cell& c : all) {
      const double value = c.run(0);
      if (!(value > 0)) weir::bench::fail((c.group + ", " + c.who + ": no figure").c_str());
    }
    std::printf("%zu cells passed, 0 failed\n", all.size());
    return 0;
  }
  std::fputs("usage: weir_bench_queue list | run CELL MS | check\n", stderr);
  return 64;
}
