// The eight rows of RxJava's RxRingBufferPerf: one thread, a ring of 1024 pointers.
//
//     AddRemoveN            N items into a ring that is there, and N out
//     CreateUseAndDestroyN  the same, and the ring is made before and destroyed after
//
// Every item that comes out is compared with what went in, every operation takes out as many as it put in.

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "measure.h"
#include "peers.h"
#include "queue_cells.h"
#include "weir_queues.h"

namespace weir::bench {
namespace {

constexpr std::size_t ring_items = 1024;

template <std::size_t count, class Producer, class Consumer>
inline void add_remove(Producer& producer, Consumer& consumer, void* item) {
  for (std::size_t i = 0; i < count; ++i) {
    void* copy = item;
    if (!producer.push(std::move(copy))) fail("RxRingBufferPerf: the ring refused an item");
  }
  for (std::size_t i = 0; i < count; ++i) {
    void* got = nullptr;
    if (!consumer.pop(got) || got != item) fail("RxRingBufferPerf: the ring lost or changed an item");
    sink(got);
  }
}

/// A pointer the compiler knows nothing about.
void* unknown_item() {
  static int target = 0;
  void* item = &target;
  asm volatile("" : "+r"(item));
  return item;
}

template <class Queue, std::size_t count>
double add_remove_rate(double seconds) {
  void* const item = unknown_item();
  Queue queue(ring_items);
  typename Queue::producer producer(queue);
  typename Queue::consumer consumer(queue);
  return rate(seconds, 64, [&](std::uint64_t operations) {
    const auto began = clock::now();
    for (std::uint64_t i = 0; i < operations; ++i) {
      add_remove<count>(producer, consumer, item);
      escape(queue);
    }
    return seconds_since(began);
  });
}

template <class Queue, std::size_t count>
double create_use_destroy_rate(double seconds) {
  void* const item = unknown_item();
  return rate(seconds, 64, [&](std::uint64_t operations) {
    const auto began = clock::now();
    for (std::uint64_t i = 0; i < operations; ++i) {
      Queue queue(ring_items);
      {
        typename Queue::producer producer(queue);
        typename Queue::consumer consumer(queue);
        escape(queue);
        add_remove<count>(producer, consumer, item);
      }
    }
    return seconds_since(began);
  });
}

template <class Queue>
void add(cells& to, const std::string& kind, const std::string& who) {
  to.push_back({kind + " AddRemove1", "one", who, "/s", add_remove_rate<Queue, 1>});
  to.push_back({kind + " AddRemove1000", "one", who, "/s", add_remove_rate<Queue, 1000>});
  to.push_back({kind + " CreateUseAndDestroy1", "one", who, "/s", create_use_destroy_rate<Queue, 1>});
  to.push_back({kind + " CreateUseAndDestroy1000", "one", who, "/s", create_use_destroy_rate<Queue, 1000>});
}

/// The limit of a queue whose consumers claim each item by itself: a compare-exchange an item, and nothing else.
double bare_claim_rate(double seconds) {
  alignas(queue::separation) std::atomic<std::uint64_t> position{0};
  return rate(seconds, 64, [&](std::uint64_t operations) {
    const auto began = clock::now();
    for (std::uint64_t i = 0; i < operations; ++i) {
      std::uint64_t here = position.load(std::memory_order_relaxed);
      if (!position.compare_exchange_strong(here, here + 1)) fail("RxRingBufferPerf: a claim failed");
      escape(position);
    }
    return seconds_since(began);
  });
}

}  // namespace

void add_rx_ring_buffer(cells& to) {
  add<weir_spsc_ring_in_object<void*, ring_items>>(to, "spsc", "weir.spsc_ring in its object");
  add<weir_spsc_ring<void*>>(to, "spsc", "weir.spsc_ring on the heap");
  add<weir_spsc_chain<void*>>(to, "spsc", "weir.spsc_chain");
  add<weir_spmc_ring_in_object<void*, ring_items>>(to, "spmc", "weir.spmc_ring in its object");
  add<weir_spmc_ring<void*>>(to, "spmc", "weir.spmc_ring on the heap");
  add<weir_spmc_in_hand<queue::spmc_ring<void*, ring_items>>>(to, "spmc", "weir.spmc_ring::consumer");
  for (const char* row : {"spmc AddRemove1", "spmc CreateUseAndDestroy1"}) {
    to.push_back({row, "limit", "a bare compare-exchange an item", "/s", bare_claim_rate});
  }
#if WEIR_BENCH_BOOST
  add<boost_spsc_in_place<void*>>(to, "spsc", "boost spsc_queue in its object");
  add<boost_spsc<void*>>(to, "spsc", "boost spsc_queue on the heap");
#endif
#if WEIR_BENCH_READERWRITERQUEUE
  add<reader_writer_queue<void*>>(to, "spsc", "moodycamel ReaderWriterQueue");
#endif
#if WEIR_BENCH_BOOST
  add<boost_queue<void*>>(to, "spmc", "boost queue");
#endif
#if WEIR_BENCH_CONCURRENTQUEUE
  add<concurrent_queue<void*>>(to, "spmc", "moodycamel ConcurrentQueue");
#endif
#if WEIR_BENCH_TBB
  add<tbb_bounded_queue<void*>>(to, "spmc", "TBB concurrent_bounded_queue");
#endif
}

}  // namespace weir::bench
