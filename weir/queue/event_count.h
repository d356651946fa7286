#pragma once

// How any number of threads sleep until something has changed, without missing the change.
//
// The change itself lives elsewhere (a ring's positions). Here is one word: its lowest bit says that somebody sleeps or is
// about to, the others count the wakes.
//
//     sleeper     1. set the lowest bit, remember the word      read-modify-write
//                 2. look again; if there is something, done
//                 3. sleep as long as the word is what it was
//     publisher   1. publish
//                 2. read the word                              read-modify-write (adds 0)
//                 3. lowest bit set? count up, which clears it; wake all
//
// No wake is lost, for the reason given in parking.h: steps 1 of the sleeper and 2 of the publisher are read-modify-writes of
// one word. If the sleeper's comes first, the publisher sees the bit. If the publisher's comes first, what it published happens
// before the sleeper's step 2.

#include <atomic>
#include <cstdint>

#include <weir/queue/sync.h>

namespace weir::queue {

/// See above.
///   Threads  any; as many sleepers and publishers as there are.
///   Memory   one word.
///   Ends     who sleeps may find that it need not while a publisher is still inside notify_all: destroy it when publishers
///            have come back from there, not when sleepers have.
///   Source   Dmitry Vyukov's event count, with read-modify-writes in place of its fences.
template <class Sync>
class basic_event_count {
 public:
  basic_event_count() = default;
  basic_event_count(const basic_event_count&) = delete;
  basic_event_count& operator=(const basic_event_count&) = delete;

  /// Returns when `ready()` is true; calls it once before each sleep, and once more than that.
  ///   Waits  spins for about 5 µs and then sleeps in the operating system.
  template <class Ready>
  void await(Ready&& ready) {
    typename Sync::spin before_sleep;
    for (;;) {
      if (ready()) return;
      if (before_sleep.step()) continue;
      // Partner: the fetch_add in notify_all. Acquires what publishers before it published.
      const std::uint32_t word = word_.fetch_or(somebody_sleeps, std::memory_order_acquire) | somebody_sleeps;
      if (ready()) return;
      Sync::wait(word_, word);
    }
  }

  /// Publisher: after publishing, wakes all who sleep.
  ///   Cost  one read-modify-write when nobody sleeps; else a system call.
  void notify_all() noexcept {
    // Partner: the fetch_or in await. A plain load could be answered before the publication is visible.
    std::uint32_t word = word_.fetch_add(0, std::memory_order_release);
    if ((word & somebody_sleeps) == 0) return;
    // Who finds the bit gone already leaves the waking to whoever cleared it.
    if (word_.compare_exchange_strong(word, word + 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
      Sync::wake_all(word_);
    }
  }

 private:
  static constexpr std::uint32_t somebody_sleeps = 1;

  typename Sync::template atomic<std::uint32_t> word_{0};
};

using event_count = basic_event_count<native>;

}  // namespace weir::queue
