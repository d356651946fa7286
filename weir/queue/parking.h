#pragma once

// How one side of a queue sleeps without missing what the other side publishes.
//
// There is one sleeper and any number of publishers. What is published lives elsewhere (a ring's positions, a list);
// here is only the word that says whether the sleeper must be told:
//
//            park: exchange                    notify: compare-exchange
//     idle ------------------> parked ----------------------------------> calling
//      ^                          |                                          |
//      |   withdraw: compare-     |                                          | the action is called,
//      +--- exchange -------------+                 exchange                 | then the word is given back
//      +---------------------------------------------------------------------+
//
//     sleeper     park     1. take the word, write the action
//                          2. word := parked             (read-modify-write)
//                          3. look again for work; if there is some, take the word back
//     publisher   notify   1. publish                    (before the call)
//                          2. read the word              (read-modify-write)
//                          3. parked? take it, call the action, give the word back
//
// No wake is lost, because steps 2 are read-modify-writes of one word and so are ordered: either the sleeper's comes
// first, and the publisher sees `parked`; or the publisher's comes first, and then what it published happens before
// the sleeper's step 3. Every change of the word is a read-modify-write, also where a store would seem to do: a store
// would cut the release sequence that carries an earlier publisher's work to the sleeper. A plain load in the
// publisher's step 2 loses wakes: its publication can wait in the store buffer while the load is answered.
// docs/design/0003-rings-and-parking.md has the alternatives; queues_model_test.cc tries all schedules.
//
// `calling` exists for the end: when withdraw() has returned, the action is not running and will not run.

#include <atomic>
#include <cstdint>

#include <weir/queue/sync.h>
#include <weir/queue/wake_action.h>

namespace weir::queue {

/// The word between one sleeper and its publishers.
///   Threads  roles: park and withdraw belong to the sleeper, notify to the publishers.
template <class Sync>
class basic_parking {
 public:
  basic_parking() = default;
  basic_parking(const basic_parking&) = delete;
  basic_parking& operator=(const basic_parking&) = delete;

  /// Sleeper: asks to be woken, unless there is work now.
  ///   ready    says whether there is work; called once, after publishers can see that the sleeper sleeps. If it throws, the
  ///            request is taken back as withdraw() does.
  ///   Returns  true: the action will be called once for the next notify. False: there is work, go on; the action may
  ///            still be called once, for a publisher that was faster.
  ///   Waits    while a publisher is inside the action of the park before: the length of that call.
  template <class Ready>
  [[nodiscard]] bool park(wake_action action, Ready&& ready) {
    withdraw();
    action_ = action;
    // Partner: the fetch_add in notify. Acquires what publishers before it published.
    word_.exchange(parked, std::memory_order_acq_rel);
    if (!looks(ready)) return true;
    std::uint32_t expected = parked;
    word_.compare_exchange_strong(expected, idle, std::memory_order_relaxed, std::memory_order_relaxed);
    return false;
  }

  /// Publisher: after publishing, wakes the sleeper if it sleeps. One notify per publication of a batch; at most one
  /// action per park.
  ///   Cost  one uncontended read-modify-write when nobody sleeps.
  void notify() noexcept {
    notify_if([]() noexcept { return true; });
  }

  /// The same, but lets a sleeper sleep on that it is not worth waking. The sleeper's `ready` must be the same
  /// condition, or else it may sleep for ever.
  template <class Worth>
  void notify_if(Worth&& worth) noexcept {
    // Partner: the exchange in park. A failed compare-exchange would be no read-modify-write, hence the addition.
    if (word_.fetch_add(0, std::memory_order_release) != parked) return;
    if (!worth()) return;
    std::uint32_t expected = parked;
    // Partner: the exchange in park, for the action.
    if (!word_.compare_exchange_strong(expected, calling, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
    action_();
    // Partner: the load in withdraw. The target may be freed next, or park may write the action.
    word_.exchange(idle, std::memory_order_release);
  }

  /// Sleeper: takes the request back. When this has returned, no action is running, and none will run before the
  /// next park.
  ///   Waits  while a publisher is inside the action.
  void withdraw() noexcept {
    typename Sync::spin wait;
    for (;;) {
      std::uint32_t expected = parked;
      if (word_.compare_exchange_strong(expected, idle, std::memory_order_relaxed, std::memory_order_relaxed)) return;
      // Partner: the last exchange in notify_if. Only park() leaves `idle`.
      if (word_.load(std::memory_order_acquire) == idle) return;
      wait.pause();
    }
  }

 private:
  template <class Ready>
  bool looks(Ready& ready) {
    if constexpr (noexcept(ready())) {
      return ready();
    } else {
      try {
        return ready();
      } catch (...) {
        withdraw();
        throw;
      }
    }
  }

  static constexpr std::uint32_t idle = 0;
  static constexpr std::uint32_t parked = 1;
  static constexpr std::uint32_t calling = 2;

  typename Sync::template atomic<std::uint32_t> word_{idle};
  wake_action action_;  // written by the sleeper while idle, read by the publisher that made the word `calling`
};

using parking = basic_parking<native>;

}  // namespace weir::queue
