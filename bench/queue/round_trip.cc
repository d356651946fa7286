// How long an item takes there and back: two queues, two threads that spin, one item under way. And what the two
// processors need for that at least is the calibration of every two-thread figure (round_trip.h).

#include <cstdint>
#include <string>
#include <thread>

#include "items.h"
#include "peers.h"
#include "queue_cells.h"
#include "round_trip.h"
#include "weir_queues.h"

namespace weir::bench {
namespace {

constexpr std::size_t ring_items = 1024;

template <template <class> class Queue, class Item>
double run(std::uint64_t count) {
  using T = typename Item::type;
  using queue_type = Queue<T>;
  queue_type there(ring_items), back(ring_items);
  std::uint64_t sum = 0;
  const double took = time_two(
      [&] {
        typename queue_type::producer out(there);
        typename queue_type::consumer in(back);
        for (std::uint64_t number = 0; number < count; ++number) {
          T item = Item::make(number);
          spin_until([&] { return out.push(std::move(item)); });
          spin_until([&] { return in.pop(item); });
          if (Item::value(item) != Item::value_of_number(number)) fail("round trip: another item came back");
          sum += Item::value(item);
        }
      },
      [&] {
        typename queue_type::consumer in(there);
        typename queue_type::producer out(back);
        for (std::uint64_t number = 0; number < count; ++number) {
          T item{};
          spin_until([&] { return in.pop(item); });
          spin_until([&] { return out.push(std::move(item)); });
        }
      });
  if (sum != expected_sum<Item>(count)) fail("round trip: what came back is not what went out");
  return took;
}

template <template <class> class Queue>
void add(cells& to, const std::string& who) {
  to.push_back({"round trip u64", "one", who, "ns", nanoseconds_each(run<Queue, number_item>)});
  to.push_back({"round trip pointer", "one", who, "ns", nanoseconds_each(run<Queue, pointer_item>)});
}

}  // namespace

void add_round_trip(cells& to) {
  add<weir_spsc_ring>(to, "weir.spsc_ring");
  add<weir_spsc_chain>(to, "weir.spsc_chain");
  add<weir_mpsc_ring>(to, "weir.mpsc_ring");
  add<weir_spmc_ring>(to, "weir.spmc_ring");
#if WEIR_BENCH_BOOST
  add<boost_spsc>(to, "boost spsc_queue");
  add<boost_queue>(to, "boost queue");
#endif
#if WEIR_BENCH_READERWRITERQUEUE
  add<reader_writer_queue>(to, "moodycamel ReaderWriterQueue");
#endif
#if WEIR_BENCH_CONCURRENTQUEUE
  add<concurrent_queue>(to, "moodycamel ConcurrentQueue");
#endif
#if WEIR_BENCH_TBB
  add<tbb_bounded_queue>(to, "TBB concurrent_bounded_queue");
#endif
}

}  // namespace weir::bench
