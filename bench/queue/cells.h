#pragma once

// A cell is one figure: one queue under one load. The list of them is what bench/queue/rows makes its rows from.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weir::bench {

struct cell {
  std::string group;  ///< cells of one group are compared: "1P1C u64 ring 1024 by 64"
  std::string way;    ///< how items go in and out: "one", "copy", "place"; "limit" for what no queue can exceed
  std::string who;    ///< the queue; Weir's begin with "weir."
  std::string unit;   ///< "/s", or "ns" where less is better
  std::function<double(double seconds)> run;  ///< measures for about so long; 0: the least that checks anything
};

using cells = std::vector<cell>;

void add_rx_ring_buffer(cells& to);
void add_hand_over(cells& to);
void add_round_trip(cells& to);
void add_wake_up(cells& to);
void add_calibration(cells& to);

}  // namespace weir::bench
