#pragma once

#include <functional>
#include <memory>

#include <weir/flow/executor.h>

namespace weir::net {

/// One event loop on one thread of its own. Everything about a connection happens on its loop's thread.
///   Threads  post from any thread; the loop is an executor for flows too. The destructor stops and joins: from another
///            thread only, and after every connection, server and requester on it has been closed or destroyed.
class loop final : public flow::executor {
 public:
  explicit loop(std::string name = "weir-loop");
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  void post(flow::task& work) noexcept override;
  void post(std::function<void()> work);  ///< allocates; for rare things
  [[nodiscard]] bool is_this_thread() const noexcept;

  struct internals;  ///< holds the Asio io_context; defined in internal/loop_internals.h
  [[nodiscard]] internals& inside() noexcept { return *inside_; }

 private:
  std::unique_ptr<internals> inside_;
};

}  // namespace weir::net
