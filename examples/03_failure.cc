// A stream ends once: done, or with the first failure, which says what went wrong and where.

#include <cstdio>
#include <string>
#include <vector>

#include <weir/core/result.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/try_map.h>

namespace flow = weir::flow;

weir::result<int> parse(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return weir::fail(weir::errc::malformed, "'" + text + "' is no number");
  return std::stoi(text);
}

int main() {
  const auto end = flow::from_range(std::vector<std::string>{"1", "2", "drei", "4"}) | flow::try_map(parse) |
                   flow::for_each([](int number) { std::printf("%d\n", number); });
  if (!end) {
    std::printf("stopped: %s (%.*s)\n", end.error().message.c_str(),
                static_cast<int>(weir::to_string(end.error().code).size()), weir::to_string(end.error().code).data());
  }
}
