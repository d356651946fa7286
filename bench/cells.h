#pragma once

// A cell is one figure: one subject under one load. A layer's benchmark is a program with a list of cells; which are run, in
// what turns, and what is compared with what, is decided by bench/LAYER/rows.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "measure.h"

namespace weir::bench {

struct cell {
  std::string group;  ///< cells of one group are compared: "1P1C u64 ring 1024 by 64"
  std::string way;    ///< how it is used, the layer's own word; "limit" for what no library can exceed
  std::string who;    ///< the subject; Weir's begin with "weir."
  std::string unit;   ///< "/s", or "ns" where less is better
  std::function<double(double seconds)> run;  ///< measures for about so long; 0: the least that checks anything
};

using cells = std::vector<cell>;

/// The cells as a program, one at a time:
///
///     PROGRAM list            every cell as a line of JSON
///     PROGRAM run CELL MS     measures the cell of that number for about so long, and prints its value
///     PROGRAM check           runs every cell as briefly as it goes: whether all items come out right
inline int cells_main(const cells& all, int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "list" && argc == 2) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const cell& c = all[i];
      std::printf(R"({"cell": %zu, "group": "%s", "way": "%s", "who": "%s", "unit": "%s"})"
                  "\n",
                  i, c.group.c_str(), c.way.c_str(), c.who.c_str(), c.unit.c_str());
    }
    return 0;
  }
  if (what == "run" && argc == 4) {
    const std::size_t which = std::strtoul(argv[2], nullptr, 10);
    if (which >= all.size()) fail("no such cell");
    std::printf("%.6g\n", all[which].run(std::strtod(argv[3], nullptr) / 1e3));
    return 0;
  }
  if (what == "check" && argc == 2) {
    for (const cell& c : all) {
      const double value = c.run(0);
      if (!(c.unit == "/s" ? value > 0 : value >= 0)) fail((c.group + ", " + c.who + ": no figure").c_str());
    }
    std::printf("%zu cells passed, 0 failed\n", all.size());
    return 0;
  }
  std::fprintf(stderr, "usage: %s list | run CELL MS | check\n", argv[0]);
  return 64;
}

}  // namespace weir::bench
