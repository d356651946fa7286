#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <weir/core/result.h>
#include <weir/net/internal/live_counters.h>
#include <weir/net/loop.h>

namespace weir::net::rsocket::internal {

class session;

/// What outlives a connection: the way from handles and flows, on any thread, to the session on the loop, for as long as
/// there is one. Once closed it says why, and nothing reaches the loop any more; the loop may then be destroyed.
///   Threads  shared, but for `on_loop`.
class link {
 public:
  link(loop& on, std::string peer, std::shared_ptr<net::internal::live_counters> counters)
      : peer_(std::move(peer)), counters_(std::move(counters)), loop_(&on) {}

  /// Posts to the loop; false if the connection has ended, and then the task was not touched.
  [[nodiscard]] bool post(flow::task& work) noexcept {
    const std::lock_guard hold(lock_);
    if (loop_) loop_->post(work);
    return loop_ != nullptr;
  }
  void post(std::function<void()> work) {
    const std::lock_guard hold(lock_);
    if (loop_) loop_->post(std::move(work));
  }

  void close(error why) {
    const std::lock_guard hold(lock_);
    loop_ = nullptr;
    why_ = std::move(why);
  }
  /// Why the connection ended; means something once it has.
  [[nodiscard]] error why() const {
    const std::lock_guard hold(lock_);
    return why_;
  }

  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }
  [[nodiscard]] const net::internal::live_counters& counters() const noexcept { return *counters_; }

  session* on_loop = nullptr;  ///< touched on the loop's thread only; null before the session begins and after its end

 private:
  const std::string peer_;
  const std::shared_ptr<net::internal::live_counters> counters_;
  mutable std::mutex lock_;
  loop* loop_;  // guarded by lock_; null once the connection has ended
  error why_;   // guarded by lock_
};

}  // namespace weir::net::rsocket::internal
