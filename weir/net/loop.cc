#include <weir/net/loop.h>

#include <utility>

#include <asio/post.hpp>

#include <weir/net/internal/loop_internals.h>

namespace weir::net {

namespace {

thread_local const loop::internals* loop_of_this_thread = nullptr;

/// A function that somebody posted, owned by the list it waits in.
struct function_task : flow::task {
  explicit function_task(std::function<void()> work) : body(std::move(work)) {
    run = [](flow::task* self) noexcept {
      const std::unique_ptr<function_task> owned(static_cast<function_task*>(self));
      owned->body();
    };
  }
  std::function<void()> body;
};

}  // namespace

template <class T>
struct loop::internals::wake_allocator {
  using value_type = T;

  explicit wake_allocator(wake_slot& slot) noexcept : to(&slot) {}
  template <class Other>
  wake_allocator(const wake_allocator<Other>& other) noexcept : to(other.to) {}  // NOLINT: as allocators do

  T* allocate([[maybe_unused]] std::size_t count) noexcept {
    static_assert(sizeof(T) <= wake_slot::size);
    assert(count == 1 && !to->taken);
    to->taken = true;
    return reinterpret_cast<T*>(to->octets);
  }
  void deallocate(T*, std::size_t) noexcept { to->taken = false; }

  template <class Other>
  bool operator==(const wake_allocator<Other>& other) const noexcept {
    return to == other.to;
  }

  wake_slot* to;
};

struct loop::internals::wake {
  using allocator_type = wake_allocator<void>;
  [[nodiscard]] allocator_type get_allocator() const noexcept { return allocator_type(of->wake_slot_); }
  void operator()() const noexcept { of->woken_ = true; }

  internals* of;
};

loop::internals::internals(std::string name) : thread_(std::move(name), [this] { run(); }) {}

loop::internals::~internals() {
  assert(!is_this_thread() && "a loop is destroyed from another thread");
  function_task* const stop = new function_task([this] { stopping_ = true; });
  post(*stop);
  thread_.join();
}

bool loop::internals::is_this_thread() const noexcept { return loop_of_this_thread == this; }

void loop::internals::post(flow::task& work) noexcept {
  if (is_this_thread()) return ready_.push(work);
  // The inbox is emptied only after the wake has run and its memory is free, so there is one wake at most.
  if (inbox_.push(work)) asio::post(io, wake{this});
}

void loop::internals::run() {
  loop_of_this_thread = this;
  while (turn() || !stopping_) {
  }
}

/// Returns whether there was anything to do.
bool loop::internals::turn() {
  const bool idle = ready_.empty() && turn_end_.empty();
  int done = run_handlers(idle && !stopping_);
  if (woken_) {
    woken_ = false;
    inbox_.take_all(ready_);
  }
  done += run_tasks(ready_, tasks_per_turn);
  internal::task_queue ending = std::exchange(turn_end_, {});
  done += run_tasks(ending, -1);
  return done != 0;
}

int loop::internals::run_handlers(bool wait) {
  int ran = wait ? static_cast<int>(io.run_one()) : 0;
  while (ran < handlers_per_turn && io.poll_one() != 0) ++ran;
  return ran;
}

/// Runs at most so many tasks, all of them if negative; returns how many.
int loop::internals::run_tasks(internal::task_queue& from, int most) {
  int ran = 0;
  for (; ran != most; ++ran) {
    flow::task* const work = from.pop();
    if (!work) break;
    work->run(work);
  }
  return ran;
}

loop::loop(std::string name) : inside_(std::make_unique<internals>(std::move(name))) {}
loop::~loop() = default;

void loop::post(flow::task& work) noexcept { inside_->post(work); }
void loop::post(std::function<void()> work) { inside_->post(*new function_task(std::move(work))); }
bool loop::is_this_thread() const noexcept { return inside_->is_this_thread(); }

}  // namespace weir::net
