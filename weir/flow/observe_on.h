#pragma once

// The thread hop: what is above it is pulled on an executor, what is below it stays with whoever pulls the result.
//
//     executor's thread                                      consumer's thread
//
//     upstream --pull 256--> [ ring of 64 KiB, spsc ] --pull--> downstream
//              ^                        |
//              |   wake at half free    |   wake at the first batch after empty
//              `---- task <-------------'-------------> waker
//
// The two halves share one state and are its only owners; the last one to leave frees it, with the items that are left.
//   - The producer half leaves when upstream has ended, or when it sees that the consumer has left; in both cases it
//     has destroyed upstream before, on the executor's thread.
//   - The consumer half leaves in its destructor: it cancels the ring, withdraws its waker (R7) and wakes the task, which
//     then finds the ring cancelled. It does not wait for that.
//   - Before the first pull there is only the consumer half, and upstream is destroyed with it.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/flow/caught.h>
#include <weir/flow/executor.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/activation.h>
#include <weir/flow/pipe.h>
#include <weir/queue/parking.h>
#include <weir/queue/spsc_ring.h>

namespace weir::flow {

struct hop_options {
  /// Items between the threads, rounded up to a power of two; 0 stands for 64 KiB worth, at most 8192.
  std::size_t capacity = 0;
};

namespace detail {

template <class T>
constexpr std::size_t hop_capacity(hop_options options) noexcept {
  if (options.capacity != 0) return options.capacity;
  return std::bit_floor(std::clamp<std::size_t>(limits::hop_bytes / sizeof(T), 2, limits::hop_items_max));
}

template <flow Source>
class hop_state : public internal::activation<hop_state<Source>> {
  using T = value_of<Source>;
  using base = internal::activation<hop_state<Source>>;

 public:
  hop_state(Source source, executor& on, hop_options options)
      : base(on), upstream_(std::move(source)), ring_(hop_capacity<T>(options)) {}

  // --- the consumer half ---------------------------------------------------------------------------------------

  void start() noexcept {
    parties_.store(2, std::memory_order_relaxed);  // made visible to the task by the post
    this->wake();
  }

  template <class Emit>
  step give(std::size_t& demand, Emit&& emit, context& cx) {
    while (demand != 0) {
      const queue::ring_spans<T> items = ring_.readable(std::min(demand, limits::hop_quantum));
      const std::size_t count = items.size();
      if (count != 0) {
        demand -= count;
        // If emit throws, the items stay in the ring, given ones as husks, and are destroyed with it: the flow is over.
        emit_run(emit, items.first);
        if (!items.second.empty()) emit_run(emit, items.second);
        ring_.release(count);
        room_.notify_if([this] { return half_free(ring_.capacity() - ring_.size()); });
        continue;
      }
      if (ring_.ended()) return end_ == step::failed ? cx.fail(std::move(failure_)) : end_;
      if (items_.park(cx.wake().action(), [this] { return ring_.has_items() || ring_.closed(); })) {
        return step::pending;
      }
    }
    return step::more;
  }

  /// The consumer leaves; *this may be gone when it has.
  void leave() noexcept {
    ring_.cancel();
    items_.withdraw();
    this->wake();
    release();
  }

  // --- the producer half ---------------------------------------------------------------------------------------

  internal::then activate() noexcept {
    for (std::size_t given = 0; given < limits::run_items;) {
      if (ring_.cancelled()) return finish(step::cancelled);
      if (ring_.free_places(wanted_) < wanted_) {
        // The consumer asks half_free of what it sees; to sleep on a smaller room would be to sleep for ever.
        if (room_.park(this->as_waker().action(), [this] { return half_free(ring_.free_places(ring_.capacity())); })) {
          return internal::then::wait;
        }
      }
      const std::span<T> places = ring_.prepare(limits::hop_quantum).first;
      std::size_t count = 0;
      const step why = pull_into(places, count);
      if (count != 0) {
        ring_.commit(count);
        items_.notify();
      }
      if (is_final(why)) return finish(why);
      if (why == step::pending) return internal::then::wait;
      given += count;
    }
    return internal::then::again;
  }

 private:
  /// Puts items into places of the ring, and keeps their count also when an exception passes.
  class placer {
   public:
    placer(std::span<T> places, std::size_t& count) noexcept : first_(places.data()), at_(first_), count_(count) {}
    placer(const placer&) = delete;
    placer& operator=(const placer&) = delete;
    ~placer() { count_ = static_cast<std::size_t>(at_ - first_); }

    void operator()(T&& item) {
      std::construct_at(at_, std::move(item));
      ++at_;
    }
    void run(std::span<T> items) {
      if constexpr (std::is_nothrow_move_constructible_v<T>) {
        at_ = std::uninitialized_move(items.begin(), items.end(), at_);
      } else {
        for (T& item : items) (*this)(std::move(item));
      }
    }

   private:
    T* const first_;
    T* at_;
    std::size_t& count_;
  };

  step pull_into(std::span<T> places, std::size_t& count) noexcept {
    try {
      placer place(places, count);
      std::size_t demand = places.size();
      context cx(this->as_waker(), failure_);
      return upstream_->pull(demand, place, cx);
    } catch (...) {
      failure_ = caught();
      return step::failed;
    }
  }

  internal::then finish(step why) noexcept {
    // First upstream, so that who sees the end knows that it is gone, and that it calls our waker no more (R7).
    upstream_.reset();
    end_ = why;
    ring_.close();  // makes end_ and failure_ visible to the consumer
    items_.notify();
    this->retire();
    release();
    return internal::then::over;
  }

  [[nodiscard]] bool half_free(std::size_t places) const noexcept { return places >= (ring_.capacity() + 1) / 2; }

  void release() noexcept {
    // Partner: the other half's subtraction. The last one sees all that the first did.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::optional<Source> upstream_;  // the consumer half's until start, then the producer half's
  queue::spsc_ring<T> ring_;
  const std::size_t wanted_ = std::min(limits::hop_quantum, (ring_.capacity() + 1) / 2);  // room worth a pull
  step end_ = step::done;  // with failure_ written by the producer before close, read after
  error failure_;
  queue::parking items_;  // the consumer sleeps here
  queue::parking room_;   // the producer sleeps here
  std::atomic<int> parties_{1};
};

template <flow Source>
class hop {
  using state = hop_state<Source>;

 public:
  using value_type = value_of<Source>;

  hop(Source source, executor& on, hop_options options) : state_(new state(std::move(source), on, options)) {}
  hop(hop&& other) noexcept : state_(std::exchange(other.state_, nullptr)), started_(other.started_) {}
  hop& operator=(hop&&) = delete;
  ~hop() {
    if (!state_) return;
    if (started_) {
      state_->leave();
    } else {
      delete state_;
    }
  }

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    assert(state_);
    if (!started_) {
      started_ = true;
      state_->start();
    }
    return state_->give(demand, emit, cx);
  }

 private:
  state* state_;
  bool started_ = false;
};

}  // namespace detail

/// Moves the work above it to an executor: `flow | observe_on(worker)`. Everything upstream is pulled there, from the first
/// pull on, and the items come over in batches through a bounded ring; everything downstream stays where it is pulled.
///   Order    as upstream gave them; an end comes after the items before it. An exception upstream becomes a failure of
///            code `threw`.
///   Bounds   upstream is at most the ring ahead of the consumer. It gives up the executor after limits::run_items.
///   Owns     upstream, which is destroyed on the executor's thread; before the first pull, on the consumer's.
///            The executor must outlive the flow, and run what was posted before it goes. A consumer that leaves early
///            does not wait for upstream: what upstream refers to must live until the executor has let it go, so
///            declare it before the executor.
///            A blocking driver (for_each.h) must not run on that executor: it would wait for what stands behind it.
///   Waits    never: the destructor does not wait for upstream, only for a call of the consumer's waker under way (R7).
///   Memory   the ring, in one allocation, and one for the state.
///   Source   docs/design/0002-pull-emit.md, which says how this relates to observeOn and subscribeOn of ReactiveX.
template <flow Source>
auto observe_on(Source source, executor& on, hop_options options = {}) {
  return detail::hop<Source>(std::move(source), on, options);
}
inline auto observe_on(executor& on, hop_options options = {}) {
  return detail::make_closure(
      [&on, options]<flow Source>(Source source) { return detail::hop<Source>(std::move(source), on, options); });
}

/// The same hop under the name of ReactiveX for moving a source: where the consumer pulls, there is only one kind.
template <flow Source>
auto subscribe_on(Source source, executor& on, hop_options options = {}) {
  return observe_on(std::move(source), on, options);
}
inline auto subscribe_on(executor& on, hop_options options = {}) { return observe_on(on, options); }

}  // namespace weir::flow
