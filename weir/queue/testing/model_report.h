#pragma once

// What the model checker is asked and what it answers. model.h says what it does.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::queue::testing::model {

enum class operation : std::uint8_t {
  load,
  store,
  exchange,
  fetch_add,
  fetch_sub,
  fetch_and,
  fetch_or,
  fetch_xor,
  compare_exchange_strong,
  compare_exchange_weak,
  wait,
  wake_one,
  wake_all
};

[[nodiscard]] inline std::string_view name(operation what) noexcept {
  switch (what) {
    case operation::load:
      return "load";
    case operation::store:
      return "store";
    case operation::exchange:
      return "exchange";
    case operation::fetch_add:
      return "fetch_add";
    case operation::fetch_sub:
      return "fetch_sub";
    case operation::fetch_and:
      return "fetch_and";
    case operation::fetch_or:
      return "fetch_or";
    case operation::fetch_xor:
      return "fetch_xor";
    case operation::compare_exchange_strong:
      return "compare_exchange_strong";
    case operation::compare_exchange_weak:
      return "compare_exchange_weak";
    case operation::wait:
      return "wait";
    case operation::wake_one:
      return "wake_one";
    case operation::wake_all:
      return "wake_all";
  }
  return "?";
}

[[nodiscard]] inline std::string_view name(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

[[nodiscard]] constexpr bool has_failure_order(operation what) noexcept {
  return what == operation::compare_exchange_strong || what == operation::compare_exchange_weak;
}

/// A place in the source that does one kind of operation on atomics, in one order.
struct site {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  operation what = operation::load;
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure = std::memory_order_relaxed;  // of a compare-exchange

  friend bool operator==(const site&, const site&) = default;

  /// "weir/queue/parking.h:57:11: exchange acq_rel"
  [[nodiscard]] std::string text() const {
    // The part of a path that is the same on every machine.
    const std::size_t inside = file.rfind("/weir/");
    std::string out = inside == std::string::npos ? file : file.substr(inside + 1);
    out += ':';
    out += std::to_string(line);
    out += ':';
    out += std::to_string(column);
    out += ": ";
    out += name(what);
    if (what < operation::wait) {
      out += ' ';
      out += name(order);
    }
    if (has_failure_order(what)) {
      out += ", failure ";
      out += name(failure);
    }
    return out;
  }
};

/// One order at one site, replaced by a weaker one while the scenario runs.
struct weakening {
  site at;
  bool of_failure = false;  // the order of a compare-exchange that fails, instead of the other
  std::memory_order to = std::memory_order_relaxed;

  [[nodiscard]] std::string text() const {
    std::string out = at.text();
    out += of_failure ? " -- failure weakened to " : " -- weakened to ";
    out += name(to);
    return out;
  }
};

/// How equivalent schedules are left out; each finds the same outcomes and the same failures.
enum class reduction : std::uint8_t {
  none,        ///< every schedule is run: to check the others
  sleep_sets,  ///< none is run to its end twice; some are begun in vain
  dynamic      ///< and only orders of operations that conflict are turned around
};

struct options {
  static constexpr std::size_t unlimited = ~std::size_t{0};

  /// How often a thread may be interrupted where it could go on. With a limit nothing else is reduced: what is
  /// equivalent to a schedule within the limit may itself be beyond it.
  std::size_t preemptions_max = unlimited;
  /// Exploring ends here, and the report is not complete.
  std::uint64_t executions_max = 10'000'000;
  /// An execution with more operations than this is a failure: a loop that never pauses, or never ends.
  std::size_t steps_max = 1000;
  /// How often each thread's compare_exchange_weak fails without a reason in one execution.
  std::size_t spurious_max = 1;
  /// How often each thread's wait() returns without a reason in one execution.
  std::size_t idle_wakes_max = 0;
  /// How often each thread's wait_until() reaches its deadline in one execution while other threads can go on. When
  /// nobody can, a deadline is always reached.
  std::size_t timeouts_max = 1;
  reduction reduce = reduction::dynamic;
  std::optional<weakening> weaken;
};

enum class failure : std::uint8_t {
  none,
  expectation,       ///< expect() was not met
  race,              ///< two accesses of plain data, one a write, and neither happens before the other
  lifetime,          ///< use, construction or destruction of what is not, or still, alive
  leak,              ///< something made in the execution outlived it
  stuck,             ///< every thread waits: a lost wake, a deadlock, a livelock
  too_long,          ///< options::steps_max
  exception,         ///< an exception left a thread
  unmodelled_order,  ///< seq_cst or consume, or an order that its operation must not have
  not_repeatable     ///< the scenario did something else when its choices were repeated
};

struct report {
  failure what = failure::none;
  std::string message;           ///< the failure in words; empty if there is none
  std::string trace;             ///< the failed execution, a line per operation
  bool complete = false;         ///< every schedule within the options was seen
  std::uint64_t executions = 0;  ///< different ones
  std::uint64_t redundant = 0;   ///< run too, but equivalent to others
  std::uint64_t steps = 0;       ///< operations on atomics, in all executions
  std::vector<site> sites;       ///< the operations met, in the order of their first meeting

  [[nodiscard]] bool failed() const noexcept { return what != failure::none; }
  /// Complete, and nothing was wrong.
  [[nodiscard]] bool holds() const noexcept { return complete && !failed(); }

  /// Everything, for a test's message.
  [[nodiscard]] std::string text() const {
    std::string out = std::to_string(executions);
    out += " executions, ";
    out += std::to_string(redundant);
    out += " redundant ones, ";
    out += std::to_string(steps);
    out += " steps; ";
    out += complete ? "complete" : "not complete";
    if (failed()) {
      out += "\n";
      out += message;
      out += "\n";
      out += trace;
    }
    return out;
  }
};

}  // namespace weir::queue::testing::model
