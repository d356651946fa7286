#pragma once

// Stacks that take turns inside one thread of the operating system, for the model checker.
//
// A switch saves the caller's registers and what the C++ runtime keeps for exceptions under way, and goes on where the
// other fiber was left. Nothing runs at the same time. The address and thread sanitizers are told of every switch.
//
// What it does not do: unwind. A fiber that is started afresh forgets its old stack, and what that stack owned is lost.

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define WEIR_MODEL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEIR_MODEL_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WEIR_MODEL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_MODEL_TSAN 1
#endif
#endif

#if defined(WEIR_MODEL_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if defined(WEIR_MODEL_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace weir::queue::testing::model::internal {

/// A stack of its own on which a function runs, or the stack of the thread that made it.
///   Threads  confined to the thread that made it.
///   Memory   a quarter of a MiB of addresses; the pages that were touched.
class fiber {
 public:
  using entry = void (*)(void*);

  /// Stands for the caller's own stack.
  fiber() noexcept { adopt_current(); }

  /// A fiber that calls `run(argument)` when it is first switched to. `run` must not return.
  fiber(entry run, void* argument) : run_(run), argument_(argument) {
    void* const memory =
        ::mmap(nullptr, stack_bytes + guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    // Stacks grow downwards: an overflow meets the guard, not a neighbour.
    if (::mprotect(memory_ + guard_bytes, stack_bytes, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(memory_, stack_bytes + guard_bytes);
      throw std::bad_alloc();
    }
    restart();
  }

  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  ~fiber() {
    if (memory_ == nullptr) return;
    forget();
    ::munmap(memory_, stack_bytes + guard_bytes);
  }

  /// Lets the next switch call the function from the start.
  void restart() noexcept {
    forget();
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = memory_ + guard_bytes;
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    exceptions_.fill(std::byte{0});
    // makecontext hands over ints only.
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    ::makecontext(&context_, reinterpret_cast<void (*)()>(&start), 2, static_cast<unsigned>(self >> 32),
                  static_cast<unsigned>(self));
#if defined(WEIR_MODEL_ASAN)
    bottom_ = memory_ + guard_bytes;
    size_ = stack_bytes;
    __asan_unpoison_memory_region(memory_ + guard_bytes, stack_bytes);
#endif
#if defined(WEIR_MODEL_TSAN)
    tsan_ = __tsan_create_fiber(0);
#endif
  }

  /// Leaves the caller's fiber, which `from` stands for, and goes on in `to`; returns when something switches back.
  static void switch_to(fiber& from, fiber& to) noexcept {
    std::memcpy(from.exceptions_.data(), abi::__cxa_get_globals(), from.exceptions_.size());
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), to.exceptions_.data(), to.exceptions_.size());
#if defined(WEIR_MODEL_ASAN)
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.size_);
#endif
#if defined(WEIR_MODEL_TSAN)
    // Flag 0: everything before the switch happens before what follows, so that only real threads can race.
    __tsan_switch_to_fiber(to.tsan_, 0);
#endif
    arrived_from = &from;
    ::swapcontext(&from.context_, &to.context_);
    from.arrive();
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  static constexpr std::size_t guard_bytes = 4096;

  static inline thread_local fiber* arrived_from = nullptr;

  static void start(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
    self->arrive();
    self->run_(self->argument_);
  }

  void arrive() noexcept {
#if defined(WEIR_MODEL_ASAN)
    // The stack that was left tells its bounds, which for the thread's own stack nobody else knows.
    __sanitizer_finish_switch_fiber(fake_stack_, &arrived_from->bottom_, &arrived_from->size_);
#endif
  }

  void adopt_current() noexcept {
#if defined(WEIR_MODEL_TSAN)
    tsan_ = __tsan_get_current_fiber();
#endif
  }

  void forget() noexcept {
#if defined(WEIR_MODEL_TSAN)
    if (tsan_ != nullptr) __tsan_destroy_fiber(tsan_);
    tsan_ = nullptr;
#endif
#if defined(WEIR_MODEL_ASAN)
    fake_stack_ = nullptr;
#endif
  }

  entry run_ = nullptr;
  void* argument_ = nullptr;
  std::byte* memory_ = nullptr;
  ucontext_t context_{};
  // The C++ ABI's __cxa_eh_globals: the exceptions caught and the number of those in flight.
  std::array<std::byte, sizeof(void*) * 2> exceptions_{};
#if defined(WEIR_MODEL_ASAN)
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#endif
#if defined(WEIR_MODEL_TSAN)
  void* tsan_ = nullptr;
#endif
};

}  // namespace weir::queue::testing::model::internal
