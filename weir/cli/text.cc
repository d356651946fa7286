#include <weir/cli/text.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace weir::cli {

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(std::uint64_t number, const std::string& thing) {
  return with_commas(number) + " " + thing + (number == 1 ? "" : "s");
}

std::string as_size(std::uint64_t octets) {
  if (octets < 1000) return fmt::format("{} B", octets);
  constexpr std::array units = {"kB", "MB", "GB", "TB"};
  double size = static_cast<double>(octets) / 1000;
  std::size_t unit = 0;
  for (; size >= 999.95 && unit + 1 < units.size(); ++unit) size /= 1000;
  return fmt::format("{:.1f} {}", size, units[unit]);
}

std::string as_duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string as_rate(std::uint64_t items, double seconds) {
  return with_commas(static_cast<std::uint64_t>(std::llround(static_cast<double>(items) / std::max(seconds, 1e-3)))) +
         "/s";
}

}  // namespace weir::cli
