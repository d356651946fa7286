#pragma once

// Weir's queues behind the few operations that the cells need. A queue has a `producer` and a `consumer`, an object for
// each thread, with those of the following that it can do:
//
//     producer   push(T&&)        whether the item went in
//                push_n(T*, n)    how many of the items went in, copied
//                fill(n, make)    how many went in; make(span) constructs them where they stay
//     consumer   pop(T&)          whether an item came out
//                pop_n(T*, n)     how many came out, copied
//                drain(n, take)   how many came out; take(span) reads them where they lie

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

#include <weir/queue/mpsc_ring.h>
#include <weir/queue/spmc_ring.h>
#include <weir/queue/spsc_chain.h>
#include <weir/queue/spsc_ring.h>

namespace weir::bench {

template <class T, class Use>
std::size_t use_spans(const queue::ring_spans<T>& items, Use&& use) {
  if (!items.first.empty()) use(items.first);
  if (!items.second.empty()) use(items.second);
  return items.size();
}

/// One producer, one consumer, or several that need no word with each other.
template <class Ring>
struct ring_side {
  using item = typename Ring::value_type;
  Ring& ring;

  bool push(item&& from) { return ring.try_push(std::move(from)) == queue::push_outcome::pushed; }
  std::size_t push_n(item* from, std::size_t count) { return ring.try_push_n(std::span<item>(from, count)); }
  bool pop(item& into) { return ring.try_pop(into) == queue::pop_outcome::popped; }
  std::size_t pop_n(item* into, std::size_t count) { return ring.try_pop_n(std::span<item>(into, count)); }
};

/// What is best done in place at once: while a side works at a quarter of the ring, the other has three.
template <class Ring>
std::size_t in_place(const Ring& ring, std::size_t count) {
  if constexpr (requires { ring.capacity(); }) {
    return std::min(count, std::max<std::size_t>(ring.capacity() / 4, 1));
  } else {
    return count;
  }
}

template <class Ring>
struct sole_producer : ring_side<Ring> {
  template <class Make>
  std::size_t fill(std::size_t count, Make&& make) {
    const std::size_t made = use_spans(this->ring.prepare(in_place(this->ring, count)), make);
    if (made != 0) this->ring.commit(made);
    return made;
  }
};

template <class Ring>
struct sole_consumer : ring_side<Ring> {
  template <class Take>
  std::size_t drain(std::size_t max, Take&& take) {
    const std::size_t taken = use_spans(this->ring.readable(in_place(this->ring, max)), take);
    if (taken != 0) this->ring.release(taken);
    return taken;
  }
};

/// A queue of Weir as the cells see it, bounded to `capacity`: a ring gets as many places unless it has its own.
template <class Ring, class Producer, class Consumer>
struct weir_queue {
  Ring ring;
  explicit weir_queue(std::size_t capacity)
    requires std::constructible_from<Ring, std::size_t>
      : ring(capacity) {}
  explicit weir_queue(std::size_t capacity)
    requires std::constructible_from<Ring, queue::chain_options>
      : ring(queue::chain_options{.items_max = capacity}) {}
  explicit weir_queue(std::size_t) {}

  struct producer : Producer {
    explicit producer(weir_queue& of) : Producer{{of.ring}} {}
  };
  struct consumer : Consumer {
    explicit consumer(weir_queue& of) : Consumer{{of.ring}} {}
  };
};

template <class Ring>
using weir_spsc = weir_queue<Ring, sole_producer<Ring>, sole_consumer<Ring>>;

template <class T>
using weir_spsc_ring = weir_spsc<queue::spsc_ring<T>>;
template <class T, std::size_t Capacity>
using weir_spsc_ring_in_object = weir_spsc<queue::spsc_ring<T, Capacity>>;

template <class T>
using weir_spsc_chain = weir_spsc<queue::spsc_chain<T>>;

template <class Ring>
struct one_of_producers : ring_side<Ring> {
  template <class Make>
  std::size_t fill(std::size_t count, Make&& make) {
    auto places = this->ring.reserve(in_place(this->ring, count));
    const std::size_t made = use_spans(places.spans(), make);
    places.publish(made);
    return made;
  }
};

/// Pops as JCTools' relaxedPoll does: what another producer has begun and not finished is "nothing there".
template <class Ring>
struct relaxed_consumer : sole_consumer<Ring> {
  bool pop(typename Ring::value_type& into) { return this->ring.try_relaxed_pop(into) == queue::pop_outcome::popped; }
};

template <class Ring>
using weir_mpsc = weir_queue<Ring, one_of_producers<Ring>, relaxed_consumer<Ring>>;
template <class T>
using weir_mpsc_ring = weir_mpsc<queue::mpsc_ring<T>>;

template <class Ring>
struct one_of_consumers : ring_side<Ring> {
  template <class Take>
  std::size_t drain(std::size_t max, Take&& take) {
    const auto items = this->ring.claim(in_place(this->ring, max));
    return use_spans(items.spans(), take);
  }
};

template <class Ring>
using weir_spmc = weir_queue<Ring, sole_producer<Ring>, one_of_consumers<Ring>>;
template <class T>
using weir_spmc_ring = weir_spmc<queue::spmc_ring<T>>;
template <class T, std::size_t Capacity>
using weir_spmc_ring_in_object = weir_spmc<queue::spmc_ring<T, Capacity>>;

/// Item by item out of a batch that is in hand.
template <class Ring>
struct consumer_in_hand {
  typename Ring::consumer hand;
  explicit consumer_in_hand(Ring& ring) : hand(ring) {}
  bool pop(typename Ring::value_type& into) { return hand.try_pop(into) == queue::pop_outcome::popped; }
};

template <class Ring>
struct weir_spmc_in_hand {
  Ring ring;
  explicit weir_spmc_in_hand(std::size_t capacity)
    requires std::constructible_from<Ring, std::size_t>
      : ring(capacity) {}
  explicit weir_spmc_in_hand(std::size_t) {}

  struct producer : sole_producer<Ring> {
    explicit producer(weir_spmc_in_hand& of) : sole_producer<Ring>{{of.ring}} {}
  };
  struct consumer : consumer_in_hand<Ring> {
    explicit consumer(weir_spmc_in_hand& of) : consumer_in_hand<Ring>(of.ring) {}
  };
};

}  // namespace weir::bench
