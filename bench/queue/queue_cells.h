#pragma once

// The cells of ./bench/run queue.

#include "cells.h"

namespace weir::bench {

void add_rx_ring_buffer(cells& to);
void add_hand_over(cells& to);
void add_round_trip(cells& to);
void add_wake_up(cells& to);

}  // namespace weir::bench
