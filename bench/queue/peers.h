#pragma once

// The peers behind the operations of weir_queues.h, as far as this build found them. None of them hands out its places,
// so none has fill and drain; those without push_n and pop_n are only met one by one.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#if WEIR_BENCH_BOOST
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#endif
#if WEIR_BENCH_READERWRITERQUEUE
#include <readerwriterqueue/readerwriterqueue.h>
#endif
#if WEIR_BENCH_CONCURRENTQUEUE
#include <concurrentqueue/concurrentqueue.h>
#endif
#if WEIR_BENCH_TBB
#include <tbb/concurrent_queue.h>
#endif

#include "measure.h"

namespace weir::bench {

#if WEIR_BENCH_BOOST
template <class T>
struct boost_spsc {
  boost::lockfree::spsc_queue<T> queue;
  explicit boost_spsc(std::size_t capacity) : queue(capacity) {}

  struct producer {
    boost::lockfree::spsc_queue<T>& queue;
    explicit producer(boost_spsc& of) : queue(of.queue) {}
    bool push(T&& item) { return queue.push(item); }
    std::size_t push_n(T* from, std::size_t count) { return queue.push(from, count); }
  };
  struct consumer {
    boost::lockfree::spsc_queue<T>& queue;
    explicit consumer(boost_spsc& of) : queue(of.queue) {}
    bool pop(T& into) { return queue.pop(into); }
    std::size_t pop_n(T* into, std::size_t count) { return queue.pop(into, count); }
  };
};

/// With its storage in the object: the capacity is a constant, whatever is asked for.
template <class T>
struct boost_spsc_in_place {
  using queue_type = boost::lockfree::spsc_queue<T, boost::lockfree::capacity<1024>>;
  queue_type queue;
  explicit boost_spsc_in_place(std::size_t) {}

  struct producer {
    queue_type& queue;
    explicit producer(boost_spsc_in_place& of) : queue(of.queue) {}
    bool push(T&& item) { return queue.push(item); }
  };
  struct consumer {
    queue_type& queue;
    explicit consumer(boost_spsc_in_place& of) : queue(of.queue) {}
    bool pop(T& into) { return queue.pop(into); }
  };
};

/// For any number of threads: a list whose nodes come from a fixed pool.
template <class T>
struct boost_queue {
  using queue_type = boost::lockfree::queue<T, boost::lockfree::fixed_sized<true>>;
  // Its nodes are numbered with 16 bits, and some of the numbers are its own.
  static constexpr std::size_t capacity_max = 65534;
  queue_type queue;
  explicit boost_queue(std::size_t capacity) : queue(std::min(capacity, capacity_max)) {}

  struct producer {
    queue_type& queue;
    explicit producer(boost_queue& of) : queue(of.queue) {}
    bool push(T&& item) { return queue.push(item); }
  };
  struct consumer {
    queue_type& queue;
    explicit consumer(boost_queue& of) : queue(of.queue) {}
    bool pop(T& into) { return queue.pop(into); }
  };
};
#endif

#if WEIR_BENCH_READERWRITERQUEUE
template <class T>
struct reader_writer_queue {
  moodycamel::ReaderWriterQueue<T> queue;
  explicit reader_writer_queue(std::size_t capacity) : queue(capacity) {}

  struct producer {
    moodycamel::ReaderWriterQueue<T>& queue;
    explicit producer(reader_writer_queue& of) : queue(of.queue) {}
    bool push(T&& item) { return queue.try_enqueue(std::move(item)); }
  };
  struct consumer {
    moodycamel::ReaderWriterQueue<T>& queue;
    explicit consumer(reader_writer_queue& of) : queue(of.queue) {}
    bool pop(T& into) { return queue.try_dequeue(into); }
  };
};
#endif

#if WEIR_BENCH_CONCURRENTQUEUE
/// With a token for each thread, the quicker of its two ways. For one producer the bound is a pool of blocks.
template <class T>
struct concurrent_queue {
  using queue_type = moodycamel::ConcurrentQueue<T>;
  static constexpr std::size_t block = queue_type::BLOCK_SIZE;
  queue_type queue;
  explicit concurrent_queue(std::size_t capacity) : queue(capacity, 1, 0) {}

  struct producer {
    queue_type& queue;
    moodycamel::ProducerToken token;
    explicit producer(concurrent_queue& of) : queue(of.queue), token(of.queue) {}
    bool push(T&& item) { return queue.try_enqueue(token, std::move(item)); }
    std::size_t push_n(T* from, std::size_t count) {
      // All or nothing: where all is too much for what is free, a block may fit.
      for (const std::size_t some : {count, std::min(count, block)}) {
        if (queue.try_enqueue_bulk(token, from, some)) return some;
      }
      return 0;
    }
  };
  struct consumer {
    queue_type& queue;
    moodycamel::ConsumerToken token;
    explicit consumer(concurrent_queue& of) : queue(of.queue), token(of.queue) {}
    bool pop(T& into) { return queue.try_dequeue(token, into); }
    std::size_t pop_n(T* into, std::size_t count) { return queue.try_dequeue_bulk(token, into, count); }
  };
};

/// The same for several producers. A producer keeps the blocks it has once taken, so the first would leave none in a
/// pool for the others: here each begins with blocks for the whole capacity of its own.
template <class T>
struct concurrent_queue_of_many : concurrent_queue<T> {
  std::size_t capacity;
  explicit concurrent_queue_of_many(std::size_t items) : concurrent_queue<T>(0), capacity(items) {}

  struct producer : concurrent_queue<T>::producer {
    explicit producer(concurrent_queue_of_many& of) : concurrent_queue<T>::producer(of) {
      std::vector<T> filler(of.capacity);
      const bool taken = of.queue.enqueue_bulk(this->token, filler.data(), filler.size());
      if (!taken || of.queue.try_dequeue_bulk_from_producer(this->token, filler.data(), filler.size()) != of.capacity)
        fail("ConcurrentQueue: could not be prepared");
    }
  };
};
#endif

#if WEIR_BENCH_TBB
template <class T>
struct tbb_bounded_queue {
  tbb::concurrent_bounded_queue<T> queue;
  explicit tbb_bounded_queue(std::size_t capacity) {
    queue.set_capacity(static_cast<typename tbb::concurrent_bounded_queue<T>::size_type>(capacity));
  }

  struct producer {
    tbb::concurrent_bounded_queue<T>& queue;
    explicit producer(tbb_bounded_queue& of) : queue(of.queue) {}
    bool push(T&& item) { return queue.try_push(std::move(item)); }
  };
  struct consumer {
    tbb::concurrent_bounded_queue<T>& queue;
    explicit consumer(tbb_bounded_queue& of) : queue(of.queue) {}
    bool pop(T& into) { return queue.try_pop(into); }
  };
};
#endif

}  // namespace weir::bench
