#pragma once

// What group_by and window have in common: one flow whose items go to several, its branches.
//
//                                      +--> [ queue ] --> group, pulled by its consumer
//     upstream --pull, by whoever -----+--> [ queue ] --> group
//                has nothing to give   +--> [ queue ] --> group
//                                      `--> new groups --> outer flow, pulled by its consumer
//
// Whoever is pulled and has nothing, the outer flow or a group, pulls upstream, and what comes goes into the queues. Upstream
// is asked for no more items than every queue has room for, since all of them may be of one group; where one is full
// upstream waits. So one sleeps for one of two reasons: upstream is pending, or there is no room. When either is over
// everybody is woken, before upstream is pulled again: who gets an item, or an end, in that pull need not be told again.
//
// Outer flow and groups belong to one thread, and so does all that is here except three things, which wakers touch: the
// flag that says that upstream called, the list of branches, which only grows, and their parkings. Upstream's waker is
// the trunk's and not that of whoever pulled last, who may be gone when it is called: it wakes everybody who sleeps.
//
// The trunk has as many owners as there are groups that were given, and the outer flow; the last one to leave frees it,
// upstream first (R7). A branch whose group is gone is used again for the next group.

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/turn.h>
#include <weir/queue/parking.h>

namespace weir::flow {

template <class Key, class T>
class group;

namespace detail {

template <class Key, class T>
class trunk {
 public:
  /// Where the items of one group wait.
  class branch {
    friend class trunk;
    branch* next_ = nullptr;  // never changes once others can see it
    queue::parking sleeper_;  // sleeper: the group's consumer; publishers: everybody
    // The consumers' thread only.
    branch* list_next_ = nullptr;  // of the new ones, or of the free ones
    std::optional<Key> key_;       // none while it is free
    std::deque<T> items_;
    bool closed_ = false;  // gets no more items, although upstream has not ended

   public:
    [[nodiscard]] const Key& key() const noexcept { return *key_; }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  };

  trunk() = default;
  trunk(const trunk&) = delete;
  trunk& operator=(const trunk&) = delete;

  // --- the outer flow ----------------------------------------------------------------------------------------------

  template <class Emit>
  step give_groups(std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    for (;;) {
      while (demand != 0 && new_first_) {
        branch& next = *new_first_;
        new_first_ = next.list_next_;
        --demand;
        ++owners_;
        emit(group<Key, T>(*this, next));
      }
      if (!new_first_ && ended_) return end(cx);
      if (demand == 0) return step::more;
      if (now.over()) return internal::turn::give_up(cx);
      if (!advance(demand, now)) return wait(outer_sleeper_, cx);
    }
  }

  void leave_outer() noexcept {
    outer_sleeper_.withdraw();
    outer_left_ = true;
    while (new_first_) free(*std::exchange(new_first_, new_first_->list_next_));
    go_on();
    release();
  }

  // --- a group -----------------------------------------------------------------------------------------------------

  template <class Emit>
  step give(branch& mine, std::size_t& demand, Emit&& emit, context& cx) {
    internal::turn now;
    for (;;) {
      if (!mine.items_.empty() && demand != 0) {
        do {
          T item(std::move(mine.items_.front()));
          mine.items_.pop_front();
          --demand;
          emit(std::move(item));
        } while (!mine.items_.empty() && demand != 0);
        go_on();
      }
      if (mine.items_.empty() && mine.closed_) return step::done;
      if (mine.items_.empty() && ended_) return end(cx);
      if (demand == 0) return step::more;
      if (now.over()) return internal::turn::give_up(cx);
      if (!advance(demand, now)) return wait(mine.sleeper_, cx);
    }
  }

  void leave(branch& mine) noexcept {
    mine.sleeper_.withdraw();
    free(mine);
    go_on();
    release();
  }

 protected:
  virtual ~trunk() {
    for (branch* now = branches_.load(std::memory_order_relaxed); now;) delete std::exchange(now, now->next_);
  }

  /// Pulls upstream for so many items, which it lowers by what came, and puts them into branches.
  virtual step pull_upstream(std::size_t& count, context& cx) = 0;
  virtual void drop_upstream() noexcept = 0;
  /// How many items can come now, whatever they are.
  virtual std::size_t room() noexcept = 0;
  /// A branch that was open is free from now on.
  virtual void forget(branch& gone) noexcept = 0;

  [[nodiscard]] bool outer_left() const noexcept { return outer_left_; }
  [[nodiscard]] std::size_t open_count() const noexcept { return open_; }

  /// A branch for a group that the outer flow will give.
  branch& open(Key key) {
    if (!free_) {
      auto fresh = std::make_unique<branch>();
      fresh->next_ = branches_.load(std::memory_order_relaxed);
      free_ = fresh.release();
      // Partner: the load in wake_all.
      branches_.store(free_, std::memory_order_release);
    }
    branch& next = *free_;
    next.key_.emplace(std::move(key));
    free_ = std::exchange(next.list_next_, nullptr);
    (new_first_ ? new_last_->list_next_ : new_first_) = &next;
    new_last_ = &next;
    next.closed_ = false;
    ++open_;
    return next;
  }
  void put(branch& to, T&& item) { to.items_.push_back(std::move(item)); }
  void close(branch& full) noexcept { full.closed_ = true; }

  /// The fewest free places of a branch, if each has so many.
  [[nodiscard]] std::size_t least_free(std::size_t places) const noexcept {
    std::size_t most = 0;
    for (const branch* now = branches_.load(std::memory_order_relaxed); now; now = now->next_) {
      most = std::max(most, now->items_.size());
    }
    return places - std::min(places, most);
  }

  void break_off(error why) {
    if (!broke_) broke_.emplace(std::move(why));
  }
  [[nodiscard]] bool broke() const noexcept { return broke_.has_value(); }

 private:
  step end(context& cx) const { return how_ == step::failed ? cx.fail(failure_) : how_; }

  void release() noexcept {
    if (--owners_ == 0) delete this;
  }

  void free(branch& gone) noexcept {
    forget(gone);
    gone.items_.clear();
    gone.key_.reset();
    gone.list_next_ = std::exchange(free_, &gone);
    --open_;
  }

  /// Pulls upstream once; false if there is nothing to look for before somebody wakes us.
  bool advance(std::size_t wanted, internal::turn& now) {
    assert(!pulling_);
    if (woken_.load(std::memory_order_relaxed) && woken_.exchange(false, std::memory_order_acq_rel)) {
      upstream_sleeps_ = false;
    }
    if (upstream_sleeps_) return false;
    const std::size_t free_places = room();
    if (free_places == 0) {
      held_up_ = true;
      return false;
    }
    std::size_t count = std::min({wanted, free_places, limits::hop_quantum});
    const std::size_t before = count;
    error failure;
    context cx(waker(&trunk::wake, this), failure);
    step why;
    pulling_ = true;
    try {
      why = pull_upstream(count, cx);
    } catch (...) {
      failure = caught();
      why = step::failed;
    }
    pulling_ = false;
    now.spend(before - count);
    if (broke_) {
      failure = *std::move(broke_);
      why = step::failed;
    }
    if (is_final(why)) {
      drop_upstream();
      ended_ = true;
      how_ = why;
      failure_ = std::move(failure);
      return true;
    }
    upstream_sleeps_ = why == step::pending;
    return count != before || !upstream_sleeps_;
  }

  /// Sleeps until there is something to look for. If upstream has called already this is only the end of a turn: who gives
  /// up its own by waking at once must not be asked again in this pull.
  step wait(queue::parking& at, context& cx) {
    // Partner: the exchange in wake.
    const bool sleeps = at.park(cx.wake().action(), [this] { return woken_.load(std::memory_order_relaxed); });
    return sleeps ? step::pending : internal::turn::give_up(cx);
  }

  /// There may be room now: whoever waits for that looks again.
  void go_on() noexcept {
    if (std::exchange(held_up_, false)) wake_all();
  }

  void wake_all() noexcept {
    outer_sleeper_.notify();
    // Partner: the store in open.
    for (branch* now = branches_.load(std::memory_order_acquire); now; now = now->next_) now->sleeper_.notify();
  }

  static void wake(void* target) noexcept {
    auto& self = *static_cast<trunk*>(target);
    // Partner: the exchange in advance.
    self.woken_.exchange(true, std::memory_order_acq_rel);
    self.wake_all();
  }

  // Shared with wakers.
  std::atomic<bool> woken_{false};
  std::atomic<branch*> branches_{nullptr};
  queue::parking outer_sleeper_;

  // The consumers' thread only.
  branch* free_ = nullptr;
  branch* new_first_ = nullptr;
  branch* new_last_ = nullptr;  // meaningless when there is no first
  std::size_t open_ = 0;        // branches that are not free
  std::size_t owners_ = 1;
  bool outer_left_ = false;
  bool pulling_ = false;
  bool upstream_sleeps_ = false;
  bool held_up_ = false;  // somebody found no room
  bool ended_ = false;
  step how_ = step::done;
  error failure_;
  std::optional<error> broke_;
};

}  // namespace detail

/// Some of the items of a flow, as a flow of its own: those of one key (group_by.h), or a number of them in a row (window.h).
///   Threads  confined to the thread of the flow that gave it and of all its other groups: an operator that moves work,
///            like observe_on, stands above what makes groups, or below where they are brought together.
///   Owns     with the others, what upstream is: it may outlive the flow that gave it, which may leave first.
///   Ends     as upstream does, after the group's items; a failure is told to every group.
///   Bounds   keeps items that others pulled. They wait in vain, and in the end everybody, for a group that nobody pulls:
///            pull every group, or destroy it, which destroys what it keeps.
template <class Key, class T>
class group {
  using trunk = detail::trunk<Key, T>;

 public:
  using value_type = T;

  group(group&& other) noexcept : of_(std::exchange(other.of_, nullptr)), mine_(other.mine_) {}
  group& operator=(group&&) = delete;
  ~group() {
    if (of_) of_->leave(*mine_);
  }

  /// What its items have in common; for a window its number, the first one's being 0.
  [[nodiscard]] const Key& key() const noexcept { return mine_->key(); }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return of_->give(*mine_, demand, emit, cx);
  }

 private:
  friend trunk;
  group(trunk& of, typename trunk::branch& mine) noexcept : of_(&of), mine_(&mine) {}

  trunk* of_;
  typename trunk::branch* mine_;
};

namespace detail {

/// The outer flow of a trunk.
template <class Key, class T>
class groups_of {
 public:
  using value_type = group<Key, T>;

  explicit groups_of(trunk<Key, T>* of) noexcept : of_(of) {}
  groups_of(groups_of&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  groups_of& operator=(groups_of&&) = delete;
  ~groups_of() {
    if (of_) of_->leave_outer();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    return of_->give_groups(demand, emit, cx);
  }

 private:
  trunk<Key, T>* of_;
};

}  // namespace detail

}  // namespace weir::flow
