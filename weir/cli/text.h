#pragma once

#include <cstdint>
#include <string>

namespace weir::cli {

std::string with_commas(std::uint64_t number);                        ///< "64,012"
std::string counted(std::uint64_t number, const std::string& thing);  ///< "1 statement", "2,000 statements"
std::string as_size(std::uint64_t octets);                            ///< "61.2 MB"
std::string as_duration(double seconds);                              ///< "1.9 s", "2:05", "1:02:05"
std::string as_rate(std::uint64_t items, double seconds);             ///< "33,690/s"

}  // namespace weir::cli
