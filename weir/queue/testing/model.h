#pragma once

// A model checker for the queues: it runs the real code, with `modelled` in the place of the standard atomics, in every
// schedule and with everything that its loads may read.
//
//     const model::report report = model::explore([](model::execution& run) {
//       spsc_ring<model_item, 2, modelled> ring;                      // shared by the threads
//       run.threads([&] { ring.try_push(model_item(1)); },            // runs them all to their ends
//                   [&] { ... });
//       model::expect(ring.size() == 1, "the item is in");            // afterwards, alone
//     });
//     EXPECT_TRUE(report.holds()) << report.text();
//
// The scenario runs again and again, until every choice has been made every way. It must do the same whenever the same
// choices are made: no time, no chance, nothing kept from one execution for the next but what it collects as results.
//
// What is explored
//   - Between any two operations on atomics, which thread goes on. Plain code between them belongs to the operation
//     before.
//   - For each load and failing compare-exchange, which store it reads; for a weak one, also failing without a reason;
//     for a wake, which waiter.
//   - Schedules that differ only in the order of operations that commute are run once (model_search.h).
//   - spin.pause() makes its thread wait until something that it read since its pause before has a newer store with
//     another value; a way round the loop that reads only old stores again is left out, as it changes nothing. So a
//     loop that waits must pause, and one that pauses must depend on what it reads alone; one that counts its rounds
//     and gives up uses spin.step(), which says at once that the bound is reached.
//   - wait() blocks if the newest store has the value, until a wake.
//
// What is found
//   - expect() that is not met; an exception that leaves a thread; an assertion that does not hold.
//   - Data races on model_item and model_cell: two accesses, one a write, neither of which happens before the other.
//     Also atomics that are used while their construction or destruction is not ordered with the use.
//   - Items used, made or destroyed at the wrong time; items and atomics left over at the end.
//   - Threads that all wait: a lost wake, a deadlock; a livelock, if it pauses (else as too many steps).
//
// The memory model is that of C++20 with these limits
//   - The modification order of an atomic is the order in which its stores were executed, and a load reads what was
//     stored before it in the execution. So two things that C++ allows are not found: load buffering, and a store that
//     comes before one that is executed already. An order that is needed against these alone seems not to be needed.
//   - Of each load only stores count that coherence allows, as happens-before has it; release sequences go through
//     read-modify-writes of any thread and end at plain stores, of the same thread too.
//   - No fences; no seq_cst and no consume: a failure says so, instead of an answer that would be wrong.
//   - wait() returns without a reason as often as options::idle_wakes_max says. What wait and wake do orders nothing:
//     only the atomics' own orders do.
//   - A pausing loop should look at the same atomics each time round. One that takes turns is let go on when nobody
//     else can, not earlier.
//   - Memory that is freed and given out again is a new atomic or item at the old address, and what makes it there must
//     happen after what was there: a race is reported where the allocator orders the two and nothing else does.
//     Programs with an operator delete of their own can avoid that: hold_back().
//
// A scenario has up to four threads, which run as fibers inside the calling thread. 256 KiB of stack each; no
// thread-local variables of their own. On a failure they are abandoned where they stand, and what they and the scenario
// own is lost. Under the sanitizers it works too, some 20 to 50 times slower: see is_instrumented.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/queue/testing/internal/model_assertions.h>
#include <weir/queue/testing/internal/model_engine.h>
#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing {

namespace model {

/// One run of a scenario, as the scenario sees it.
///   Threads  confined to the scenario.
class execution {
 public:
  explicit execution(internal::engine& owner) noexcept : owner_(owner) {}

  /// Runs the functions as threads 1, 2, ... to their ends. What the caller did before happens before them, and they
  /// before what it does next. May be called again after that.
  template <class... Bodies>
  void threads(Bodies&&... bodies) {
    static_assert(sizeof...(Bodies) >= 1 && sizeof...(Bodies) < internal::threads_max);
    const internal::engine::body all[] = {{[](void* body) { (*static_cast<std::remove_reference_t<Bodies>*>(body))(); },
                                           const_cast<void*>(static_cast<const void*>(&bodies))}...};
    owner_.run_threads(all, sizeof...(Bodies));
  }

 private:
  internal::engine& owner_;
};

using scenario = std::function<void(execution&)>;

/// Ends the exploration with a failure if the condition is not met. To be called within a scenario or one of its
/// threads.
inline void expect(bool condition, const char* text,
                   const std::source_location& where = std::source_location::current()) {
  internal::engine::current().expect(condition, text, where);
}

/// For a program that replaces operator delete: takes over memory that is freed within a scenario and gives it back
/// with `release` when the execution has ended. So nothing is made twice at one address in an execution: a late use of
/// what was freed is recognised, and addresses that code compares are never equal by chance.
///   Returns  false outside of scenarios: then the caller frees as always.
inline bool hold_back(void* freed, void (*release)(void*)) noexcept {
  return internal::engine::hold_back(freed, release);
}

/// Runs the scenario in every schedule that the options allow, or to the first failure.
///   Waits  as long as it takes: see options::executions_max. Some 10 µs for an execution of 20 operations.
inline report explore(const scenario& run, const options& how = {}) {
  internal::engine* owner = nullptr;
  internal::engine all(
      [&] {
        execution one(*owner);
        run(one);
      },
      how);
  owner = &all;
  const internal::assertions_as_failures watched(
      [] { expect(false, "an assertion that holds (the standard error says which)"); });
  return all.run();
}

/// Every way to weaken the orders of one site: for acq_rel both halves, and without either.
inline std::vector<weakening> weakenings(const site& of) {
  std::vector<weakening> out;
  if (of.order == std::memory_order_acq_rel) {
    out.push_back({of, false, std::memory_order_acquire});
    out.push_back({of, false, std::memory_order_release});
  }
  if (of.order != std::memory_order_relaxed) out.push_back({of, false, std::memory_order_relaxed});
  if (has_failure_order(of.what) && of.failure == std::memory_order_acquire) {
    out.push_back({of, true, std::memory_order_relaxed});
  }
  return out;
}

struct weaken_report {
  std::vector<std::string>
      survivors;           ///< weakenings that no scenario noticed: orders that nothing needs, or nothing tests
  std::size_t killed = 0;  ///< weakenings that some scenario noticed
  std::string broken;      ///< the first scenario that does not hold as it is; then nothing was tried

  /// Every order is needed.
  [[nodiscard]] bool all_needed() const noexcept { return broken.empty() && survivors.empty() && killed != 0; }

  [[nodiscard]] std::string text() const {
    std::string out = std::to_string(killed) + " weakenings noticed";
    if (!broken.empty()) out += "\nnot even without a weakening: " + broken;
    for (const std::string& each : survivors) out += "\nnot noticed: " + each;
    return out;
  }
};

/// Weakens each order of each site that the scenarios meet, one at a time, and runs the scenarios until one fails.
///   where  only sites whose file's path has this in it: the code under test, and not the test.
///   Cost   for each survivor a whole exploration of all scenarios that meet the site; the others end sooner.
inline weaken_report weaken_each(const std::vector<scenario>& scenarios, std::string_view where = {},
                                 const options& how = {}) {
  weaken_report out;
  std::vector<std::vector<site>> sites_of;
  std::vector<site> sites;
  for (const scenario& each : scenarios) {
    const report plain = explore(each, how);
    if (!plain.holds()) {
      out.broken = plain.text();
      return out;
    }
    for (const site& met : plain.sites) {
      if (met.file.find(where) == std::string::npos) continue;
      if (std::find(sites.begin(), sites.end(), met) == sites.end()) sites.push_back(met);
    }
    sites_of.push_back(plain.sites);
  }
  const auto is_noticed = [&](const weakening& tried) {
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      if (std::find(sites_of[i].begin(), sites_of[i].end(), tried.at) == sites_of[i].end()) continue;
      options weakened = how;
      weakened.weaken = tried;
      if (explore(scenarios[i], weakened).failed()) return true;
    }
    return false;
  };
  for (const site& each : sites) {
    for (const weakening& tried : weakenings(each)) {
      if (is_noticed(tried)) {
        ++out.killed;
      } else {
        out.survivors.push_back(tried.text());
      }
    }
  }
  return out;
}

}  // namespace model

/// Stands in for the standard library's atomics and for waiting, where a queue has a parameter `Sync`. To be used
/// within model::explore only.
struct modelled {
  /// std::atomic, of integers, enumerations, bool and pointers. Every operation names its order.
  ///   Threads  shared, among the threads of a scenario.
  template <class T>
  class atomic {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>);
    using here = std::source_location;

   public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    atomic() noexcept : atomic(T{}) {}
    atomic(T value) noexcept { engine().construct(this, encode(value)); }  // NOLINT: as std::atomic's
    ~atomic() { engine().destroy(this); }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    [[nodiscard]] T load(std::memory_order order, const here& where = here::current()) const noexcept {
      return decode(engine().load(this, order, where));
    }
    void store(T value, std::memory_order order, const here& where = here::current()) noexcept {
      engine().store(this, encode(value), order, where);
    }
    T exchange(T value, std::memory_order order, const here& where = here::current()) noexcept {
      return change(
          model::operation::exchange, [value](T) { return value; }, order, where);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order order, std::memory_order failure,
                                 const here& where = here::current()) noexcept {
      return compare(model::operation::compare_exchange_strong, expected, desired, order, failure, where);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order, std::memory_order failure,
                               const here& where = here::current()) noexcept {
      return compare(model::operation::compare_exchange_weak, expected, desired, order, failure, where);
    }

    T fetch_add(T by, std::memory_order order, const here& where = here::current()) noexcept
      requires std::is_integral_v<T>
    {
      return change(
          model::operation::fetch_add, [by](T old) { return sum(old, by); }, order, where);
    }
    T fetch_sub(T by, std::memory_order order, const here& where = here::current()) noexcept
      requires std::is_integral_v<T>
    {
      return change(
          model::operation::fetch_sub, [by](T old) { return difference(old, by); }, order, where);
    }
    T fetch_and(T with, std::memory_order order, const here& where = here::current()) noexcept
      requires std::is_integral_v<T>
    {
      return change(
          model::operation::fetch_and, [with](T old) { return static_cast<T>(old & with); }, order, where);
    }
    T fetch_or(T with, std::memory_order order, const here& where = here::current()) noexcept
      requires std::is_integral_v<T>
    {
      return change(
          model::operation::fetch_or, [with](T old) { return static_cast<T>(old | with); }, order, where);
    }
    T fetch_xor(T with, std::memory_order order, const here& where = here::current()) noexcept
      requires std::is_integral_v<T>
    {
      return change(
          model::operation::fetch_xor, [with](T old) { return static_cast<T>(old ^ with); }, order, where);
    }

   private:
    friend struct modelled;

    static model::internal::engine& engine() noexcept { return model::internal::engine::current(); }

    static std::uint64_t encode(T value) noexcept {
      if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<std::uintptr_t>(value);
      } else {
        return static_cast<std::uint64_t>(value);
      }
    }
    static T decode(std::uint64_t value) noexcept {
      if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<T>(static_cast<std::uintptr_t>(value));
      } else {
        return static_cast<T>(value);
      }
    }
    // Atomics wrap around, signed ones too.
    static T sum(T a, T b) noexcept { return decode(encode(a) + encode(b)); }
    static T difference(T a, T b) noexcept { return decode(encode(a) - encode(b)); }

    template <class Change>
    T change(model::operation what, Change&& compute, std::memory_order order, const here& where) noexcept {
      return decode(engine().read_modify_write(
          what, this, [&](std::uint64_t old) { return encode(compute(decode(old))); }, order, where));
    }

    bool compare(model::operation what, T& expected, T desired, std::memory_order order, std::memory_order failure,
                 const here& where) noexcept {
      std::uint64_t value = encode(expected);
      const bool done = engine().compare_exchange(what, this, value, encode(desired), order, failure, where);
      if (!done) expected = decode(value);
      return done;
    }

    // An object needs an address of its own, of the size that the real one has. The value is in the engine.
    [[maybe_unused]] T place_{};
  };

  /// A loop's way to say that it waits for another thread.
  class spin {
   public:
    spin() noexcept { model::internal::engine::current().begin_loop(); }

    /// Always false: the bound is reached, because more spinning would only repeat what was seen.
    bool step() noexcept { return false; }
    /// Waits until there is something new to read.
    void pause() noexcept { model::internal::engine::current().pause(); }
  };

  /// Blocks until woken, if the word has the value.
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t while_equal,
                   const std::source_location& where = std::source_location::current()) noexcept {
    model::internal::engine::current().wait(&word, while_equal, false, where);
  }
  /// The same; false if the deadline was reached. That comes whenever the explorer chooses, whatever the deadline says:
  /// see options::timeouts_max.
  template <class Deadline>
  static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t while_equal, const Deadline&,
                         const std::source_location& where = std::source_location::current()) noexcept {
    return model::internal::engine::current().wait(&word, while_equal, true, where);
  }
  /// Wakes one of the threads that wait at the word, each in its turn of exploring.
  static void wake_one(const atomic<std::uint32_t>& word,
                       const std::source_location& where = std::source_location::current()) noexcept {
    model::internal::engine::current().wake(model::operation::wake_one, &word, where);
  }
  static void wake_all(const atomic<std::uint32_t>& word,
                       const std::source_location& where = std::source_location::current()) noexcept {
    model::internal::engine::current().wake(model::operation::wake_all, &word, where);
  }
};

/// A number to put into a queue. Whatever is done to it is checked: that it is alive then, that no other thread may be
/// touching it, and that it is destroyed in the end.
class model_item {
 public:
  explicit model_item(int value) noexcept : value_(value) { engine().make_plain(this); }
  model_item(model_item&& other) noexcept {
    engine().make_plain(this);
    engine().write_plain(&other);
    value_ = std::exchange(other.value_, taken);
  }
  model_item& operator=(model_item&& other) noexcept {
    engine().write_plain(&other);
    engine().write_plain(this);
    value_ = std::exchange(other.value_, taken);
    return *this;
  }
  model_item(const model_item&) = delete;
  model_item& operator=(const model_item&) = delete;
  ~model_item() { engine().destroy_plain(this); }

  /// The number; `taken` if it was moved away.
  [[nodiscard]] int value() const noexcept {
    engine().read_plain(this);
    return value_;
  }

  static constexpr int taken = -1;

 private:
  static model::internal::engine& engine() noexcept { return model::internal::engine::current(); }

  int value_ = taken;
};

/// A plain variable, checked in the same way.
template <class T>
class model_cell {
 public:
  explicit model_cell(T value = T{}) : value_(std::move(value)) { engine().make_plain(this); }
  model_cell(const model_cell&) = delete;
  model_cell& operator=(const model_cell&) = delete;
  ~model_cell() { engine().destroy_plain(this); }

  [[nodiscard]] const T& get() const noexcept {
    engine().read_plain(this);
    return value_;
  }
  void set(T value) noexcept {
    engine().write_plain(this);
    value_ = std::move(value);
  }

 private:
  static model::internal::engine& engine() noexcept { return model::internal::engine::current(); }

  T value_;
};

}  // namespace weir::queue::testing
