// How long a sleeping thread takes to be woken: park_point beside what the platform offers.
//
//     ping-pong   two threads wake each other in turn; who spins first, as park_point does, rarely sleeps here
//     asleep      the waker lets the sleeper fall asleep first; from the call that wakes to the sleeper running again
//     waker       the same, but what the call itself costs the waker
//
// Every wake hands a number over; a wait that returns without the next number ends the program.

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <weir/queue/park_point.h>

#include "measure.h"
#include "queue_cells.h"

namespace weir::bench {
namespace {

/// The system call alone, no spinning: 0 quiet, 1 woken.
class raw_futex {
 public:
  void wait() {
    // Partner: the store in wake.
    while (word_.exchange(0, std::memory_order_acquire) == 0) call(FUTEX_WAIT_PRIVATE, 0);
  }
  void wake() {
    word_.store(1, std::memory_order_release);
    call(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  void call(int operation, std::uint32_t value) {
    static_assert(sizeof word_ == sizeof(std::uint32_t));
    ::syscall(SYS_futex, &word_, operation, value, nullptr, nullptr, 0);
  }
  std::atomic<std::uint32_t> word_{0};
};

class atomic_wait {
 public:
  void wait() {
    // Partner: the store in wake.
    while (word_.exchange(0, std::memory_order_acquire) == 0) word_.wait(0, std::memory_order_relaxed);
  }
  void wake() {
    word_.store(1, std::memory_order_release);
    word_.notify_one();
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

class semaphore_wait {
 public:
  void wait() { semaphore_.acquire(); }
  void wake() { semaphore_.release(); }

 private:
  std::binary_semaphore semaphore_{0};
};

class condition_wait {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    changed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;  // guarded by mutex_
};

class eventfd_wait {
 public:
  eventfd_wait() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("eventfd");
  }
  eventfd_wait(const eventfd_wait&) = delete;
  eventfd_wait& operator=(const eventfd_wait&) = delete;
  ~eventfd_wait() { ::close(descriptor_); }
  void wait() {
    std::uint64_t wakes = 0;
    if (::read(descriptor_, &wakes, sizeof wakes) != sizeof wakes) fail("eventfd: read");
  }
  void wake() {
    const std::uint64_t one = 1;
    if (::write(descriptor_, &one, sizeof one) != sizeof one) fail("eventfd: write");
  }

 private:
  int descriptor_;
};

/// A number that goes with a wake. Atomic, so that a broken wait is a wrong number and no undefined behaviour; relaxed,
/// because the wait under test is what must order it.
class handed {
 public:
  void give(std::uint64_t number) { number_.store(number, std::memory_order_relaxed); }
  void expect(std::uint64_t number) const {
    if (number_.load(std::memory_order_relaxed) != number) fail("wake-up: a wait returned without its wake");
  }

 private:
  std::atomic<std::uint64_t> number_{0};
};

template <class Wait>
double ping_pong(double seconds) {
  return 1e9 / rate(seconds, 64, [](std::uint64_t count) {
           alignas(queue::separation) Wait there;
           alignas(queue::separation) Wait back;
           alignas(queue::separation) handed number;
           start_line line(2);
           std::thread other([&] {
             pin_to(1);
             line.arrive_and_wait();
             for (std::uint64_t i = 0; i < count; ++i) {
               there.wait();
               number.expect(2 * i + 1);
               number.give(2 * i + 2);
               back.wake();
             }
           });
           double took = 0;
           std::thread one([&] {
             pin_to(0);
             line.arrive_and_wait();
             const auto began = clock::now();
             for (std::uint64_t i = 0; i < count; ++i) {
               number.give(2 * i + 1);
               there.wake();
               back.wait();
               number.expect(2 * i + 2);
             }
             took = seconds_since(began);
           });
           one.join();
           other.join();
           return took;
         });
}

struct wake_times {
  double to_run_ns;  ///< median
  double waker_ns;   ///< median
};

template <class Wait>
wake_times wake_sleepers(double seconds) {
  // Far longer than any spin before sleeping, so that the sleeper has been asleep for a while.
  constexpr std::chrono::microseconds until_asleep(120);
  const std::size_t rounds = std::max<std::size_t>(static_cast<std::size_t>(seconds / 160e-6), 5);
  alignas(queue::separation) Wait wait;
  alignas(queue::separation) handed number;
  alignas(queue::separation) std::atomic<std::uint64_t> woken{0};
  std::vector<clock::time_point> ran(rounds);
  std::vector<double> to_run, waker;
  start_line line(2);
  std::thread sleeper([&] {
    pin_to(1);
    line.arrive_and_wait();
    for (std::size_t i = 0; i < rounds; ++i) {
      wait.wait();
      ran[i] = clock::now();
      number.expect(i + 1);
      woken.store(i + 1, std::memory_order_release);
    }
  });
  std::thread one([&] {
    pin_to(0);
    line.arrive_and_wait();
    for (std::size_t i = 0; i < rounds; ++i) {
      for (const auto from = clock::now(); clock::now() - from < until_asleep;) queue::relax();
      number.give(i + 1);
      const auto called = clock::now();
      wait.wake();
      const auto returned = clock::now();
      patience running(false);
      // Partner: the sleeper's store; makes ran[i] visible.
      while (woken.load(std::memory_order_acquire) != i + 1) running.pause();
      to_run.push_back(std::chrono::duration<double, std::nano>(ran[i] - called).count());
      waker.push_back(std::chrono::duration<double, std::nano>(returned - called).count());
    }
  });
  one.join();
  sleeper.join();
  const auto median = [](std::vector<double>& of) {
    std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
    return of[of.size() / 2];
  };
  return {median(to_run), median(waker)};
}

template <class Wait>
void add(cells& to, const std::string& who) {
  to.push_back({"wake-up ping-pong", "one", who, "ns", ping_pong<Wait>});
  to.push_back({"wake-up asleep", "one", who, "ns", [](double s) { return wake_sleepers<Wait>(s).to_run_ns; }});
  to.push_back({"wake-up waker", "one", who, "ns", [](double s) { return wake_sleepers<Wait>(s).waker_ns; }});
}

}  // namespace

void add_wake_up(cells& to) {
  add<queue::park_point>(to, "weir.park_point");
  add<raw_futex>(to, "futex");
  add<atomic_wait>(to, "std::atomic::wait");
  add<semaphore_wait>(to, "std::binary_semaphore");
  add<condition_wait>(to, "std::condition_variable");
  add<eventfd_wait>(to, "eventfd");
}

}  // namespace weir::bench
