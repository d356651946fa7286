#pragma once

#include <functional>
#include <string>
#include <thread>

namespace weir {

/// A thread with a name, joined on destruction: no thread of Weir outlives its owner.
///   name  at most 15 characters: the operating system's limit.
class thread {
 public:
  thread() = default;
  thread(std::string name, std::function<void()> body);
  thread(thread&&) noexcept = default;
  thread& operator=(thread&&) noexcept = default;
  ~thread() = default;
  void join() {
    if (running_.joinable()) running_.join();
  }
  [[nodiscard]] bool is_this() const noexcept { return running_.get_id() == std::this_thread::get_id(); }

 private:
  std::jthread running_;
};

}  // namespace weir
