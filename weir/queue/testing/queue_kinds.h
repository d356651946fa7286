#pragma once

// The queues, each in the forms that differ in their code, for tests that ask the same of all of them.

#include <bit>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/queue/mailbox.h>
#include <weir/queue/mpsc_ring.h>
#include <weir/queue/spmc_ring.h>
#include <weir/queue/spsc_chain.h>
#include <weir/queue/spsc_ring.h>
#include <weir/queue/testing/counted.h>

namespace weir::queue::testing {

/// A queue whose constructor says how many items it holds.
///   Item  what tests put in: its moves must not throw where a queue asks for that.
template <template <class, std::size_t, class> class Queue, class Item>
struct on_the_heap {
  using item = Item;
  template <class T>
  using of = Queue<T, dynamic_capacity, native>;

  template <class T>
  static of<T> make(std::size_t items, start_position start = {}) {
    return of<T>(items, start);
  }
  /// How many items fit into one that was asked for `items`.
  static std::size_t room(std::size_t items) { return std::bit_ceil(items); }
  static constexpr bool is_in_its_object = false;
};

/// One whose type says it.
template <template <class, std::size_t, class> class Queue, class Item, std::size_t Capacity>
struct in_place {
  using item = Item;
  template <class T>
  using of = Queue<T, Capacity, native>;

  template <class T>
  static of<T> make(std::size_t, start_position start = {}) {
    return of<T>(start);
  }
  static std::size_t room(std::size_t) { return Capacity; }
  static constexpr bool is_in_its_object = true;
};

template <class Item, std::size_t ChunkItems>
struct in_chunks {
  using item = Item;
  template <class T>
  using of = spsc_chain<T>;

  template <class T>
  static of<T> make(std::size_t items, start_position start = {}) {
    return of<T>({.items_max = items, .chunk_items = ChunkItems}, start);
  }
  static std::size_t room(std::size_t items) { return items; }
};

// clang-format off
struct spsc                 : on_the_heap<spsc_ring, counted> { static constexpr auto name = "spsc"; };
struct spsc_of_steady       : on_the_heap<spsc_ring, steady> { static constexpr auto name = "spsc_of_steady"; };
struct spsc_in_place        : in_place<spsc_ring, counted, 8> { static constexpr auto name = "spsc_in_place"; };
struct mpsc                 : on_the_heap<mpsc_ring, counted> { static constexpr auto name = "mpsc"; };
struct mpsc_in_place        : in_place<mpsc_ring, steady, 4> { static constexpr auto name = "mpsc_in_place"; };
struct spmc                 : on_the_heap<spmc_ring, steady> { static constexpr auto name = "spmc"; };
struct spmc_in_place        : in_place<spmc_ring, steady, 1> { static constexpr auto name = "spmc_in_place"; };
struct boxed                : on_the_heap<mailbox, counted> { static constexpr auto name = "mailbox"; };
struct boxed_in_place       : in_place<mailbox, steady, 2> { static constexpr auto name = "mailbox_in_place"; };
struct chain_of_one         : in_chunks<counted, 1> { static constexpr auto name = "chain_of_one"; };
struct chain_of_two         : in_chunks<steady, 2> { static constexpr auto name = "chain_of_two"; };
struct chain_of_three       : in_chunks<counted, 3> { static constexpr auto name = "chain_of_three"; };
struct chain_of_sixteen     : in_chunks<counted, 16> { static constexpr auto name = "chain_of_sixteen"; };
// clang-format on

using every_kind =
    ::testing::Types<spsc, spsc_of_steady, spsc_in_place, mpsc, mpsc_in_place, spmc, spmc_in_place, boxed,
                     boxed_in_place, chain_of_one, chain_of_two, chain_of_three, chain_of_sixteen>;

using every_ring_kind = ::testing::Types<spsc, spsc_of_steady, spsc_in_place, mpsc, mpsc_in_place, spmc, spmc_in_place,
                                         boxed, boxed_in_place>;

struct kind_names {
  template <class Kind>
  static std::string GetName(int) {
    return Kind::name;
  }
};

// What not every queue offers.
template <class Queue>
concept has_write_spans = requires(Queue queue) { queue.prepare(1); };
template <class Queue>
concept has_reservations = requires(Queue queue) { queue.reserve(1); };
template <class Queue>
concept has_read_spans = requires(Queue queue) { queue.readable(1); };
template <class Queue>
concept has_batches = requires(Queue queue) { queue.claim(1); };

}  // namespace weir::queue::testing
