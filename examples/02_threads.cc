// Two flows, each on a thread of its own, merged on this one: items cross threads in batches, through bounded rings.

#include <cstdint>
#include <cstdio>
#include <vector>

#include <weir/flow/filter.h>
#include <weir/flow/for_each.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>

namespace flow = weir::flow;

int main() {
  flow::worker first("first"), second("second");

  // What stands above observe_on runs on the worker, ahead of us by at most a ring's capacity.
  auto even = flow::range<std::uint64_t>(0, 1'000'000) | flow::filter([](std::uint64_t n) { return n % 2 == 0; }) |
              flow::observe_on(first);
  auto odd = flow::range<std::uint64_t>(0, 1'000'000) | flow::filter([](std::uint64_t n) { return n % 2 == 1; }) |
             flow::observe_on(second);

  std::uint64_t count = 0, sum = 0, out_of_order = 0;
  std::uint64_t last[2] = {0, 0};
  const auto end = flow::merge(std::move(even), std::move(odd)) | flow::for_each([&](std::uint64_t n) {
                     ++count;
                     sum += n;
                     if (n < last[n % 2]) ++out_of_order;
                     last[n % 2] = n;
                   });

  std::printf("%llu items, sum %llu\n", static_cast<unsigned long long>(count), static_cast<unsigned long long>(sum));
  std::printf("%llu came out of the order of their flow\n", static_cast<unsigned long long>(out_of_order));
  return end ? 0 : 1;
}
