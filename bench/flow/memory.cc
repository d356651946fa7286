// Allocations of an operation, and the most memory that a hop keeps whatever the speed of its consumer. Counted by the
// program's own operator new, so these are exact and the same in every run.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include <weir/core/limits.h>
#include <weir/flow/any_flow.h>
#include <weir/flow/for_each.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>

#include "flow_cells.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> octets{0};
std::atomic<std::int64_t> octets_max{0};

// Before each block, its size; as far before as its alignment asks for.
void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t room = alignment < sizeof(std::size_t) ? sizeof(std::size_t) : alignment;
  void* const block = std::aligned_alloc(room, (size + room + room - 1) / room * room);
  if (!block) throw std::bad_alloc();
  char* const given = static_cast<char*>(block) + room;
  reinterpret_cast<std::size_t*>(given)[-1] = size;
  if (counting.load(std::memory_order_relaxed)) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    const auto mine = static_cast<std::int64_t>(size);
    const std::int64_t now = octets.fetch_add(mine, std::memory_order_relaxed) + mine;
    std::int64_t most = octets_max.load(std::memory_order_relaxed);
    while (now > most && !octets_max.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
  }
  return given;
}
void free(void* given, std::size_t alignment) noexcept {
  if (!given) return;
  const std::size_t room = alignment < sizeof(std::size_t) ? sizeof(std::size_t) : alignment;
  if (counting.load(std::memory_order_relaxed)) {
    octets.fetch_sub(static_cast<std::int64_t>(reinterpret_cast<std::size_t*>(given)[-1]), std::memory_order_relaxed);
  }
  std::free(static_cast<char*>(given) - room);
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

void* operator new(std::size_t size) { return allocate(size, usual); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* given) noexcept { free(given, usual); }
void operator delete(void* given, std::size_t) noexcept { free(given, usual); }
void operator delete(void* given, std::align_val_t alignment) noexcept {
  free(given, static_cast<std::size_t>(alignment));
}
void operator delete(void* given, std::size_t, std::align_val_t alignment) noexcept {
  free(given, static_cast<std::size_t>(alignment));
}

namespace weir::bench {
namespace {

struct used {
  double allocations;
  double octets_max;
};

template <class Operation>
used measure(Operation&& operation) {
  allocations = 0;
  octets = 0;
  octets_max = 0;
  counting = true;
  operation();
  counting = false;
  return {static_cast<double>(allocations.load()), static_cast<double>(octets_max.load())};
}

template <class Flow>
void consume(Flow from, std::uint64_t count, std::uint64_t sum) {
  consumer take;
  if (!flow::for_each(std::move(from), [&take](int item) { take(item); })) fail("a flow failed");
  take.expect(count, sum);
}

template <class Assemble>
void add_allocations(cells& to, const char* group, const char* who, int n, std::uint64_t count, std::uint64_t sum,
                     Assemble assemble) {
  to.push_back({group, "one", who, "allocations",
                [=](double) { return measure([&] { consume(assemble(n), count, sum); }).allocations; }});
}

/// A consumer that takes 100 items and then pauses, so that upstream is ahead as far as it may be.
double slow_consumer_octets(double) {
  constexpr int n = 100'000;
  flow::worker on;
  return measure([&] {
           int paused = 0;
           consumer take;
           const auto end = flow::for_each(flow::range(0, n) | flow::observe_on(on), [&](int item) {
             take(item);
             if (++paused % 100 == 0) {
               for (int i = 0; i < 200; ++i) queue::relax();
             }
           });
           if (!end) fail("a flow failed");
           take.expect(n, sum_below(n));
         })
      .octets_max;
}

}  // namespace

void add_memory(cells& to) {
  constexpr int n = 1000;
  add_allocations(to, "allocations of merge1SyncStreamOfN 1000", "weir.merge", n, n, sum_below(n),
                  [](int m) { return flow::merge(flow::just(1) | flow::map([m](int) { return flow::range(0, m); })); });
  add_allocations(to, "allocations of oneStreamOfNthatMergesIn1 1000", "weir.merge", n, n, sum_below(n), [](int m) {
    return flow::merge(flow::range(0, m) | flow::map([](int i) { return flow::just(i); }));
  });
  add_allocations(to, "allocations of an erased flow", "weir.any_flow", n, n, sum_below(n),
                  [](int m) { return flow::erase(flow::range(0, m)); });
  to.push_back({"memory of a hop before a slow consumer", "one", "weir.observe_on", "octets", slow_consumer_octets});
}

}  // namespace weir::bench
