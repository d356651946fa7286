#pragma once

// Tasks on the threads that run an Asio io_context. Only for programs that use Asio: no other header of flow includes
// this one.
//
//     asio::io_context io;
//     asio_executor there(io.get_executor());
//     auto running = start(numbers, there, sink);
//     io.run();
//
// As in strand.h, tasks are collected in a list, and one handler, a round, is posted to Asio for all that are there.
// There is never more than one round, and that is what makes the executor serial, whatever is below it. Where the round
// is:
//
//     none --post of the first task--> posted --Asio--> running --> none, or posted again if there are more tasks
//                                        |
//                                        `--destructor--> ours: it runs the tasks, and the round has nothing to do
//
// The round outlives the executor then, so what both touch is counted: by the executor, by the round, and by the
// allocator that Asio keeps while it has the round's memory.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <asio/post.hpp>

#include <weir/flow/executor.h>
#include <weir/flow/internal/task_list.h>
#include <weir/queue/spin.h>

namespace weir::flow {

namespace detail {

/// Room for one round at a time, used again and again.
///   Threads  confined to whoever has the round.
class asio_room {
 public:
  void* take(std::size_t octets, std::size_t alignment) {
    if (taken_ || octets > sizeof(storage_) || alignment > alignof(std::max_align_t)) {
      return ::operator new(octets, std::align_val_t{alignment});
    }
    taken_ = true;
    return storage_;
  }
  void give_back(void* what, std::size_t alignment) noexcept {
    if (what == storage_) {
      taken_ = false;
    } else {
      ::operator delete(what, std::align_val_t{alignment});
    }
  }

 private:
  bool taken_ = false;
  alignas(std::max_align_t) std::byte storage_[256];  // Asio's own part is about 100
};

/// What the executor and its round share.
template <class Executor>
class asio_rounds {
 public:
  /// Keeps it alive.
  class reference {
   public:
    explicit reference(asio_rounds& to) noexcept : to_(&to) { to.owners_.fetch_add(1, std::memory_order_relaxed); }
    reference(const reference& other) noexcept : reference(*other.to_) {}
    reference& operator=(const reference&) = delete;
    ~reference() {
      // Partner: the other owners' subtractions. The last one sees all that they did.
      if (to_->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete to_;
    }
    asio_rounds* operator->() const noexcept { return to_; }
    bool operator==(const reference&) const = default;

   private:
    asio_rounds* to_;
  };

  explicit asio_rounds(Executor on) : on_(std::move(on)) {}
  asio_rounds(const asio_rounds&) = delete;
  asio_rounds& operator=(const asio_rounds&) = delete;

  void post(task& work) noexcept {
    // Counted before it is put in, so that no round takes more than was counted. Partner: the subtraction in run_round.
    const bool first = waiting_.fetch_add(1, std::memory_order_acq_rel) == 0;
    posted_.push(work);
    if (first) post_round();
  }

  /// By the executor's destructor: returns when there is no task any more.
  void leave() noexcept {
    queue::spin wait;
    // Partner: the subtractions in run_round and run_tasks.
    while (waiting_.load(std::memory_order_acquire) != 0) {
      state expected = state::posted;
      // Partner: the exchange in post_round. From here on nobody else runs tasks.
      if (where_.compare_exchange_strong(expected, state::ours, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        while (!all_have_run(run_tasks())) {
        }
        return;
      }
      wait.pause();
    }
  }

 private:
  enum class state : std::uint8_t { none, posted, running, ours };

  template <class T>
  struct allocator {
    using value_type = T;

    explicit allocator(const reference& with) noexcept : rounds(with) {}
    template <class U>
    allocator(const allocator<U>& other) noexcept : rounds(other.rounds) {}  // NOLINT: allocators turn into each other

    T* allocate(std::size_t count) { return static_cast<T*>(rounds->room_.take(count * sizeof(T), alignof(T))); }
    void deallocate(T* what, std::size_t) noexcept { rounds->room_.give_back(what, alignof(T)); }
    template <class U>
    bool operator==(const allocator<U>& other) const noexcept {
      return rounds == other.rounds;
    }

    reference rounds;
  };

  struct round {
    using allocator_type = allocator<std::byte>;

    [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(rounds); }
    void operator()() const noexcept { rounds->run_round(); }

    reference rounds;
  };

  void post_round() noexcept {
    round next{reference(*this)};
    // Partner: the compare-exchanges in run_round and leave.
    where_.exchange(state::posted, std::memory_order_acq_rel);
    asio::post(on_, std::move(next));
  }

  void run_round() noexcept {
    state expected = state::posted;
    if (!where_.compare_exchange_strong(expected, state::running, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
      return;  // the executor has gone, and has run everything itself
    }
    const std::size_t count = run_tasks();
    where_.exchange(state::none, std::memory_order_acq_rel);
    if (!all_have_run(count)) post_round();
  }

  /// Runs the tasks that are there, and says how many.
  std::size_t run_tasks() noexcept {
    std::size_t count = 0;
    for (task* next = posted_.take_all(); next; ++count) {
      // Read before the run, which may post the task again or free it.
      task* const following = next->next;
      next->run(next);
      next = following;
    }
    return count;
  }

  /// Counts tasks that have run. Whoever posts after this was true posts the next round, and the executor may go.
  bool all_have_run(std::size_t count) noexcept {
    // Partner: the additions in post, and the load in leave.
    return waiting_.fetch_sub(count, std::memory_order_acq_rel) == count;
  }

  Executor on_;
  std::atomic<std::size_t> waiting_{0};  // tasks posted that have not run
  std::atomic<state> where_{state::none};
  internal::task_list posted_;
  asio_room room_;
  std::atomic<std::size_t> owners_{0};
};

}  // namespace detail

/// A serial executor over one of Asio's: tasks run inside run() of its io_context, one after another, in the order in
/// which they were posted, also where several threads call run(). Over an asio::strand they take turns with its other
/// handlers as well.
///
///     asio_executor there(io.get_executor());
///     flow | observe_on(there)
///
///   Threads  post from any thread; a task never runs inside post. What a task did is visible to the next one.
///   Waits    the destructor: it runs the tasks that Asio has not begun itself, and those that they post, and waits for
///            those that run on another thread; so it may be called when nobody runs the io_context any more, or when
///            that is gone, but not from inside one of its tasks. Else never.
///   Owns     a copy of Asio's executor. The io_context must be there whenever something is posted. Whoever posts sees
///            to it that this outlives the post. A stopped io_context keeps what was posted, for when it is restarted.
///   Memory   one allocation at construction; then none over the executor of an io_context. An asio::strand allocates
///            for a round that finds it idle, asio::any_io_executor for each; running out of memory there ends the
///            program.
///   Work     does not keep run() from returning while a flow waits for other threads: asio::make_work_guard does.
///   Cost     post: two read-modify-writes, and a post of Asio's for the first task of a round. A round is one handler
///            for all the tasks that are there; then other handlers have their turn.
template <class Executor>
class asio_executor final : public executor {
 public:
  explicit asio_executor(Executor on) : rounds_(*new detail::asio_rounds<Executor>(std::move(on))) {}
  asio_executor(const asio_executor&) = delete;
  asio_executor& operator=(const asio_executor&) = delete;
  ~asio_executor() { rounds_->leave(); }

  void post(task& work) noexcept override { rounds_->post(work); }

 private:
  typename detail::asio_rounds<Executor>::reference rounds_;
};

}  // namespace weir::flow
