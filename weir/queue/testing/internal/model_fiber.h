#pragma once

// Stacks that take turns inside one thread of the operating system, for the model checker.
//
// A switch saves the caller's registers and what the C++ runtime keeps for exceptions under way, and goes on where the
// other fiber was left. Nothing runs at the same time. The address and thread sanitizers are told of every switch.
//
// On x86-64 the switch is a dozen instructions; elsewhere, and where the processor guards return addresses, it is
// swapcontext, which asks the system for the signal mask each time: 450 ns a switch in place of 10.
//
// What it does not do: unwind. A fiber that is started afresh forgets its old stack, and what that stack owned is lost.

#include <cxxabi.h>
#include <sys/mman.h>

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

#if defined(__x86_64__) && !defined(__CET__) && !defined(WEIR_MODEL_UCONTEXT)
#define WEIR_MODEL_JUMP 1
#else
#include <ucontext.h>
#endif
// Lets no caller rely on which registers a function happens to leave alone.
#if defined(__GNUC__) && !defined(__clang__)
#define WEIR_MODEL_NOIPA [[gnu::noinline, gnu::noipa]]
#else
#define WEIR_MODEL_NOIPA [[gnu::noinline]]
#endif

namespace weir::queue::testing::model {

/// Whether this program is built with the address or the thread sanitizer. It then explores some 20 to 50 times slower,
/// so a test may do less.
#if defined(WEIR_MODEL_ASAN) || defined(WEIR_MODEL_TSAN)
inline constexpr bool is_instrumented = true;
#else
inline constexpr bool is_instrumented = false;
#endif

}  // namespace weir::queue::testing::model

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
    exceptions_.fill(std::byte{0});
#if defined(WEIR_MODEL_JUMP)
    // As jump() leaves a stack: where to go on, and then what a function finds when it is called, a return address. At
    // that moment a stack is 8 beyond a multiple of 16.
    auto** const return_address = reinterpret_cast<void**>(memory_ + guard_bytes + stack_bytes) - 3;
    *return_address = nullptr;
    return_address[-1] = reinterpret_cast<void*>(&start);
    at_ = return_address - 1;
#else
    ::getcontext(&context_);
    context_.uc_stack.ss_sp = memory_ + guard_bytes;
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    ::makecontext(&context_, &start, 0);
#endif
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
    leaving = &from;
    arriving = &to;
#if defined(WEIR_MODEL_JUMP)
    jump(&from.at_, to.at_);
#else
    ::swapcontext(&from.context_, &to.context_);
#endif
    from.arrive();
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  static constexpr std::size_t guard_bytes = 4096;

  // Of the switch under way.
  static inline thread_local fiber* leaving = nullptr;
  static inline thread_local fiber* arriving = nullptr;

  static void start() {
    fiber* const self = arriving;
    self->arrive();
    self->run_(self->argument_);
  }

#if defined(WEIR_MODEL_JUMP)
  /// Leaves the registers that a function must preserve on the stack, notes the stack, and takes up another one that
  /// was left like this. The floating point modes are those of the thread: nobody here changes them.
  WEIR_MODEL_NOIPA static void jump(void** from, void* to) noexcept {
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\t"  // a leaf function may use what is below its stack
        "pushq %%rbp\n\t"
        "pushq %%rbx\n\t"
        "pushq %%r12\n\t"
        "pushq %%r13\n\t"
        "pushq %%r14\n\t"
        "pushq %%r15\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "pushq %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %1, %%rsp\n\t"
        "popq %%rax\n\t"
        "jmpq *%%rax\n"
        "1:\n\t"
        "popq %%r15\n\t"
        "popq %%r14\n\t"
        "popq %%r13\n\t"
        "popq %%r12\n\t"
        "popq %%rbx\n\t"
        "popq %%rbp\n\t"
        "leaq 128(%%rsp), %%rsp\n\t"
        : "+D"(from), "+S"(to)
        :
        : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
          "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
#endif

  void arrive() noexcept {
#if defined(WEIR_MODEL_ASAN)
    // The stack that was left tells its bounds, which for the thread's own stack nobody else knows.
    __sanitizer_finish_switch_fiber(fake_stack_, &leaving->bottom_, &leaving->size_);
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
#if defined(WEIR_MODEL_JUMP)
  void* at_ = nullptr;  // the top of the stack that was left
#else
  ucontext_t context_{};
#endif
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
