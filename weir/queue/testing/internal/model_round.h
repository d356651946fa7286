#pragma once

// What a thread has read since it last paused, so that a loop that waits is gone round only as often as there is
// something new to read.
//
// A round is what a thread does between two pauses. A loop that waits is expected to depend on nothing but what it
// reads; so a round that reads exactly what the one before read leaves everything as it was, and what follows can
// follow without it.
//
// Invariants
//   - `now` and `before` hold, for each atomic that the round read or wrote, the store that it saw last there.
//   - `steps` holds all reads of this round in their order, `steps_before` those of the round before if that wrote
//     nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <weir/queue/testing/internal/model_memory.h>

namespace weir::queue::testing::model::internal {

/// One store of one atomic.
struct mark {
  object_index object;
  std::uint32_t store;
  friend bool operator==(const mark&, const mark&) = default;
};

/// Whether a store with another value came later. A later one with the same value lets no loop end.
[[nodiscard]] inline bool has_news(const memory& in, const mark& read) noexcept {
  const std::uint64_t value = in.value(read.object, read.store);
  for (std::uint32_t at = in.newest(read.object); at > read.store; --at) {
    if (in.value(read.object, at) != value) return true;
  }
  return false;
}

/// The rounds of one thread.
class rounds {
 public:
  /// A thread begins, or does something after which nothing is a repetition.
  void start() noexcept {
    before_.clear();
    now_.clear();
    steps_before_.clear();
    steps_.clear();
    is_new_ = true;
    wrote_ = repeats_ = retries_ = tried_ = false;
  }

  /// A loop begins that may pause: what was read ahead of it is no part of its first round.
  void begin_loop() noexcept { steps_.clear(); }

  void read(const memory& in, const mark& what) {
    repeats_ = repeats_ && steps_.size() < steps_before_.size() && steps_before_[steps_.size()] == what;
    steps_.push_back(what);
    see(in, what);
  }

  /// A store or a read-modify-write; `changed` if another value is there now.
  void write(const memory& in, const mark& what, bool changed) {
    wrote_ = true;
    repeats_ = false;
    is_new_ = is_new_ || changed;
    see(in, what);
  }

  void wake(bool somebody) noexcept {
    wrote_ = true;
    repeats_ = false;
    is_new_ = is_new_ || somebody;
  }

  /// Whether the round under way has read what the one before had read, though it could have read something newer: then
  /// another path has it read that, and this one adds nothing.
  [[nodiscard]] bool adds_nothing(const memory& in) const noexcept {
    return !is_new_ && !wrote_ && !retries_ && any_news(in, now_);
  }

  /// Whether to read this would surely make the round such a one: the last read of the round before, after all its
  /// others.
  [[nodiscard]] bool is_vain(const memory& in, const mark& what) const noexcept {
    return repeats_ && steps_.size() + 1 == steps_before_.size() && steps_before_.back() == what && has_news(in, what);
  }

  void pause() {
    tried_ = retries_ && !is_new_;
    if (retries_) {
      before_.insert(before_.end(), now_.begin(), now_.end());
    } else {
      before_.swap(now_);
    }
    if (retries_ || wrote_) {
      steps_before_.clear();
    } else {
      steps_before_.swap(steps_);
    }
    now_.clear();
    steps_.clear();
    repeats_ = true;
    is_new_ = wrote_ = retries_ = false;
  }

  /// Whether a paused thread may go on: something that its last round read is not the newest any more.
  [[nodiscard]] bool may_go_on(const memory& in) const noexcept { return any_news(in, before_); }

  /// Lets a paused thread go round without news, when nobody else can go on: a loop that looks at other atomics each
  /// time may find some. False if it has done so and found nothing.
  [[nodiscard]] bool retry() noexcept {
    if (tried_) return false;
    retries_ = true;
    return true;
  }
  [[nodiscard]] bool retries() const noexcept { return retries_; }

 private:
  [[nodiscard]] static bool any_news(const memory& in, const std::vector<mark>& read) noexcept {
    return std::any_of(read.begin(), read.end(), [&](const mark& each) { return has_news(in, each); });
  }

  void see(const memory& in, const mark& what) {
    if (!is_new_) {
      const std::uint64_t value = in.value(what.object, what.store);
      is_new_ = std::none_of(before_.begin(), before_.end(), [&](const mark& each) {
        // After a write the store is another one; if it holds what was there, the thread has learnt nothing.
        return each == what || (wrote_ && each.object == what.object && in.value(each.object, each.store) == value);
      });
    }
    for (mark& each : now_) {
      if (each.object == what.object) {
        each.store = what.store;
        return;
      }
    }
    now_.push_back(what);
  }

  std::vector<mark> before_;
  std::vector<mark> now_;
  std::vector<mark> steps_before_;
  std::vector<mark> steps_;
  bool is_new_ = true;    // something of now_ is not in before_, or the thread changed something
  bool wrote_ = false;    // the round wrote or woke, if only what was there
  bool repeats_ = false;  // steps_ is how steps_before_ begins
  bool retries_ = false;  // the round was begun without news
  bool tried_ = false;    // such a round found nothing
};

}  // namespace weir::queue::testing::model::internal
