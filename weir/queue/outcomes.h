#pragma once

#include <cstdint>

namespace weir::queue {

/// What became of a push. Except for `pushed`, the item is still its owner's.
enum class push_outcome : std::uint8_t {
  pushed,
  full,      ///< every place is taken
  closed,    ///< close() came first; more will never be taken
  cancelled  ///< the consumers have gone; nobody will take what is in
};

/// What became of a pop.
enum class pop_outcome : std::uint8_t {
  popped,
  empty,      ///< nothing is in, and there may be more
  in_flight,  ///< the oldest place is taken by a producer that has not filled it yet: look again
  ended       ///< closed, and every item was taken
};

}  // namespace weir::queue
