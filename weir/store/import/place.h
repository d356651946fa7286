#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weir/core/result.h>

namespace weir::store::internal {

/// An error about an input: "FILE:LINE: sentence", or "FILE:LINE:COLUMN: sentence", as compilers print them.
error fault_in(std::string_view file, std::uint64_t line, std::string_view sentence, errc code = errc::malformed);
error fault_in(std::string_view file, std::uint64_t line, std::uint64_t column, std::string_view sentence,
               errc code = errc::malformed);

}  // namespace weir::store::internal
