// One thread hands out work, others take it in batches, each piece once; where the ring is full, the one that hands out
// works itself.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include <weir/queue/event_count.h>
#include <weir/queue/spmc_ring.h>

namespace queue = weir::queue;

/// Count the primes from `first` up to, not with, `end`.
struct job {
  std::uint32_t first;
  std::uint32_t end;
};

std::uint32_t primes_in(const job& range) {
  std::uint32_t found = 0;
  for (std::uint32_t number = range.first; number != range.end; ++number) {
    bool is_prime = number >= 2;
    for (std::uint32_t divisor = 2; is_prime && divisor * divisor <= number; ++divisor) {
      is_prime = number % divisor != 0;
    }
    if (is_prime) ++found;
  }
  return found;
}

// [worker
struct desk {
  queue::spmc_ring<job, 64> jobs;
  queue::event_count news;
};

std::uint32_t work(desk& at) {
  std::uint32_t found = 0;
  for (;;) {
    // Few at a time: what one worker has claimed, the others do not get.
    const auto batch = at.jobs.claim(4);
    for (const job& each : batch) found += primes_in(each);
    if (!batch.empty()) continue;
    if (at.jobs.ended()) return found;
    at.news.await([&] { return at.jobs.has_items() || at.jobs.ended(); });
  }
}
// worker]

int main() {
  desk shared;
  std::array<std::uint32_t, 3> found{};
  {
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i + 1 < found.size(); ++i) {
      workers.emplace_back([&shared, &mine = found[i]] { mine = work(shared); });
    }

    // [producer
    for (std::uint32_t first = 0; first != 500'000; first += 1'000) {
      job next{first, first + 1'000};
      // A push that is refused leaves the job alone.
      if (shared.jobs.try_relaxed_push(std::move(next)) == queue::push_outcome::pushed) {
        shared.news.notify_all();
      } else {
        found.back() += primes_in(next);
      }
    }
    shared.jobs.close();
    shared.news.notify_all();
    // producer]
  }

  std::uint32_t all = 0;
  for (const std::uint32_t each : found) all += each;
  std::printf("%u primes below 500000\n", all);
}
