#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/core/result.h>
#include <weir/flow/flow.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow::testing {

using queue::testing::counted;

/// One thing that a scripted source does.
struct event {
  enum class kind { item, pending, done, failed, cancelled, throws } what = kind::done;
  int number = 0;
};

/// The word for a step: "pending".
constexpr const char* name_of(step s) noexcept {
  switch (s) {
    case step::more:
      return "more";
    case step::pending:
      return "pending";
    case step::done:
      return "done";
    case step::failed:
      return "failed";
    case step::cancelled:
      break;
  }
  return "cancelled";
}

/// The word for what a scripted source does: "throws".
constexpr const char* name_of(event::kind what) noexcept {
  constexpr const char* names[] = {"item", "pending", "done", "failed", "cancelled", "throws"};
  return names[static_cast<std::size_t>(what)];
}

inline event item(int number) { return {event::kind::item, number}; }
inline event pending() { return {event::kind::pending, 0}; }

class script;

/// What the scripted sources of one run share: who sleeps, and what was done to them that the contract forbids.
///   Threads  confined; the stage outlives its scripts.
class stage {
 public:
  /// Wakes every source that sleeps; its pending is over then. Calls each waker twice, for wakes may be spurious.
  void fire();
  [[nodiscard]] bool someone_sleeps() const noexcept { return !sleeping_.empty(); }

  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }
  /// The first thing that was wrong; empty if nothing was.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

 private:
  friend class script;
  std::vector<script*> sleeping_;
  std::string complaint_;
};

/// A source that does what its script says, event by event, and watches how it is pulled. Its items are `counted`, so that
/// none is lost or destroyed twice unnoticed.
class script {
 public:
  using value_type = counted;

  script(std::vector<event> events, stage& on) : events_(std::move(events)), stage_(&on) {}
  script(script&& other) noexcept
      : events_(std::move(other.events_)), stage_(other.stage_), pulled_at_(other.pulled_at_) {
    if (pulled_at_) stage_->complain("a source was moved after its first pull (R5)");
  }
  script& operator=(script&&) = delete;
  ~script() { forget(); }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (pulled_at_ && pulled_at_ != this) stage_->complain("a source was moved after its first pull (R5)");
    pulled_at_ = this;
    if (pulling_) stage_->complain("pulls of one source overlap (R8)");
    if (ended_) stage_->complain("a source was pulled after its end");
    if (++idle_pulls_ > idle_pulls_max) {
      // An exception, or an operator that would pull for ever hangs the test.
      stage_->complain("a source is pulled again and again, though it has nothing to give");
      throw std::runtime_error("pulled for ever");
    }
    pulling_ = true;
    struct leave {
      bool& pulling;
      ~leave() { pulling = false; }
    } leave_at_the_end{pulling_};
    forget();
    for (; at_ < events_.size(); ++at_) {
      const event& now = events_[at_];
      switch (now.what) {
        case event::kind::item:
          if (demand == 0) return step::more;
          --demand;
          idle_pulls_ = 0;
          ++at_;
          emit(counted(now.number));
          --at_;
          break;
        case event::kind::pending:
          if (woken_) {
            woken_ = false;
            break;
          }
          waker_ = cx.wake();
          stage_->sleeping_.push_back(this);
          return step::pending;
        case event::kind::done:
          ended_ = true;
          return step::done;
        case event::kind::failed:
          ended_ = true;
          return cx.fail(weir::fail(errc::io, "scripted"));
        case event::kind::cancelled:
          ended_ = true;
          return step::cancelled;
        case event::kind::throws:
          // Functions throw when they are to make an item, so only when one is asked for.
          if (demand == 0) return step::more;
          ended_ = true;
          throw std::runtime_error("scripted");
      }
    }
    ended_ = true;
    return step::done;
  }

 private:
  friend class stage;
  static constexpr std::size_t idle_pulls_max = 10'000;
  void forget() noexcept { std::erase(stage_->sleeping_, this); }

  std::vector<event> events_;
  stage* stage_;
  std::size_t at_ = 0;
  std::size_t idle_pulls_ = 0;  // since it gave an item, or was woken
  const script* pulled_at_ = nullptr;
  waker waker_;
  bool woken_ = false;
  bool pulling_ = false;
  bool ended_ = false;
};

inline void stage::fire() {
  const std::vector<script*> now = std::exchange(sleeping_, {});
  for (script* source : now) {
    source->woken_ = true;
    source->idle_pulls_ = 0;
    source->waker_();
    source->waker_();
  }
}

}  // namespace weir::flow::testing
