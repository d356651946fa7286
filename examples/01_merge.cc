// Merges three flows into one: values between threads, the smallest piece of Weir.

#include <cstdio>
#include <string>
#include <vector>

#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>

namespace flow = weir::flow;

// A station's readings. Nothing runs yet: a flow is a value, and works only while somebody pulls it.
auto readings(std::string station) {
  return flow::range(1, 1'000'000) |
         flow::map([station](int number) { return station + " " + std::to_string(number); });
}

int main() {
  std::vector<decltype(readings(""))> stations;
  for (const char* name : {"river", "lake", "harbour"}) stations.push_back(readings(name));

  // Each flow gives up to two items before the next has its turn. Of the three million, only those that are asked for
  // are ever made.
  const auto end = flow::merge(std::move(stations), 2) | flow::take(10) |
                   flow::for_each([](const std::string& reading) { std::printf("%s\n", reading.c_str()); });

  if (!end) std::printf("failed: %s\n", end.error().message.c_str());
  return end ? 0 : 1;
}
