#pragma once

// Which schedule the model checker runs next.
//
// A schedule is a path in a tree: where more than one operation could come next, or a load could read more than one
// store, there is a node. Paths are walked depth first; each execution repeats the path to the last node that has
// something left to try, and is new from there on.
//
//     o---a---o---b---o          first execution
//             |
//             +---c---o---b---o  second: repeats a, is new from c on
//
// What is left out (reduction::sleep_sets): two transitions commute if they are of different atomics, or both read, or
// one reads a store that is there already and the other adds one. After a branch was tried, its transition sleeps in
// the branches beside it, until one comes that does not commute with it; a path whose transitions all sleep only leads
// to what was seen. A transition is a thread and what it reads: a load that sleeps for the stores there are still wakes
// for one to come.
//
// And (reduction::dynamic): at a node only one thread is tried at first. Whenever a later transition turns out to
// conflict with an earlier one and to be ordered by nothing else, another thread is added at the earlier one's node:
// one that can begin a path in which the later comes first, or all threads if it is not plain which.
//
// Invariants
//   - nodes before depth_ are repeated, unchanged; those behind it do not exist.
//   - options[0, at) of a node were tried, options[at] is being tried; of the rest, those of threads in `todo` will be.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/queue/testing/internal/model_memory.h>
#include <weir/queue/testing/model_report.h>

namespace weir::queue::testing::model::internal {

/// What a transition does to its atomic, as far as others notice.
enum class effect : std::uint8_t {
  read,   // one store, which is there already
  miss,   // the same, by a compare-exchange, which might have written before others did
  write,  // reads the newest and appends one; also a plain store
  wait,   // compares the newest, and becomes one that can be woken; or stops being one
  wake
};

/// The next operation of a thread, with what it will read.
struct transition {
  thread_index thread = 0;
  effect does = effect::write;
  object_index object = no_object;
  std::uint32_t store = 0;  // read: which; write: the one it adds; wake: whom, 0 nobody; wait: see the engine

  friend bool operator==(const transition&, const transition&) = default;
};

[[nodiscard]] constexpr std::uint32_t bit(thread_index thread) noexcept { return 1U << thread; }

class search {
 public:
  explicit search(reduction how) noexcept : how_(how) {}

  void begin() {
    depth_ = 0;
    steps_ = 0;
    redundant_ = false;
    asleep_.clear();
    events_.clear();
    for (auto& each : events_of_) each.clear();
    for (clock& each : known_) each.fill(0);
    round_of_.fill(0);
  }

  /// The thread begins another way round a loop.
  void begin_round(thread_index thread) noexcept { round_of_[thread] = events_.size(); }

  /// The thread has gone round its loop and learnt nothing, where it could have: the rest of this execution adds
  /// nothing, and is run to its end without choices. What others could have done since the round began was not looked
  /// for, so all of it is tried.
  void call_redundant(thread_index thread) noexcept {
    redundant_ = true;
    for (std::size_t i = round_of_[thread]; i < events_.size(); ++i) {
      if (events_[i].at_node >= 0) nodes_[static_cast<std::size_t>(events_[i].at_node)].todo = ~0U;
    }
  }
  [[nodiscard]] bool redundant() const noexcept { return redundant_; }

  /// Picks one of the transitions, of which there is one at least. False: the scenario does not repeat itself.
  [[nodiscard]] bool pick(const std::vector<transition>& enabled, transition& picked) {
    std::int32_t at_node = -1;
    bool is_new = true;
    if (depth_ < nodes_.size() && nodes_[depth_].step == steps_) {
      node& here = nodes_[depth_];
      picked = here.options[here.at];
      if (here.enabled != enabled) return false;
      at_node = static_cast<std::int32_t>(depth_++);
      is_new = depth_ == nodes_.size();
      if (how_ != reduction::none) {
        asleep_ = here.asleep;
        asleep_.insert(asleep_.end(), here.options.begin(), here.options.begin() + here.at);
      }
    } else if (redundant_) {
      picked = enabled.front();
    } else {
      is_new = depth_ == nodes_.size();
      awake_.clear();
      for (const transition& each : enabled) {
        if (std::find(asleep_.begin(), asleep_.end(), each) == asleep_.end()) awake_.push_back(each);
      }
      if (awake_.empty()) {
        redundant_ = true;
        picked = enabled.front();
      } else {
        picked = awake_.front();
        if (awake_.size() > 1) at_node = add_node(enabled);
      }
    }
    if (at_node >= 0 && picked.does == effect::wake)
      add_ends_of_wait(nodes_[static_cast<std::size_t>(at_node)], picked);
    ++steps_;
    std::erase_if(asleep_, [&](const transition& each) { return depend(each, picked); });
    if (how_ == reduction::dynamic && !redundant_) add_event(picked, at_node, is_new);
    return true;
  }

  /// Moves to the next path; false if there is none.
  [[nodiscard]] bool next() {
    while (!nodes_.empty()) {
      node& last = nodes_.back();
      for (std::size_t i = last.at + 1; i < last.options.size(); ++i) {
        if ((last.todo & bit(last.options[i].thread)) == 0) continue;
        ++last.at;
        std::swap(last.options[i], last.options[last.at]);
        return true;
      }
      recycled_.push_back(std::move(last));
      nodes_.pop_back();
    }
    return false;
  }

 private:
  struct node {
    std::uint64_t step = 0;
    std::uint32_t threads = 0;  // that were enabled
    std::uint32_t todo = 0;
    std::uint32_t at = 0;
    std::vector<transition> enabled;
    std::vector<transition> options;  // those that are awake
    std::vector<transition> asleep;   // on arrival
  };

  /// A transition that was made, for `dynamic`.
  struct event {
    transition made;
    std::int32_t at_node;
    std::uint32_t number;  // among those of its thread, from 1
    clock after;           // by thread: the number of its last event that comes before or is this one
  };

  static bool depend(const transition& a, const transition& b) noexcept {
    if (a.thread == b.thread) return true;
    return a.object == b.object && conflict(a.does, b.does);
  }

  static bool only_reads(effect what) noexcept { return what == effect::read || what == effect::miss; }

  static bool conflict(effect a, effect b) noexcept {
    if (only_reads(a) || only_reads(b)) return false;
    if (a == effect::write && b == effect::write) return true;
    if (a == effect::wake || b == effect::wake) return a != effect::write && b != effect::write;
    return a != b;  // two waits commute, a wait and a write do not
  }

  std::int32_t add_node(const std::vector<transition>& enabled) {
    if (recycled_.empty()) {
      nodes_.emplace_back();
    } else {
      nodes_.push_back(std::move(recycled_.back()));
      recycled_.pop_back();
    }
    node& made = nodes_.back();
    made.step = steps_;
    made.enabled = enabled;
    made.threads = 0;
    for (const transition& each : enabled) made.threads |= bit(each.thread);
    made.at = 0;
    made.options = awake_;
    made.asleep = asleep_;
    made.todo = how_ == reduction::dynamic ? bit(awake_.front().thread) : ~0U;
    return static_cast<std::int32_t>(depth_++);
  }

  /// A wake takes from whom it wakes the choice to end the wait by itself. No later event shows that, so it is tried
  /// here.
  static void add_ends_of_wait(node& at, const transition& wake) {
    for (const transition& each : at.options) {
      if (each.does == effect::wait && each.object == wake.object) at.todo |= bit(each.thread);
    }
  }

  void add_event(const transition& made, std::int32_t at_node, bool is_new) {
    if (made.object >= events_of_.size()) events_of_.resize(made.object + 1);
    std::vector<std::uint32_t>& others = events_of_[made.object];
    clock& known = known_[made.thread];
    // The latest first: through it, what comes before it becomes known.
    for (std::size_t i = others.size(); i-- > 0;) {
      const event& other = events_[others[i]];
      if (other.made.thread == made.thread) continue;
      const bool ordered = known[other.made.thread] >= other.number;
      // A load that comes later can still read what was there; it need not come before. A store that comes later can be
      // read only if it comes before.
      const bool turnable = conflict(other.made.does, made.does) ||
                            (only_reads(other.made.does) && made.does == effect::write) ||
                            (other.made.does == effect::write && made.does == effect::miss);
      if (is_new && turnable && !ordered) turn_around(others[i], made, known);
      const bool orders = conflict(other.made.does, made.does) ||
                          (other.made.does == effect::write && only_reads(made.does) && other.made.store == made.store);
      if (orders) join(known, other.after);
    }
    const std::uint32_t number = ++known[made.thread];
    others.push_back(static_cast<std::uint32_t>(events_.size()));
    events_.push_back({made, at_node, number, known});
  }

  /// Sees to it that some path begins like this one up to before the event `earlier`, and then has `later` before it.
  void turn_around(std::uint32_t earlier, const transition& later, const clock& known_to_later) {
    const event& first = events_[earlier];
    if (first.at_node < 0) return;  // nothing else could be done there
    node& there = nodes_[static_cast<std::size_t>(first.at_node)];
    // The threads whose first event behind `earlier` depends on nothing else there: each can begin such a path.
    const auto after_first = [&](const clock& at) { return at[first.made.thread] >= first.number; };
    std::uint32_t met = 0;
    std::uint32_t beginners = 0;
    between_.clear();
    const auto consider = [&](thread_index thread, const clock& at) {
      if ((met & bit(thread)) == 0) {
        met |= bit(thread);
        const bool begins = std::none_of(between_.begin(), between_.end(), [&](std::uint32_t each) {
          return at[events_[each].made.thread] >= events_[each].number;
        });
        if (begins) beginners |= bit(thread);
      }
    };
    for (std::uint32_t i = earlier + 1; i < events_.size(); ++i) {
      if (after_first(events_[i].after)) continue;
      consider(events_[i].made.thread, events_[i].after);
      between_.push_back(i);
    }
    consider(later.thread, known_to_later);
    if ((beginners & there.todo) != 0) return;
    beginners &= there.threads;
    // A beginner that could not run there was let go by something that is not an event: then try everybody.
    there.todo |= beginners == 0 ? ~0U : beginners & (~beginners + 1);
  }

  static void join(clock& into, const clock& from) noexcept {
    for (std::size_t i = 0; i < threads_max; ++i) into[i] = std::max(into[i], from[i]);
  }

  reduction how_;
  std::vector<node> nodes_;
  std::vector<node> recycled_;
  std::size_t depth_ = 0;
  std::uint64_t steps_ = 0;
  bool redundant_ = false;
  std::vector<transition> asleep_;
  std::vector<transition> awake_;
  // For `dynamic`.
  std::vector<event> events_;
  std::vector<std::vector<std::uint32_t>> events_of_;  // by atomic, into events_
  std::array<clock, threads_max> known_{};
  std::vector<std::uint32_t> between_;
  std::array<std::size_t, threads_max> round_of_{};  // by thread: the first event since it last paused
};

}  // namespace weir::queue::testing::model::internal
