#include <weir/net/internal/connector.h>

#include <deque>
#include <memory>

#include <fmt/format.h>

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>

#include <weir/net/internal/loop_internals.h>
#include <weir/net/internal/sockets.h>

namespace weir::net::internal {

namespace {

/// One attempt; its pending operations hold it.
class attempt : public std::enable_shared_from_this<attempt> {
 public:
  attempt(loop& on, const endpoint& to, std::function<void(result<stream_socket>)> then)
      : to_(to),
        then_(std::move(then)),
        resolver_(on.inside().io),
        socket_(on.inside().io),
        deadline_(on.inside().io) {}

  void start(std::chrono::milliseconds deadline) {
    deadline_.expires_after(deadline);
    deadline_.async_wait([self = shared_from_this(), deadline](asio::error_code cancelled) {
      if (!cancelled) {
        self->end(
            fail(errc::timed_out, fmt::format("{} did not answer within {} ms", self->to_.text(), deadline.count())));
      }
    });
    if (const auto address = numeric_address(to_)) {
      addresses_.push_back(*address);
      return next();
    }
    resolver_.async_resolve(to_.host, std::to_string(to_.port), asio::ip::tcp::resolver::numeric_service,
                            [self = shared_from_this()](asio::error_code failed, const auto& found) {
                              if (self->ended()) return;
                              for (const auto& entry : found) self->addresses_.emplace_back(entry.endpoint());
                              self->failed_ = failed;
                              self->next();
                            });
  }

 private:
  [[nodiscard]] bool ended() const noexcept { return then_ == nullptr; }

  void next() {
    if (addresses_.empty()) return end(failure());
    const auto address = addresses_.front();
    addresses_.pop_front();
    asio::error_code ignored;
    socket_.close(ignored);
    socket_.async_connect(address, [self = shared_from_this()](asio::error_code failed) {
      if (self->ended()) return;
      if (!failed) return self->end(std::move(self->socket_));
      self->failed_ = failed;
      self->next();
    });
  }

  [[nodiscard]] error failure() const {
    const auto code = failed_ == asio::error::access_denied ? errc::permission : errc::unreachable;
    return fail(code, fmt::format("cannot connect to {}: {}", to_.text(), failed_.message()), failed_.value());
  }

  void end(result<stream_socket> outcome) {
    if (ended()) return;
    const auto then = std::exchange(then_, nullptr);
    deadline_.cancel();
    resolver_.cancel();
    then(std::move(outcome));
    asio::error_code ignored;
    socket_.close(ignored);
  }

  const endpoint to_;
  std::function<void(result<stream_socket>)> then_;
  asio::ip::tcp::resolver resolver_;
  stream_socket socket_;
  asio::steady_timer deadline_;
  std::deque<socket_address> addresses_;
  asio::error_code failed_ = asio::error::host_not_found;
};

}  // namespace

void connect(loop& on, const endpoint& to, std::chrono::milliseconds deadline,
             std::function<void(result<stream_socket>)> then) {
  on.post([&on, to, deadline, then = std::move(then)] { std::make_shared<attempt>(on, to, then)->start(deadline); });
}

}  // namespace weir::net::internal
