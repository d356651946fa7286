// The cells of ./bench/run queue, as a program; bench/queue/rows decides which and when.

#include "queue_cells.h"
#include "round_trip.h"

int main(int argc, char** argv) {
  weir::bench::cells all;
  weir::bench::add_calibration(all);
  weir::bench::add_rx_ring_buffer(all);
  weir::bench::add_hand_over(all);
  weir::bench::add_round_trip(all);
  weir::bench::add_wake_up(all);
  return weir::bench::cells_main(all, argc, argv);
}
