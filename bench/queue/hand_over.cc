// Items from one thread to another: 1P1C, 2P1C and 1P2C; one by one, copied in batches, and in place; and how fast the
// two processors could hand over the same memory without a queue.
//
// A run counts and sums all items that come out; a run that does not end with what went in ends the program.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "blocks.h"
#include "items.h"
#include "measure.h"
#include "peers.h"
#include "queue_cells.h"
#include "weir_queues.h"

namespace weir::bench {
namespace {

constexpr std::size_t batch_max = 256;

struct load {
  unsigned producers;
  unsigned consumers;
  std::size_t ring;
  std::size_t batch;

  /// Two threads get a processor each; three are left to the system.
  [[nodiscard]] bool pinned() const { return producers + consumers == 2; }
};

struct alignas(queue::separation) tally {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
};

enum class way { one, copy, place };

template <way how, class Item, class Producer>
void produce(Producer& out, const load& of, std::uint64_t from, std::uint64_t to) {
  using T = typename Item::type;
  patience full(!of.pinned());
  if constexpr (how == way::one) {
    for (std::uint64_t number = from; number < to; ++number) {
      T item = Item::make(number);
      while (!out.push(std::move(item))) full.pause();
    }
  } else if constexpr (how == way::copy) {
    std::array<T, batch_max> batch;
    while (from < to) {
      const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(of.batch, to - from));
      for (std::size_t i = 0; i < count; ++i) batch[i] = Item::make(from + i);
      for (std::size_t done = 0; done < count;) {
        const std::size_t pushed = out.push_n(batch.data() + done, count - done);
        if (pushed == 0) full.pause();
        done += pushed;
      }
      from += count;
    }
  } else {
    while (from < to) {
      const std::size_t count = static_cast<std::size_t>(std::min<std::uint64_t>(of.batch, to - from));
      const std::size_t made = out.fill(count, [&from](std::span<T> places) {
        for (std::size_t i = 0; i < places.size(); ++i) std::construct_at(&places[i], Item::make(from + i));
        from += places.size();
      });
      if (made == 0) full.pause();
    }
  }
}

/// Takes items until all producers are done and nothing is left.
///   most   how many there are: a queue that repeats itself might never be empty.
template <way how, class Item, class Consumer>
tally take_all(Consumer& in, const load& of, std::uint64_t most, const std::atomic<unsigned>& producers_left) {
  using T = typename Item::type;
  patience empty(!of.pinned());
  tally taken;
  [[maybe_unused]] std::array<T, batch_max> batch;
  for (bool last_look = false;;) {
    std::size_t count = 0;
    if constexpr (how == way::one) {
      T item{};
      if (in.pop(item)) {
        count = 1;
        taken.sum += Item::value(item);
      }
    } else if constexpr (how == way::copy) {
      count = in.pop_n(batch.data(), of.batch);
      for (std::size_t i = 0; i < count; ++i) taken.sum += Item::value(batch[i]);
    } else {
      count = in.drain(of.batch, [&taken](std::span<T> items) {
        std::uint64_t sum = 0;
        for (const T& item : items) sum += Item::value(item);
        taken.sum += sum;
      });
    }
    taken.count += count;
    if (taken.count > most) fail("hand over: more came out than went in");
    if (count != 0) continue;
    if (last_look) return taken;
    // Partner: the producers' subtraction. Whatever they put in before, the next look finds.
    last_look = producers_left.load(std::memory_order_acquire) == 0;
    if (!last_look) empty.pause();
  }
}

/// Seconds for `count` items.
template <template <class> class Queue, class Item, way how>
double run(const load& of, std::uint64_t count) {
  using queue_type = Queue<typename Item::type>;
  queue_type queue(of.ring);
  start_line line(of.producers + of.consumers);
  stopwatch watch(of.producers + of.consumers);
  alignas(queue::separation) std::atomic<unsigned> producers_left{of.producers};
  std::vector<tally> taken(of.consumers);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < of.producers; ++i) {
    threads.emplace_back([&, i] {
      if (of.pinned()) pin_to(0);
      typename queue_type::producer out(queue);
      line.arrive_and_wait();
      watch.time(i, [&] {
        produce<how, Item>(out, of, count * i / of.producers, count * (i + 1) / of.producers);
        producers_left.fetch_sub(1, std::memory_order_release);
      });
    });
  }
  for (unsigned i = 0; i < of.consumers; ++i) {
    threads.emplace_back([&, i] {
      if (of.pinned()) pin_to(1);
      typename queue_type::consumer in(queue);
      line.arrive_and_wait();
      watch.time(of.producers + i, [&] { taken[i] = take_all<how, Item>(in, of, count, producers_left); });
    });
  }
  for (std::thread& thread : threads) thread.join();

  tally all;
  for (const tally& some : taken) {
    all.count += some.count;
    all.sum += some.sum;
  }
  if (all.count != count || all.sum != expected_sum<Item>(count)) fail("hand over: what came out is not what went in");
  return watch.seconds();
}

/// Enough to go round every ring a few times.
std::uint64_t count_min(const load& of) { return std::max<std::uint64_t>(1 << 12, 4 * of.ring); }

std::string group_name(const load& of, const char* item) {
  std::string name = std::to_string(of.producers) + "P" + std::to_string(of.consumers) + "C " + item + " ring " +
                     std::to_string(of.ring);
  if (of.batch > 1) name += " by " + std::to_string(of.batch);
  return name;
}

template <template <class> class Queue, class Item>
void add_queue(cells& to, const load& of, const std::string& who) {
  using producer = typename Queue<typename Item::type>::producer;
  using T = typename Item::type;
  const std::string group = group_name(of, Item::name);
  const auto add = [&]<way how>(const char* name) {
    to.push_back({group, name, who, "/s", [of](double seconds) {
                    return rate(seconds, count_min(of), [&](std::uint64_t n) { return run<Queue, Item, how>(of, n); });
                  }});
  };
  if (of.batch == 1) {
    add.template operator()<way::one>("one");
    return;
  }
  if constexpr (requires(producer& out, T* items) { out.push_n(items, 1); }) {
    add.template operator()<way::copy>("copy");
  }
  if constexpr (requires(producer& out) { out.fill(1, [](std::span<T>) {}); }) {
    add.template operator()<way::place>("place");
  }
}

/// The limit; see blocks.h. At least two blocks, or the two threads would take turns.
template <class Item>
void add_limit(cells& to, const load& of) {
  const auto run_blocks = [of](std::uint64_t items) {
    const std::size_t block_items = std::min(of.batch, of.ring / 2);
    const std::uint64_t count = items - items % block_items;
    blocks<Item> memory(of.ring, block_items);
    start_line line(2);
    stopwatch watch(2);
    std::uint64_t sum = 0;
    std::thread writer([&] {
      pin_to(0);
      line.arrive_and_wait();
      watch.time(0, [&] { memory.write(count); });
    });
    std::thread reader([&] {
      pin_to(1);
      line.arrive_and_wait();
      watch.time(1, [&] { sum = memory.read(count); });
    });
    writer.join();
    reader.join();
    if (sum != expected_sum<Item>(count)) fail("limit: what came out is not what went in");
    return watch.seconds() * static_cast<double>(items) / static_cast<double>(count);
  };
  to.push_back({group_name(of, Item::name), "limit", "blocks of memory", "/s",
                [=](double seconds) { return rate(seconds, count_min(of), run_blocks); }});
}

template <class Item>
void add_queues(cells& to, const load& of) {
  if (of.producers == 1 && of.consumers == 1) {
    add_queue<weir_spsc_ring, Item>(to, of, "weir.spsc_ring");
    add_queue<weir_spsc_chain, Item>(to, of, "weir.spsc_chain");
#if WEIR_BENCH_BOOST
    add_queue<boost_spsc, Item>(to, of, "boost spsc_queue");
#endif
#if WEIR_BENCH_READERWRITERQUEUE
    add_queue<reader_writer_queue, Item>(to, of, "moodycamel ReaderWriterQueue");
#endif
    if (of.batch > 1) add_limit<Item>(to, of);
  }
#if WEIR_BENCH_CONCURRENTQUEUE
  // What a ring for many costs between two threads is shown for one kind of item.
  if (of.producers + of.consumers > 2 || std::is_same_v<Item, number_item>) {
    if (of.consumers == 1) add_queue<weir_mpsc_ring, Item>(to, of, "weir.mpsc_ring");
    if (of.producers == 1) add_queue<weir_spmc_ring, Item>(to, of, "weir.spmc_ring");
  }
  if (of.producers > 1) {
    add_queue<concurrent_queue_of_many, Item>(to, of, "moodycamel ConcurrentQueue");
  } else {
    add_queue<concurrent_queue, Item>(to, of, "moodycamel ConcurrentQueue");
  }
#endif
#if WEIR_BENCH_TBB
  add_queue<tbb_bounded_queue, Item>(to, of, "TBB concurrent_bounded_queue");
#endif
#if WEIR_BENCH_BOOST
  if (of.producers + of.consumers > 2) add_queue<boost_queue, Item>(to, of, "boost queue");
#endif
}

}  // namespace

void add_hand_over(cells& to) {
  for (const auto& [producers, consumers] : {std::pair{1U, 1U}, std::pair{2U, 1U}, std::pair{1U, 2U}}) {
    for (const std::size_t ring : {128U, 1024U, 65536U}) {
      for (const std::size_t batch : {1U, 64U, 256U}) {
        const load of{producers, consumers, ring, batch};
        add_queues<number_item>(to, of);
        add_queues<pointer_item>(to, of);
        add_queues<line_item>(to, of);
      }
    }
  }
}

}  // namespace weir::bench
