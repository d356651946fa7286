#pragma once

// Runs the threads of the model checker, one operation on an atomic at a time.
//
// A thread is a fiber. When its code comes to an operation it announces the operation and asks for the next transition;
// the thread that is picked does its operation and goes on to its next one, without anything else coming between. What
// is between two operations belongs to the one before: nobody else can notice, unless it is a data race, and those are
// found by clocks and not by luck.
//
//               threads()                 picked
//     absent -------------> ready    +------------> running ------> ended
//                             |      |                | ^ ^
//                             +------|--> running ----+ | |
//                                    |                | | |
//                                 announced <---------+ | |   an operation
//                                                     | | |
//                                  paused <-----------+ | |   spin.pause(): until there is something new to read
//                                     +---------------|-+ |
//                                  waiting <----------+   |   wait(): until woken
//                                     +-------------------+
//
// The schedule is decided on the fiber that stops, so a thread that goes on costs no switch.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <weir/queue/testing/internal/model_fiber.h>
#include <weir/queue/testing/internal/model_memory.h>
#include <weir/queue/testing/internal/model_round.h>
#include <weir/queue/testing/internal/model_search.h>
#include <weir/queue/testing/internal/model_sites.h>
#include <weir/queue/testing/internal/model_trace.h>
#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing::model::internal {

class engine {
 public:
  engine(std::function<void()> scenario, const options& how)
      : scenario_(std::move(scenario)),
        options_(how),
        search_(how.preemptions_max == options::unlimited ? how.reduce : reduction::none),
        sites_(how.weaken) {
    for (std::size_t i = 0; i < threads_max; ++i) {
      threads_[i].owner = this;
      threads_[i].number = static_cast<thread_index>(i);
    }
  }

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// The exploration under way in this thread of the operating system; it ends the program if there is none.
  static engine& current() noexcept {
    if (current_ == nullptr) {
      std::fputs("weir::queue::testing::modelled is used outside of model::explore\n", stderr);
      std::abort();
    }
    return *current_;
  }

  report run() {
    engine* const outer = std::exchange(current_, this);
#if defined(WEIR_MODEL_ASAN)
    // What a failed execution leaves on its stacks is lost on purpose.
    __lsan_disable();
#endif
    do {
      execute();
      report_.steps += steps_;
      ++(search_.redundant() ? report_.redundant : report_.executions);
      if (report_.failed()) break;
      report_.complete = !search_.next();
    } while (!report_.complete && report_.executions + report_.redundant < options_.executions_max);
#if defined(WEIR_MODEL_ASAN)
    __lsan_enable();
#endif
    report_.sites = sites_.all();
    current_ = outer;
    return std::move(report_);
  }

  // --- for the scenario ------------------------------------------------------------------------------------------

  struct body {
    void (*call)(void*) = nullptr;
    void* target = nullptr;
  };

  /// Runs the bodies as threads 1, 2, ... to their ends.
  void run_threads(const body* bodies, std::size_t count) {
    if (self_ != 0) fail(failure::exception, "a thread cannot start threads");
    threads_count_ = count + 1;
    for (std::size_t i = 1; i < threads_count_; ++i) {
      thread& each = threads_[i];
      each.code = bodies[i - 1];
      each.state = status::ready;
      each.loop.start();
      each.spurious_left = options_.spurious_max;
      each.idle_wakes_left = options_.idle_wakes_max;
      each.timeouts_left = options_.timeouts_max;
      memory_.fork(each.number);
    }
    memory_.tick(0);
    last_ = 0;
    schedule();
    for (std::size_t i = 1; i < threads_count_; ++i) memory_.join(threads_[i].number);
    threads_count_ = 1;
  }

  void expect(bool condition, const char* text, const std::source_location& where) {
    if (condition) return;
    fail(failure::expectation, "expected: " + std::string(text) + " (" + place(where) + ")");
  }

  // --- for atomics -----------------------------------------------------------------------------------------------

  void construct(const void* address, std::uint64_t value) noexcept {
    note(happening::made, memory_.make_atomic(self_, address, value));
  }
  void destroy(const void* address) noexcept {
    const problem found = memory_.destroy_atomic(self_, address);
    note(happening::destroyed, memory_.find_atomic(address));
    demand(found);
  }

  std::uint64_t load(const void* address, std::memory_order order, const std::source_location& where) noexcept {
    const std::uint32_t site = site_of(where, operation::load, order, std::memory_order_relaxed);
    announced next{operation::load, address, site};
    const std::uint32_t at = perform(next).store;
    const std::uint64_t value = memory_.value(next.object, at);
    read_store(next, at, acquires(sites_[site].order));
    return value;
  }

  void store(const void* address, std::uint64_t value, std::memory_order order,
             const std::source_location& where) noexcept {
    const std::uint32_t site = site_of(where, operation::store, order, std::memory_order_relaxed);
    announced next{operation::store, address, site};
    perform(next);
    write_store(next, value, sites_[site].order, false);
  }

  /// Gives the value before. `change` computes the value after from it.
  template <class Change>
  std::uint64_t read_modify_write(operation what, const void* address, Change&& change, std::memory_order order,
                                  const std::source_location& where) noexcept {
    const std::uint32_t site = site_of(where, what, order, std::memory_order_relaxed);
    announced next{what, address, site};
    perform(next);
    const std::uint64_t before = memory_.value(next.object, memory_.newest(next.object));
    write_store(next, change(before), sites_[site].order, true);
    return before;
  }

  bool compare_exchange(operation what, const void* address, std::uint64_t& expected, std::uint64_t desired,
                        std::memory_order order, std::memory_order failure_order,
                        const std::source_location& where) noexcept {
    const std::uint32_t site = site_of(where, what, order, failure_order);
    announced next{what, address, site};
    next.expected = expected;
    const transition made = perform(next);
    if (made.does == effect::write) {
      write_store(next, desired, sites_[site].order, true);
      return true;
    }
    const std::uint64_t value = memory_.value(next.object, made.store);
    if (value == expected) --threads_[self_].spurious_left;
    read_store(next, made.store, acquires(sites_[site].failure));
    expected = value;
    return false;
  }

  /// False if the deadline was reached, which `timed` says there is.
  bool wait(const void* address, std::uint64_t while_equal, bool timed, const std::source_location& where) noexcept {
    const std::uint32_t site = site_of(where, operation::wait, std::memory_order_relaxed, std::memory_order_relaxed);
    announced next{operation::wait, address, site};
    perform(next);
    const std::uint32_t at = memory_.newest(next.object);
    // The system compares what is in memory now, and a later load cannot read what is older.
    read_store(next, at, false);
    if (memory_.value(next.object, at) != while_equal) return true;
    thread& self = threads_[self_];
    self.waits_on = next.object;
    self.timed = timed;
    if (self_ == 0 && timed) return false;
    if (self_ == 0) stuck();
    self.state = status::waiting;
    schedule();
    self.loop.start();
    switch (self.picked.store) {
      case reaches_deadline:
        if (self.timeouts_left > 0) --self.timeouts_left;
        note(happening::deadline, next, at, 0);
        return false;
      case wakes_idly:
        --self.idle_wakes_left;
        note(happening::idle_wake, next, at, 0);
        return true;
      default:
        return true;
    }
  }

  void wake(operation what, const void* address, const std::source_location& where) noexcept {
    const std::uint32_t site = site_of(where, what, std::memory_order_relaxed, std::memory_order_relaxed);
    announced next{what, address, site};
    const transition made = perform(next);
    std::uint64_t woken = 0;
    for (std::size_t i = 1; i < threads_count_; ++i) {
      thread& each = threads_[i];
      if (each.state != status::waiting || each.waits_on != next.object) continue;
      if (what == operation::wake_one && each.number != made.store) continue;
      each.state = status::woken;
      ++woken;
    }
    note(happening::woke, next, 0, woken);
    threads_[self_].loop.wake(woken != 0);
    memory_.tick(self_);
  }

  /// A loop begins that may pause.
  void begin_loop() noexcept { threads_[self_].loop.begin_loop(); }

  void pause() noexcept {
    if (self_ == 0) stuck();
    thread& self = threads_[self_];
    if (self.loop.adds_nothing(memory_)) search_.call_redundant(self_);
    self.loop.pause();
    search_.begin_round(self_);
    self.state = status::paused;
    schedule();
  }

  // --- for plain data --------------------------------------------------------------------------------------------

  void make_plain(const void* address) noexcept {
    const problem found = memory_.make_plain(self_, address);
    note(happening::plain_made, memory_.find_plain(address));
    demand(found);
  }
  void destroy_plain(const void* address) noexcept {
    const problem found = memory_.destroy_plain(self_, address);
    note(happening::plain_destroyed, memory_.find_plain(address));
    demand(found);
  }
  void read_plain(const void* address) noexcept { use_plain(happening::plain_read, address); }
  void write_plain(const void* address) noexcept { use_plain(happening::plain_written, address); }

  // --- for memory ------------------------------------------------------------------------------------------------

  /// See model::hold_back.
  static bool hold_back(void* freed, void (*release)(void*)) noexcept {
    engine* const self = current_;
    if (self == nullptr || !self->executes_ || freed == nullptr) return false;
    // The list is memory too, and may free some when it grows.
    self->executes_ = false;
    self->held_.push_back({freed, release});
    self->executes_ = true;
    return true;
  }

  [[noreturn]] void fail(failure what, std::string message) noexcept {
    if (self_ != 0) message = "thread " + std::to_string(self_) + ": " + message;
    abandon(what, std::move(message));
  }

 private:
  enum class status : std::uint8_t { absent, ready, running, announced, paused, waiting, woken, ended };

  struct held {
    void* memory;
    void (*release)(void*);
  };

  // The store of a transition with effect::wait.
  static constexpr std::uint32_t begins_to_wait = 0;
  static constexpr std::uint32_t reaches_deadline = 1;
  static constexpr std::uint32_t wakes_idly = 2;

  struct announced {
    operation what = operation::load;
    const void* address = nullptr;
    std::uint32_t site = 0;
    object_index object = no_object;
    std::uint64_t expected = 0;
  };

  struct thread {
    engine* owner = nullptr;
    thread_index number = 0;
    std::unique_ptr<fiber> on;
    status state = status::absent;
    body code;
    announced next;
    transition picked;
    object_index waits_on = no_object;
    bool timed = false;
    std::size_t spurious_left = 0;
    std::size_t idle_wakes_left = 0;
    std::size_t timeouts_left = 0;
    rounds loop;
  };

  // --- one execution ---------------------------------------------------------------------------------------------

  void execute() {
    memory_.reset();
    search_.begin();
    trace_.clear();
    steps_ = 0;
    preemptions_ = 0;
    threads_count_ = 1;
    self_ = 0;
    thread& main = threads_[0];
    main.code = {[](void* self) { static_cast<engine*>(self)->scenario_(); }, this};
    main.state = status::running;
    fiber& on = fiber_of(main);
    executes_ = true;
    fiber::switch_to(root_, on);
    executes_ = false;
    for (const held& each : held_) each.release(each.memory);
    held_.clear();
    if (report_.failed()) return;
    if (memory_.plains_alive() != 0) {
      leaked(memory_.plains_alive(), " items were not destroyed");
    } else if (memory_.atomics_alive() != 0) {
      leaked(memory_.atomics_alive(), " atomics were not destroyed");
    }
  }

  void leaked(std::size_t count, const char* what) {
    report_.what = failure::leak;
    report_.message = std::to_string(count) + what;
    report_.trace = text_of(trace_, sites_);
  }

  fiber& fiber_of(thread& of) {
    if (!of.on) of.on = std::make_unique<fiber>(&run_thread, &of);
    return *of.on;
  }

  /// A fiber's whole life: the bodies of one execution after the other.
  static void run_thread(void* argument) {
    thread& self = *static_cast<thread*>(argument);
    engine& owner = *self.owner;
    for (;;) {
      try {
        self.code.call(self.code.target);
      } catch (const std::exception& thrown) {
        owner.fail(failure::exception, std::string("an exception left the thread: ") + thrown.what());
      } catch (...) {
        owner.fail(failure::exception, "an exception left the thread");
      }
      self.state = status::ended;
      if (self.number == 0) {
        fiber::switch_to(*self.on, owner.root_);
      } else {
        owner.schedule();
      }
    }
  }

  /// Goes on in another thread, or in this one.
  void go_on(thread_index next) noexcept {
    if (next == self_) return;
    thread& from = threads_[self_];
    self_ = next;
    fiber::switch_to(*from.on, fiber_of(threads_[next]));
  }

  /// Called by the thread that runs when it has come to something that others may come before. Returns when it is to go
  /// on.
  void schedule() noexcept {
    for (;;) {
      // Who has been let go first runs up to its next operation: nobody can notice, and then the operation is known.
      for (std::size_t i = 1; i < threads_count_; ++i) {
        thread& each = threads_[i];
        if (each.state == status::ready || each.state == status::woken ||
            (each.state == status::paused && each.loop.may_go_on(memory_))) {
          each.state = status::running;
          go_on(each.number);
          return;
        }
      }
      gather();
      if (!enabled_.empty()) break;
      if (all_ended()) {
        go_on(0);
        return;
      }
      if (let_one_retry()) continue;
      for (std::size_t i = 1; i < threads_count_; ++i) {
        if (threads_[i].state == status::waiting) add_ends_of_wait(threads_[i], true);
      }
      if (enabled_.empty()) stuck();
      break;
    }
    if (++steps_ > options_.steps_max)
      fail(failure::too_long, "an execution has too many steps; does a loop never pause?");
    transition picked;
    if (!search_.pick(enabled_, picked)) {
      fail(failure::not_repeatable, "the scenario did something else when its choices were repeated");
    }
    if (picked.thread != last_ && threads_[last_].state == status::announced) ++preemptions_;
    last_ = picked.thread;
    thread& next = threads_[picked.thread];
    next.picked = picked;
    next.state = status::running;
    go_on(next.number);
  }

  /// What could come next; first of all what needs no switch, and of a load the newest store.
  void gather() {
    enabled_.clear();
    if (threads_[last_].state == status::announced) add_transitions(threads_[last_]);
    if (!enabled_.empty() && preemptions_ >= options_.preemptions_max) return;
    for (std::size_t i = 1; i < threads_count_; ++i) {
      if (i != last_ && threads_[i].state == status::announced) add_transitions(threads_[i]);
    }
    for (std::size_t i = 1; i < threads_count_; ++i) {
      if (threads_[i].state == status::waiting) add_ends_of_wait(threads_[i], threads_[i].timeouts_left > 0);
    }
  }

  void add_transitions(thread& of) {
    const announced& next = of.next;
    const std::uint32_t newest = memory_.newest(next.object);
    switch (next.what) {
      case operation::load:
        add_reads(of, effect::read, [](std::uint64_t) { return true; });
        break;
      case operation::compare_exchange_strong:
      case operation::compare_exchange_weak: {
        if (memory_.value(next.object, newest) == next.expected) {
          enabled_.push_back({of.number, effect::write, next.object, newest + 1});
        }
        const bool spurious = next.what == operation::compare_exchange_weak && of.spurious_left > 0;
        add_reads(of, effect::miss, [&](std::uint64_t value) { return value != next.expected || spurious; });
        break;
      }
      case operation::wait:
        enabled_.push_back({of.number, effect::wait, next.object, 0});
        break;
      case operation::wake_all:
        enabled_.push_back({of.number, effect::wake, next.object, 0});
        break;
      case operation::wake_one: {
        const std::size_t before = enabled_.size();
        for (std::size_t i = 1; i < threads_count_; ++i) {
          if (threads_[i].state == status::waiting && threads_[i].waits_on == next.object) {
            enabled_.push_back({of.number, effect::wake, next.object, static_cast<std::uint32_t>(i)});
          }
        }
        if (enabled_.size() == before) enabled_.push_back({of.number, effect::wake, next.object, 0});
        break;
      }
      default:
        enabled_.push_back({of.number, effect::write, next.object, newest + 1});
        break;
    }
  }

  void add_ends_of_wait(const thread& of, bool may_time_out) {
    if (of.timed && may_time_out) enabled_.push_back({of.number, effect::wait, of.waits_on, reaches_deadline});
    if (of.idle_wakes_left > 0) enabled_.push_back({of.number, effect::wait, of.waits_on, wakes_idly});
  }

  template <class Allowed>
  void add_reads(const thread& of, effect does, Allowed&& allowed) {
    const object_index object = of.next.object;
    const std::uint32_t newest = memory_.newest(object);
    // When nobody else can go on, everything was stored long ago.
    const std::uint32_t floor = of.loop.retries() ? newest : memory_.floor(of.number, object);
    for (std::uint32_t at = newest + 1; at-- > floor;) {
      if (allowed(memory_.value(object, at)) && !of.loop.is_vain(memory_, {object, at})) {
        enabled_.push_back({of.number, does, object, at});
      }
    }
  }

  [[nodiscard]] bool all_ended() const noexcept {
    for (std::size_t i = 1; i < threads_count_; ++i) {
      if (threads_[i].state != status::ended) return false;
    }
    return true;
  }

  bool let_one_retry() noexcept {
    for (std::size_t i = 1; i < threads_count_; ++i) {
      thread& each = threads_[i];
      if (each.state != status::paused || !each.loop.retry()) continue;
      each.state = status::ready;
      return true;
    }
    return false;
  }

  // --- one operation ---------------------------------------------------------------------------------------------

  std::uint32_t site_of(const std::source_location& where, operation what, std::memory_order order,
                        std::memory_order failure_order) {
    const std::uint32_t number = sites_.find(where, what, order, failure_order);
    if (!sites_[number].modelled) {
      fail(failure::unmodelled_order, "the model has no such operation: " + sites_[number].at.text());
    }
    return number;
  }

  /// Waits until the operation's turn has come, and says what it is to do.
  transition perform(announced& next) {
    next.object = memory_.find_atomic(next.address);
    demand(memory_.use_atomic(self_, next.object), &next);
    thread& self = threads_[self_];
    if (self_ == 0) {
      // The scenario is alone: it sees the newest of everything.
      self.next = next;
      self.loop.start();
      enabled_.clear();
      add_transitions(self);
      return enabled_.front();
    }
    self.next = next;
    self.state = status::announced;
    schedule();
    // Somebody may have destroyed it in between.
    demand(memory_.use_atomic(self_, next.object), &next);
    return self.picked;
  }

  void read_store(const announced& what, std::uint32_t at, bool acquire) {
    memory_.read(self_, what.object, at, acquire);
    thread& self = threads_[self_];
    self.loop.read(memory_, {what.object, at});
    note(happening::read, what, at, memory_.value(what.object, at));
    memory_.tick(self_);
  }

  void write_store(const announced& what, std::uint64_t value, std::memory_order order, bool reads) {
    const std::uint32_t before = memory_.newest(what.object);
    if (reads) memory_.read(self_, what.object, before, acquires(order));
    memory_.write(self_, what.object, value, releases(order), reads);
    thread& self = threads_[self_];
    const bool changed = !reads || value != memory_.value(what.object, before);
    self.loop.write(memory_, {what.object, before + 1}, changed);
    note(reads ? happening::changed : happening::stored, what, before + 1, value);
    if (reads) trace_.back().before = memory_.value(what.object, before);
    memory_.tick(self_);
  }

  // --- failures --------------------------------------------------------------------------------------------------

  void demand(const problem& found, const announced* what = nullptr) noexcept {
    if (!found) return;
    std::string message = found.text;
    if (what != nullptr) message += " (" + sites_[what->site].at.text() + ")";
    fail(found.what, std::move(message));
  }

  [[noreturn]] void stuck() noexcept {
    std::string message = "every thread waits:";
    for (std::size_t i = 0; i < threads_count_; ++i) {
      const thread& each = threads_[i];
      if (each.state == status::waiting) {
        message += " thread " + std::to_string(i) + " to be woken at a" + std::to_string(each.waits_on) + ";";
      } else if (each.state == status::paused) {
        message += " thread " + std::to_string(i) + " for a change of what it reads;";
      } else if (i == self_ && i == 0) {
        message += " the scenario, while no thread runs;";
      }
    }
    message.pop_back();
    abandon(failure::stuck, std::move(message));
  }

  /// Ends the exploration from within a fiber, which is never resumed.
  [[noreturn]] void abandon(failure what, std::string message) noexcept {
    report_.what = what;
    report_.message = std::move(message);
    report_.trace = text_of(trace_, sites_);
    fiber::switch_to(*threads_[self_].on, root_);
    std::abort();
  }

  static std::string place(const std::source_location& where) {
    const std::string file = where.file_name();
    const std::size_t inside = file.rfind("/weir/");
    return (inside == std::string::npos ? file : file.substr(inside + 1)) + ":" + std::to_string(where.line());
  }

  void use_plain(happening how, const void* address) noexcept {
    const problem found = memory_.use_plain(self_, address, how == happening::plain_written);
    note(how, memory_.find_plain(address));
    demand(found);
  }

  void note(happening what, object_index object) { trace_.push_back({what, self_, object}); }
  void note(happening what, const announced& by, std::uint32_t store, std::uint64_t value) {
    trace_.push_back({what, self_, by.object, by.site, store, value});
  }

  static inline thread_local engine* current_ = nullptr;

  const std::function<void()> scenario_;
  const options options_;
  report report_;
  memory memory_;
  search search_;
  site_table sites_;

  fiber root_;
  std::array<thread, threads_max> threads_;
  std::size_t threads_count_ = 1;
  thread_index self_ = 0;  // whose fiber runs
  thread_index last_ = 0;  // who made the last transition; 0 at the start
  std::size_t steps_ = 0;
  std::size_t preemptions_ = 0;
  std::vector<transition> enabled_;
  std::vector<trace_line> trace_;
  bool executes_ = false;  // the scenario runs, not the engine
  std::vector<held> held_;
};

}  // namespace weir::queue::testing::model::internal
