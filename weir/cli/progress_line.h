#pragma once

#include <cstdint>
#include <string>

#include <weir/core/clock.h>

namespace weir::cli {

/// Shows on standard error how far something long has come: on a terminal one line that is drawn over, with a bar, the
/// rate and the time left; elsewhere a plain line every few seconds.
class progress_line {
 public:
  ///   what   "merging"
  ///   items  "statements"
  progress_line(std::string what, std::string items, clock& time = clock::system());
  ~progress_line();  ///< takes the line off the terminal
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  ///   fraction  of all there is to do, 0 to 1; below 0 if unknown
  void show(double fraction, std::uint64_t items);
  [[nodiscard]] double seconds() const;  ///< since construction

 private:
  std::string what_, items_;
  clock& time_;
  std::uint64_t began_ns_, shown_ns_ = 0;
  bool terminal_, drawn_ = false;
};

/// The line itself, without the terminal's controls.
std::string progress_text(const std::string& what, const std::string& items, double fraction, std::uint64_t count,
                          double seconds, bool with_bar);

}  // namespace weir::cli
