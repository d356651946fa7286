#pragma once

// What happened in an execution, for people to read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <weir/queue/testing/internal/model_memory.h>
#include <weir/queue/testing/internal/model_sites.h>
#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing::model::internal {

enum class happening : std::uint8_t {
  // Operations, which have a site.
  read,
  stored,
  changed,
  woke,
  deadline,
  idle_wake,
  // What is done to an atomic or, behind that, to plain data.
  made,
  destroyed,
  plain_made,
  plain_destroyed,
  plain_read,
  plain_written
};

struct trace_line {
  happening what;
  thread_index thread;
  object_index object;
  std::uint32_t site = 0;
  std::uint32_t store = 0;   // read or written
  std::uint64_t value = 0;   // read or written; how many were woken
  std::uint64_t before = 0;  // read by a change
};

[[nodiscard]] inline std::string text_of(const trace_line& line) {
  const std::string store = " (store " + std::to_string(line.store);
  switch (line.what) {
    case happening::read:
      return " == " + std::to_string(line.value) + store + ")";
    case happening::stored:
      return " := " + std::to_string(line.value) + store + ")";
    case happening::changed:
      return " := " + std::to_string(line.value) + store + ", read " + std::to_string(line.before) + ")";
    case happening::woke:
      return ": " + std::to_string(line.value) + " woken";
    case happening::deadline:
      return ": the deadline is reached";
    case happening::idle_wake:
      return ": woken for no reason";
    case happening::made:
    case happening::plain_made:
      return " is made";
    case happening::destroyed:
    case happening::plain_destroyed:
      return " is destroyed";
    case happening::plain_read:
      return " is read";
    case happening::plain_written:
      return " is written";
  }
  return "?";
}

/// A line for everything that happened:
///
///        3  thread 2  a1 := 5 (store 4, read 4)   weir/queue/parking.h:57:11: exchange acq_rel [weakened]
///
/// a1 is the second atomic that was constructed, i1 would be the second item or cell; store 4 is the fifth in the
/// history of a1, which begins with its construction.
[[nodiscard]] inline std::string text_of(const std::vector<trace_line>& lines, const site_table& sites) {
  std::string out;
  std::size_t number = 0;
  for (const trace_line& line : lines) {
    const std::string counted = std::to_string(++number);
    out.append(counted.size() < 4 ? 4 - counted.size() : 0, ' ');
    out += counted;
    out += line.thread == 0 ? "  scenario  " : "  thread " + std::to_string(line.thread) + "  ";
    out += line.what < happening::plain_made ? 'a' : 'i';
    out += line.object == no_object ? "?" : std::to_string(line.object);
    out += text_of(line);
    if (line.what < happening::made) {
      const known_site& at = sites[line.site];
      out += "   " + at.at.text();
      if (line.what == happening::read && has_failure_order(at.at.what)) out += ": failed";
      if (at.order != at.at.order || at.failure != at.at.failure) out += " [weakened]";
    }
    out += '\n';
  }
  return out;
}

}  // namespace weir::queue::testing::model::internal
