// The cells of ./bench/run flow, as a program; bench/flow/rows decides which and when.

#include "flow_cells.h"
#include "round_trip.h"

int main(int argc, char** argv) {
  weir::bench::cells all;
  weir::bench::add_calibration(all);
  weir::bench::add_synchronous(all);
  weir::bench::add_hops(all);
  weir::bench::add_memory(all);
  return weir::bench::cells_main(all, argc, argv);
}
