#pragma once

// What happened in an execution, for people to read.

#include <cstdint>
#include <string>
#include <vector>

#include <weir/queue/testing/internal/model_memory.h>
#include <weir/queue/testing/internal/model_sites.h>
#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing::model::internal {

enum class happening : std::uint8_t { read, stored, changed, woke, deadline, idle_wake };

struct trace_line {
  happening what;
  thread_index thread;
  object_index object;
  std::uint32_t site;
  std::uint32_t store;       // read or written
  std::uint64_t value;       // read or written; how many were woken
  std::uint64_t before = 0;  // read by a change
};

/// A line per operation:
///
///        3  thread 2  a1 := 5 (store 4, read 4)   weir/queue/parking.h:57:11: exchange acq_rel [weakened]
///
/// a1 is the second atomic that was constructed; store 4 is the fifth in its history, which begins with its construction.
[[nodiscard]] inline std::string text_of(const std::vector<trace_line>& lines, const site_table& sites) {
  std::string out;
  std::size_t number = 0;
  for (const trace_line& line : lines) {
    const known_site& at = sites[line.site];
    const std::string counted = std::to_string(++number);
    out.append(counted.size() < 4 ? 4 - counted.size() : 0, ' ');
    out += counted;
    out += line.thread == 0 ? "  scenario  a" : "  thread " + std::to_string(line.thread) + "  a";
    out += std::to_string(line.object);
    const std::string value = std::to_string(line.value);
    const std::string store = " (store " + std::to_string(line.store);
    switch (line.what) {
      case happening::read:
        out += " == " + value + store + ")";
        break;
      case happening::stored:
        out += " := " + value + store + ")";
        break;
      case happening::changed:
        out += " := " + value + store + ", read " + std::to_string(line.before) + ")";
        break;
      case happening::woke:
        out += ": " + value + " woken";
        break;
      case happening::deadline:
        out += ": the deadline is reached";
        break;
      case happening::idle_wake:
        out += ": woken for no reason";
        break;
    }
    out += "   " + at.at.text();
    if (line.what == happening::read && has_failure_order(at.at.what)) out += ": failed";
    if (at.order != at.at.order || at.failure != at.at.failure) out += " [weakened]";
    out += '\n';
  }
  return out;
}

}  // namespace weir::queue::testing::model::internal
