#pragma once

// Many flows into one.
//
//     outer (a flow of flows) --as many as have a slot and are asked for an item--> slots --> round robin --> consumer
//
//     slot:   free --occupy--> ready --> has its turn --pending--> waiting --woken--> ready --> has its turn ...
//                                             |  `----more, its quantum used up-------^
//                                             `---done--> free
//
// Flows are opened and have their turns in rounds: some are opened, everybody who is ready then has a turn, some more are
// opened. All of this belongs to the consumer's thread except two
// things: the stack of slots whose wakers were called, and the parking that wakes the merge's own consumer. They live,
// with the slots, in one block that is made at the first pull, after which a flow does not move (R5): wakers point into it.
// The first slots are in it; the others are allocated together when more flows than that are open.
//
// Who may still call what (R7): a slot's waker is called only by the flow in it, whose destructor sees to it that this is
// over. So the destructor destroys the flows, then the outer flow, then the block; by then nobody can be inside the
// consumer's waker either, because it is only called from inside a slot's waker.
//
// A slot may be on the stack of the woken while it is free or has another flow already: wakes may be spurious (R2), and
// the list's links are the slot's own, not the flow's.

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/limits.h>
#include <weir/flow/any_flow.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/pipe.h>
#include <weir/flow/sources.h>
#include <weir/queue/parking.h>
#include <weir/queue/separation.h>

namespace weir::flow {

struct merge_options {
  /// Flows that are open at once. The outer flow is asked for the next one only when there are fewer.
  std::size_t concurrent_max = limits::merge_concurrent;
  /// Items that one flow gives before the next has its turn.
  std::size_t quantum = limits::merge_quantum;
};

namespace detail {

/// The slots of a merge and the lists they are on. The near slots, as many as 512 octets hold, are in the block itself.
template <class Inner>
class merge_block {
 public:
  struct slot {
    // Consumer's thread only.
    slot* next = nullptr;  // on the free list or on the ready list
    bool occupied = false;
    bool waiting = false;  // its flow was pending, and it is on no list of the consumer's thread
    // Shared with wakers.
    merge_block* block;
    slot* next_woken = nullptr;  // written by whoever set `woken`, until the block takes the stack
    std::atomic<bool> woken{false};
    alignas(Inner) std::byte storage[sizeof(Inner)];

    explicit slot(merge_block* owner) noexcept : block(owner) {}
    Inner& flow() noexcept { return *std::launder(reinterpret_cast<Inner*>(storage)); }
    waker as_waker() noexcept { return {&slot::wake, this}; }

   private:
    static void wake(void* target) noexcept {
      auto& self = *static_cast<slot*>(target);
      self.block->push_woken(self);
    }
  };

  explicit merge_block(std::size_t slots) noexcept : slots_max_(slots) {}
  merge_block(const merge_block&) = delete;
  merge_block& operator=(const merge_block&) = delete;
  ~merge_block() {
    destroy_flows();
    for (std::size_t i = 0; i < slots_made_; ++i) slot_at(i)->~slot();
    if (far_) ::operator delete(far_, std::align_val_t{alignof(slot)});
  }

  [[nodiscard]] std::size_t vacant() const noexcept { return slots_max_ - active_; }
  [[nodiscard]] std::size_t ready() const noexcept { return ready_; }
  [[nodiscard]] std::size_t active() const noexcept { return active_; }

  /// A free slot, the one that occupy() takes next; there must be one.
  slot& next_free() {
    if (!free_) {
      assert(slots_made_ < slots_max_);
      if (slots_made_ == near_slots && !far_) allocate_rest();
      slot* fresh = ::new (static_cast<void*>(slot_at(slots_made_))) slot(this);
      ++slots_made_;
      push_free(*fresh);
    }
    return *free_;
  }

  /// Makes the next free slot the one of the flow that was constructed in it.
  slot& occupy() noexcept {
    slot& taken = *free_;
    free_ = taken.next;
    taken.occupied = true;
    taken.waiting = false;
    ++active_;
    return taken;
  }

  slot& occupy(Inner&& flow) {
    ::new (static_cast<void*>(next_free().storage)) Inner(std::move(flow));
    return occupy();
  }

  void vacate(slot& of) noexcept {
    of.flow().~Inner();
    of.occupied = false;
    of.waiting = false;
    --active_;
    push_free(of);
  }

  void destroy_flows() noexcept {
    ready_first_ = ready_last_ = nullptr;
    ready_ = 0;
    for (std::size_t i = 0; i < slots_made_; ++i) {
      if (slot_at(i)->occupied) vacate(*slot_at(i));
    }
  }

  void push_ready(slot& to) noexcept {
    to.next = nullptr;
    (ready_last_ ? ready_last_->next : ready_first_) = &to;
    ready_last_ = &to;
    ++ready_;
  }

  /// The one that has been ready for longest; there must be one.
  slot& pop_ready() noexcept {
    slot& first = *ready_first_;
    ready_first_ = first.next;
    if (!ready_first_) ready_last_ = nullptr;
    --ready_;
    return first;
  }

  /// Moves the slots whose wakers were called to the ready list, in the order of the calls.
  void collect_woken() noexcept {
    if (woken_.load(std::memory_order_relaxed) == nullptr) return;
    // Partner: the compare-exchange in push_woken, which makes next_woken visible.
    slot* newest = woken_.exchange(nullptr, std::memory_order_acquire);
    slot* in_order = nullptr;
    while (newest) {
      slot* following = std::exchange(newest->next_woken, in_order);
      in_order = std::exchange(newest, following);
    }
    while (in_order) {
      slot& woken = *in_order;
      in_order = woken.next_woken;
      // Partner: the exchange in push_woken. From here on the slot can be pushed again; a waker that came before finds
      // `true`, leaves, and what it published is visible to the pull that follows.
      woken.woken.exchange(false, std::memory_order_acq_rel);
      if (woken.waiting) {
        woken.waiting = false;
        push_ready(woken);
      }
    }
  }

  /// Whether the outer flow's waker was called since the last time.
  bool take_outer_woken() noexcept {
    return outer_woken_.load(std::memory_order_relaxed) && outer_woken_.exchange(false, std::memory_order_acq_rel);
  }
  waker outer_waker() noexcept { return {&merge_block::wake_outer, this}; }

  /// Asks for the consumer to be woken at the next call of a waker; false if there was one already.
  bool park(const waker& consumer) {
    return parking_.park(consumer.action(), [this] {
      return woken_.load(std::memory_order_relaxed) != nullptr || outer_woken_.load(std::memory_order_relaxed);
    });
  }

 private:
  void push_free(slot& to) noexcept { to.next = std::exchange(free_, &to); }

  void push_woken(slot& which) noexcept {
    // Once on the stack is enough. Partner: the exchange in collect_woken.
    if (which.woken.exchange(true, std::memory_order_acq_rel)) return;
    slot* newest = woken_.load(std::memory_order_relaxed);
    do {
      which.next_woken = newest;
    } while (!woken_.compare_exchange_weak(newest, &which, std::memory_order_release, std::memory_order_relaxed));
    parking_.notify();
  }

  static void wake_outer(void* target) noexcept {
    auto& self = *static_cast<merge_block*>(target);
    // Partner: the exchange in take_outer_woken.
    self.outer_woken_.exchange(true, std::memory_order_acq_rel);
    self.parking_.notify();
  }

  static constexpr std::size_t near_slots = std::max<std::size_t>(1, 512 / sizeof(slot));

  void allocate_rest() {
    const std::size_t count = slots_max_ - near_slots;
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(slot)) throw std::bad_alloc();
    far_ = static_cast<slot*>(::operator new(count * sizeof(slot), std::align_val_t{alignof(slot)}));
  }

  slot* slot_at(std::size_t index) noexcept {
    return index < near_slots ? reinterpret_cast<slot*>(near_) + index : far_ + (index - near_slots);
  }

  // Shared with wakers.
  std::atomic<slot*> woken_{nullptr};
  std::atomic<bool> outer_woken_{false};
  queue::parking parking_;

  // Consumer's thread only.
  alignas(queue::separation) slot* free_ = nullptr;
  slot* ready_first_ = nullptr;
  slot* ready_last_ = nullptr;
  std::size_t ready_ = 0;
  std::size_t slots_made_ = 0;
  std::size_t active_ = 0;
  const std::size_t slots_max_;
  slot* far_ = nullptr;  // the slots that are not near, allocated when they are first needed
  alignas(slot) std::byte near_[near_slots * sizeof(slot)];
};

template <flow Outer>
  requires flow<value_of<Outer>>
class merged {
  using inner = value_of<Outer>;
  using block = merge_block<inner>;

 public:
  using value_type = value_of<inner>;

  merged(Outer outer, merge_options options) : outer_(std::move(outer)), options_(options) {
    assert(options.concurrent_max > 0 && options.quantum > 0);
  }
  merged(merged&& other) : outer_(std::move(other.outer_)), options_(other.options_) { assert(!other.block_); }
  merged& operator=(merged&&) = delete;
  ~merged() {
    if (block_) block_->destroy_flows();
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (!block_) block_.emplace(options_.concurrent_max);
    block& slots = *block_;
    // Flows that were opened, and turns that were had, since the last item. A plain number and no internal::turn: with that,
    // merging flows of one item is a fifth slower.
    std::size_t barren = 0;
    for (;;) {
      slots.collect_woken();
      if (demand == 0) return finished() ? step::done : step::more;
      const std::size_t before = demand;
      if (round_left_ == 0) {
        if (outer_broke()) return break_off(cx);
        if (const step end = open_some(demand, emit, cx, barren); is_final(end)) return end;
        round_left_ = slots.ready();
        if (round_left_ == 0 && !outer_broke() && !may_open()) {
          if (finished()) return step::done;
          if (slots.park(cx.wake())) return step::pending;
        }
      }
      for (; round_left_ != 0 && demand != 0; --round_left_, barren += turn_weight) {
        if (const step end = turn(slots.pop_ready(), demand, emit, cx); is_final(end)) return end;
      }
      if (demand != before) {
        barren = 0;
      } else if (barren >= limits::run_items) {
        // However many empty flows there are, or flows that are pending and wake at once (a filter that rejects everything),
        // one pull does a bounded amount of work per item asked for.
        cx.wake()();
        return step::pending;
      }
    }
  }

 private:
  using slot = typename block::slot;

  // Flows that are opened in one go: from here on it costs no less, and the first of them waits no longer for its turn.
  static constexpr std::size_t opened_max = 64;

  // What a turn without an item counts beside a flow that is opened: it may have looked at as many items as run_items is.
  static constexpr std::size_t turn_weight = limits::run_items / 64;

  [[nodiscard]] bool finished() const noexcept { return outer_end_ == step::done && block_->active() == 0; }
  /// Whether the outer flow can be asked for more.
  [[nodiscard]] bool may_open() const noexcept { return outer_end_ == step::more && block_->vacant() != 0; }
  /// Whether the outer flow ended otherwise than well. What it had given before has one turn yet.
  [[nodiscard]] bool outer_broke() const noexcept { return is_final(outer_end_) && outer_end_ != step::done; }

  /// Takes flows from the outer one, no more than have a slot and somebody to ask them for an item. They are not pulled
  /// while the outer flow is, for the two may have to do with each other; but those that are never pending are by themselves, and
  /// have their first turn at once: most of the small ones end with it. Final only if the merge ends with that.
  template <class Emit>
  step open_some(std::size_t& demand, Emit&& emit, context& cx, std::size_t& opened) {
    block& slots = *block_;
    // Taken also if it says nothing: a wake that stays would keep the merge from sleeping.
    if (slots.take_outer_woken() && outer_end_ == step::pending) outer_end_ = step::more;
    if (!may_open()) return step::more;
    std::size_t count = std::min({demand, slots.vacant(), opened_max});
    step broke = step::more;
    const auto open = [&](inner&& next) {
      ++opened;
      if constexpr (synchronous<inner>) {
        if (is_final(broke)) return;
        if (demand != 0) {
          broke = first_turn(std::move(next), demand, emit, cx);
          if (broke == step::failed) failure_ = std::move(cx.failure());
          return;
        }
      }
      slots.push_ready(slots.occupy(std::move(next)));
    };
    context outer_cx = cx.with(slots.outer_waker());
    try {
      outer_end_ = outer_.pull(count, open, outer_cx);
    } catch (...) {
      if (slots.ready() == 0 && !is_final(broke)) throw;
      cx.failure() = caught();
      outer_end_ = step::failed;
    }
    if (is_final(broke)) {
      slots.destroy_flows();
      return broke == step::failed ? cx.fail(std::move(failure_)) : broke;
    }
    if (outer_end_ == step::failed) failure_ = std::move(cx.failure());
    return step::more;
  }

  /// Lets a flow give up to its quantum before it has a slot of its own. Final only if it broke.
  template <class Emit>
  step first_turn(inner&& next, std::size_t& demand, Emit&& emit, context& cx) {
    struct guard {
      inner* flow;
      ~guard() {
        if (flow) std::destroy_at(flow);
      }
    } placed{::new (static_cast<void*>(block_->next_free().storage)) inner(std::move(next))};
    std::size_t asked = std::min(demand, options_.quantum);
    const std::size_t before = asked;
    const step why = placed.flow->pull(asked, emit, cx);
    demand -= before - asked;
    if (why != step::more) return why == step::done ? step::more : why;
    placed.flow = nullptr;
    block_->push_ready(block_->occupy());
    return step::more;
  }

  step break_off(context& cx) {
    block_->destroy_flows();
    return outer_end_ == step::failed ? cx.fail(std::move(failure_)) : outer_end_;
  }

  /// Lets one flow give up to its quantum. Final only if the merge ends with it.
  template <class Emit>
  step turn(slot& of, std::size_t& demand, Emit&& emit, context& cx) {
    std::size_t asked = std::min(demand, options_.quantum);
    const std::size_t before = asked;
    context inner_cx = cx.with(of.as_waker());
    const step why = of.flow().pull(asked, emit, inner_cx);
    demand -= before - asked;
    switch (why) {
      case step::more:
        block_->push_ready(of);
        return step::more;
      case step::pending:
        of.waiting = true;
        return step::more;
      case step::done:
        block_->vacate(of);
        return step::more;
      case step::failed:
      case step::cancelled:
        break;
    }
    block_->destroy_flows();
    return why;
  }

  // In this order: the outer flow is destroyed before the block that its waker points into.
  std::optional<block> block_;
  Outer outer_;
  merge_options options_;
  std::size_t round_left_ = 0;   // flows at the head of the ready list that have their turn before more are opened
  step outer_end_ = step::more;  // what the outer flow said last
  error failure_;                // if that was `failed`, why
};

}  // namespace detail

/// Gives the items of all flows of a flow as they come: `merge(flow_of_flows)`, or `flow_of_flows | merge()`.
///   Order     each flow's items stay in order. Flows take turns of at most a quantum, in the order in which they became
///             ready, so none that has items waits for more than concurrent_max - 1 quanta of others.
///   Outer     asked for no more flows than have a free slot, and than items are asked for: an inner flow that is opened
///             is pulled before more are. It is not pulled while the outer flow is.
///   Ends      done when the outer flow and all others are; with the first failure or cancellation, and then the other
///             flows are destroyed at once. The flows that an outer flow gave before it broke have one turn yet.
///   Memory    slots of an inner flow's size: a few in the flow itself, the rest of concurrent_max in one allocation when they
///             are needed. No items are kept.
///   Threads   confined; the flows may wake it from any thread.
///   Source    docs/design/0002-pull-emit.md
template <flow Outer>
  requires flow<value_of<Outer>>
auto merge(Outer outer, merge_options options = {}) {
  return detail::merged<Outer>(std::move(outer), options);
}
inline auto merge(merge_options options = {}) {
  return detail::make_closure([options]<flow Outer>(Outer outer) { return merge(std::move(outer), options); });
}

/// Merges the flows of a vector, all of them at once.
template <flow Inner>
auto merge(std::vector<Inner> flows, std::size_t quantum = limits::merge_quantum) {
  const merge_options options{std::max<std::size_t>(flows.size(), 1), quantum};
  return merge(from_range(std::move(flows)), options);
}

/// Merges the flows named; their types may differ, their items' may not.
template <flow First, flow Second, flow... Rest>
  requires std::same_as<value_of<First>, value_of<Second>> && (std::same_as<value_of<First>, value_of<Rest>> && ...)
auto merge(First first, Second second, Rest... rest) {
  constexpr bool same = std::same_as<First, Second> && (std::same_as<First, Rest> && ...);
  using inner = std::conditional_t<same, First, any_flow<value_of<First>>>;
  constexpr std::size_t count = 2 + sizeof...(Rest);
  return merge(from_range(std::array<inner, count>{inner(std::move(first)), inner(std::move(second)),
                                                   inner(std::move(rest))...}),
               merge_options{.concurrent_max = count});
}

}  // namespace weir::flow
