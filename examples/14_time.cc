// Flows that wait for a time to come: ticks, a limit on waiting, tries that come later and later; and an hour that takes no time.

#include <chrono>
#include <cstdio>

#include <weir/flow/debounce.h>
#include <weir/flow/for_each.h>
#include <weir/flow/interval.h>
#include <weir/flow/map.h>
#include <weir/flow/retry_backoff.h>
#include <weir/flow/sources.h>
#include <weir/flow/take.h>
#include <weir/flow/testing/test_consumer.h>
#include <weir/flow/testing/virtual_time.h>
#include <weir/flow/timeout.h>
#include <weir/flow/timer_thread.h>

namespace flow = weir::flow;
using namespace std::chrono_literals;

int main() {
  // One thread that wakes whoever waits. Declared first: it outlives the flows that wait on it, and their executors.
  flow::timer_thread clock;

  auto ended = flow::interval(2ms, clock) | flow::take(3) |
               flow::for_each([](auto tick) { std::printf("tick %llu\n", static_cast<unsigned long long>(tick)); });

  // Something else when nothing comes in time; without it, a failure of code timed_out.
  if (ended) {
    ended = flow::never<int>() | flow::timeout(5ms, clock, flow::just(42)) |
            flow::for_each([](int answer) { std::printf("answer %d\n", answer); });
  }

  // A connection that is refused twice. Each flow is made by the function, the second one after about 1 ms, the third after 2.
  int tries = 0;
  const auto connected = flow::defer([&] {
                           std::printf("try %d\n", ++tries);
                           return flow::from_callable([&]() -> weir::result<int> {
                             if (tries < 3) return weir::fail(weir::errc::refused, "not yet");
                             return tries;
                           });
                         }) |
                         flow::retry(flow::backoff{.first = 1ms, .longest = 1s, .count = 5}, clock) |
                         flow::for_each([](int number) { std::printf("connected at try %d\n", number); });

  // In a test, time passes when you say so.
  flow::testing::virtual_time time;
  flow::testing::test_consumer seen(flow::interval(1h, time) | flow::take(3) | flow::debounce(30min, time));
  for (int minutes = 0; !seen.end(); minutes += 10) {
    const std::size_t had = seen.items.size();
    seen.request_all();
    if (seen.items.size() != had)
      std::printf("after %d minutes: %llu\n", minutes, static_cast<unsigned long long>(seen.items.back()));
    time.advance_by(10min);
  }
  return ended && connected ? 0 : 1;
}
