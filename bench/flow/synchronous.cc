// The synchronous rows of RxJava's OperatorMergePerf: everything on one thread. An operation assembles the flow, runs it
// to its end, and checks what came out.
//
//     merge1SyncStreamOfN         one flow that gives one flow of N
//     mergeNSyncStreamsOf1        N flows of one that were made before
//     mergeNSyncStreamsOfN        N flows of N
//     oneStreamOfNthatMergesIn1   one flow of N, each of which becomes a flow of one
//
// Limits: the loop written by hand. Peers: std::ranges, where it can say the same.

#include <cstddef>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/sources.h>

#include "flow_cells.h"

namespace weir::bench {
namespace {

/// A number the compiler knows nothing about.
int unknown(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

/// Runs a flow to its end.
template <class Flow>
void consume(Flow from, std::uint64_t count, std::uint64_t sum) {
  consumer take;
  const auto end = flow::for_each(std::move(from), [&take](int item) { take(item); });
  if (!end) fail("a flow failed");
  take.expect(count, sum);
}

/// Runs a flow to its end as one asks for `step` items at a time.
template <class Flow>
void consume_by(Flow from, std::size_t step, std::uint64_t count, std::uint64_t sum) {
  consumer take;
  error failure;
  flow::context cx({}, failure);
  for (flow::step why = flow::step::more; why != flow::step::done;) {
    if (why != flow::step::more) fail("a flow failed");
    std::size_t demand = step;
    why = from.pull(
        demand, [&take](int&& item) { take(item); }, cx);
  }
  take.expect(count, sum);
}

template <class Assemble>
void add(cells& to, const std::string& group, const char* who, int n, std::uint64_t count, std::uint64_t sum,
         Assemble assemble) {
  to.push_back({group, "one", who, "/s", [=](double seconds) {
                  return operations_per_second(seconds, [&] { consume(assemble(unknown(n)), count, sum); });
                }});
}

template <class Loop>
void add_loop(cells& to, const std::string& group, const char* way, const char* who, int n, std::uint64_t count,
              std::uint64_t sum, Loop loop) {
  to.push_back({group, way, who, "/s", [=](double seconds) {
                  return operations_per_second(seconds, [&] {
                    consumer take;
                    loop(unknown(n), take);
                    take.expect(count, sum);
                  });
                }});
}

auto merge_1_of(int n) {
  return flow::merge(flow::just(1) | flow::map([n](int) { return flow::range(0, n); }));
}

/// The peer's cell. clang 16 cannot compile a join of ranges that are made on the way (libstdc++ 12 has it deduce an aggregate),
/// so there it is missing: the lambda is generic to be compiled only when it is used.
template <class Loop>
void add_join([[maybe_unused]] cells& to, [[maybe_unused]] const std::string& group, [[maybe_unused]] int n,
              [[maybe_unused]] std::uint64_t count, [[maybe_unused]] std::uint64_t sum, [[maybe_unused]] Loop loop) {
#if !defined(__clang_major__) || __clang_major__ >= 17
  add_loop(to, group, "one", "std::ranges", n, count, sum, loop);
#endif
}

void add_merge_1_of(cells& to, int n) {
  const std::string group = "merge1SyncStreamOfN " + std::to_string(n);
  const auto count = static_cast<std::uint64_t>(n);
  const std::uint64_t sum = sum_below(count);
  add(to, group, "weir.merge", n, count, sum, [](int m) { return merge_1_of(m); });
  add(to, group, "weir.merge, erased", n, count, sum, [](int m) { return flow::erase(merge_1_of(m)); });
  add(to, group, "weir.merge of erased flows", n, count, sum, [](int m) {
    return flow::merge(flow::just(1) | flow::map([m](int) { return flow::erase(flow::range(0, m)); }));
  });
  add_loop(to, group, "limit", "a loop", n, count, sum, [](int m, consumer& take) {
    for (int i = 0; i < m; ++i) take(i);
  });
  add_join(to, group, n, count, sum, [](auto m, consumer& take) {
    auto all =
        std::views::single(1) | std::views::transform([m](int) { return std::views::iota(0, m); }) | std::views::join;
    for (const int item : all) take(item);
  });
}

void add_merge_of_1(cells& to, int n) {
  const std::string group = "mergeNSyncStreamsOf1 " + std::to_string(n);
  const auto count = static_cast<std::uint64_t>(n);
  const std::uint64_t sum = sum_below(count);
  using one = decltype(flow::just(1));
  std::vector<one> made;
  for (int i = 0; i < n; ++i) made.push_back(flow::just(i));
  to.push_back({group, "one", "weir.merge", "/s", [=](double seconds) {
                  return operations_per_second(
                      seconds, [&] { consume(flow::merge(flow::from_range(std::span<const one>(made))), count, sum); });
                }});
  std::vector<std::ranges::single_view<int>> views;
  for (int i = 0; i < n; ++i) views.emplace_back(i);
  to.push_back({group, "one", "std::ranges", "/s", [=](double seconds) {
                  return operations_per_second(seconds, [&] {
                    consumer take;
                    for (const int item : views | std::views::join) take(item);
                    take.expect(count, sum);
                  });
                }});
  to.push_back({group, "limit", "a loop", "/s", [=](double seconds) {
                  return operations_per_second(seconds, [&] {
                    consumer take;
                    for (const auto& view : views) take(view.front());
                    take.expect(count, sum);
                  });
                }});
}

void add_merge_of_n(cells& to, int n) {
  const std::string group = "mergeNSyncStreamsOfN " + std::to_string(n);
  const auto each = static_cast<std::uint64_t>(n);
  const std::uint64_t count = each * each;
  const std::uint64_t sum = each * sum_below(each);
  add(to, group, "weir.merge", n, count, sum,
      [](int m) { return flow::merge(flow::range(0, m) | flow::map([m](int) { return flow::range(0, m); })); });
  add_loop(to, group, "limit", "a loop", n, count, sum, [](int m, consumer& take) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < unknown(m); ++j) take(j);
    }
  });
  add_join(to, group, n, count, sum, [](auto m, consumer& take) {
    auto all =
        std::views::iota(0, m) | std::views::transform([m](int) { return std::views::iota(0, m); }) | std::views::join;
    for (const int item : all) take(item);
  });
}

void add_one_to_one(cells& to, int n) {
  const std::string group = "oneStreamOfNthatMergesIn1 " + std::to_string(n);
  const auto count = static_cast<std::uint64_t>(n);
  const std::uint64_t sum = sum_below(count);
  const auto assemble = [](int m) {
    return flow::merge(flow::range(0, m) | flow::map([](int i) { return flow::just(i); }));
  };
  add(to, group, "weir.merge", n, count, sum, assemble);
  add(to, group, "weir.merge, erased", n, count, sum, [=](int m) { return flow::erase(assemble(m)); });
  add_loop(to, group, "limit", "a loop", n, count, sum, [](int m, consumer& take) {
    for (int i = 0; i < m; ++i) take(unknown(i));
  });
  add_join(to, group, n, count, sum, [](auto m, consumer& take) {
    auto all =
        std::views::iota(0, m) | std::views::transform([](int i) { return std::views::single(i); }) | std::views::join;
    for (const int item : all) take(item);
  });
}

void add_demand(cells& to, std::size_t step) {
  constexpr int n = 1'000'000;
  to.push_back({"merge1SyncStreamOfN 1000000, asked for " + std::to_string(step) + " at a time", "one", "weir.merge",
                "/s", [=](double seconds) {
                  return operations_per_second(seconds,
                                               [&] { consume_by(merge_1_of(unknown(n)), step, n, sum_below(n)); });
                }});
}

/// A million items over a boundary where types are forgotten, the batch that one call carries.
void add_erased(cells& to) {
  constexpr int n = 1'000'000;
  to.push_back({"an erased boundary, by 256", "one", "weir.any_flow", "ns", [=](double seconds) {
                  return 1e9 / n / operations_per_second(seconds, [&] {
                           consume(flow::erase(flow::range(0, unknown(n))), n, sum_below(n));
                         });
                }});
}

}  // namespace

void add_synchronous(cells& to) {
  for (const int n : {1, 1000, 1'000'000}) add_merge_1_of(to, n);
  for (const int n : {1, 100, 1000}) add_merge_of_1(to, n);
  for (const int n : {1, 1000}) add_merge_of_n(to, n);
  for (const int n : {1, 1000, 1'000'000}) add_one_to_one(to, n);
  for (const std::size_t step : {1U, 16U, 128U}) add_demand(to, step);
  add_erased(to);
}

}  // namespace weir::bench
