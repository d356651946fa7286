#pragma once

#include <weir/core/result.h>

namespace weir::flow {

/// The exception being handled, as an error of code `threw` with its what(). Only inside a catch block.
[[nodiscard]] error caught() noexcept;

}  // namespace weir::flow
