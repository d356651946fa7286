#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <utility>

#include <weir/queue/sync.h>

namespace weir::queue::testing {

/// The machine, but for waiting: in its place runs what another thread would do meanwhile. So one thread is enough to
/// test who is woken by what, in an order that the test chooses.
///
///     scripted::meanwhile({[&] { consumer(); }});
///     box.push(item);  // where it would wait, consumer() runs, and must wake it
///
///   Threads  confined.
struct scripted : native {
  struct spin {
    bool step() noexcept { return false; }
    void pause() noexcept {
      ++sleeps_;
      if (script_.empty()) {
        give_up();
      } else {
        run_next();
      }
    }
  };

  /// What is done while somebody waits, one thing at a time; what is left of an earlier script is dropped. `rescue` is
  /// done if the waiting one has not been woken by then: it must end the wait, or the program ends; and
  /// slept_for_ever() tells.
  static void meanwhile(std::deque<std::function<void()>> script, std::function<void()> rescue) {
    script_ = std::move(script);
    rescue_ = std::move(rescue);
    slept_for_ever_ = false;
    sleeps_ = 0;
  }
  [[nodiscard]] static bool slept_for_ever() { return slept_for_ever_; }
  [[nodiscard]] static int sleeps() { return sleeps_; }

  static void wait(const atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
    if (word.load() != value) return;
    ++sleeps_;
    while (word.load() == value) {
      if (script_.empty()) return give_up();
      run_next();
    }
  }
  /// Deadlines pass when the script is over.
  static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t value,
                         std::chrono::steady_clock::time_point) noexcept {
    if (word.load() != value) return true;
    ++sleeps_;
    while (word.load() == value) {
      if (script_.empty()) return false;
      run_next();
    }
    return true;
  }
  static void wake_one(const atomic<std::uint32_t>&) noexcept {}
  static void wake_all(const atomic<std::uint32_t>&) noexcept {}

 private:
  static void give_up() {
    // A rescue that did not help: the wait would go on for ever.
    if (slept_for_ever_) std::abort();
    slept_for_ever_ = true;
    rescue_();
  }
  static void run_next() {
    const auto next = std::move(script_.front());
    script_.pop_front();
    next();
  }

  static inline std::deque<std::function<void()>> script_;
  static inline std::function<void()> rescue_;
  static inline bool slept_for_ever_ = false;
  static inline int sleeps_ = 0;
};

}  // namespace weir::queue::testing
