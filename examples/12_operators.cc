// From lines of a log to the busiest hours: operators in a row, a source that fails in the middle, and what comes out.

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/buffer.h>
#include <weir/flow/filter.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/on_error.h>
#include <weir/flow/scan.h>
#include <weir/flow/sources.h>
#include <weir/flow/try_map.h>
#include <weir/flow/zip.h>

namespace flow = weir::flow;

// "hour visits"; the third line is not one.
auto lines() { return flow::from_range(std::vector<std::string>{"8 120", "9 340", "ten 1", "11 200"}); }

weir::result<int> visits_of(const std::string& line) {
  char* end = nullptr;
  if (std::strtol(line.c_str(), &end, 10) == 0) {
    return weir::fail(weir::errc::malformed, "'" + line + "' does not begin with an hour");
  }
  return static_cast<int>(std::strtol(end, nullptr, 10));
}

int main() {
  // The first error ends the flow, after the items before it.
  const auto end = lines() | flow::try_map(visits_of) |
                   flow::scan(0, [](int sum, int visits) { return sum + visits; }) |
                   flow::for_each([](int sum) { std::printf("so far %d\n", sum); });
  if (!end) std::printf("failed: %s\n", end.error().message.c_str());

  // Or something else comes in its place.
  const auto mended = lines() | flow::try_map(visits_of) |
                      flow::on_error_return([](const weir::error&) { return -1; }) |
                      flow::for_each([](int visits) { std::printf("%d ", visits); });
  std::printf("%s\n", mended ? "and done" : "and failed");

  // Two flows side by side, in pairs.
  const auto paired = flow::zip(lines(), flow::range(1, 100)) |
                      flow::filter([](const auto& pair) { return std::get<1>(pair) % 2 == 1; }) | flow::buffer(2) |
                      flow::for_each([](const auto& pairs) {
                        for (const auto& [line, number] : pairs) std::printf("line %d: %s; ", number, line.c_str());
                        std::printf("\n");
                      });
  return paired ? 0 : 1;
}
