#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <string>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <weir/core/thread.h>
#include <weir/net/internal/task_list.h>
#include <weir/net/loop.h>

namespace weir::net {

/// What a loop is made of. It lives in turns:
///
///     wait until something is ready  ->  run what is ready, bounded  ->  run posted tasks, bounded  ->  end of the turn
///
/// The end of the turn is when connections write what was appended during it: everything that was ready together leaves
/// together, and a lone frame waits for nothing, since a turn ends as soon as nothing more is ready.
///   Threads  post from any thread; everything else on the loop's own.
struct loop::internals {
  explicit internals(std::string name);
  ~internals();
  internals(const internals&) = delete;
  internals& operator=(const internals&) = delete;

  void post(flow::task& work) noexcept;

  /// Runs the task at the end of this turn; from inside such a task, at the end of the next.
  void at_turn_end(flow::task& work) noexcept {
    assert(is_this_thread());
    turn_end_.push(work);
  }

  [[nodiscard]] bool is_this_thread() const noexcept;

  asio::io_context io{1};

 private:
  // The bounds of one turn: enough to share the cost of waiting and writing, few enough that an end of turn is near.
  static constexpr int handlers_per_turn = 64;
  static constexpr int tasks_per_turn = 256;

  /// Memory for the one wake that can be on its way: posting from another thread then allocates nothing.
  struct wake_slot {
    static constexpr std::size_t size = 256;
    alignas(std::max_align_t) std::byte octets[size];
    bool taken = false;
  };
  template <class T>
  struct wake_allocator;
  struct wake;

  void run();
  bool turn();
  int run_handlers(bool wait);
  int run_tasks(internal::task_queue& from, int most);

  internal::task_inbox inbox_;
  wake_slot wake_slot_;  // taken by whoever finds the inbox empty, until the wake runs
  bool woken_ = false;   // a wake has run; the inbox has tasks
  bool stopping_ = false;
  internal::task_queue ready_;  // taken from the inbox, or posted on this thread
  internal::task_queue turn_end_;
  asio::executor_work_guard<asio::io_context::executor_type> open_{io.get_executor()};
  weir::thread thread_;  // last: it uses all of the above
};

}  // namespace weir::net
