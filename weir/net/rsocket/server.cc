#include <atomic>
#include <cassert>
#include <filesystem>
#include <future>
#include <unordered_map>

#include <fmt/format.h>

#include <asio/steady_timer.hpp>

#include <weir/net/internal/listener.h>
#include <weir/net/internal/sockets.h>
#include <weir/net/rsocket/internal/counters_of.h>
#include <weir/net/rsocket/internal/session.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket {

namespace {

/// Connections above the limit that are being told so; further ones are closed without a word.
constexpr std::size_t refusals_max = 64;
/// How long accepting pauses when the process is out of descriptors: long enough not to spin, short for who waits.
constexpr auto accept_pause = std::chrono::milliseconds(100);

/// The part that lives on the loop; pending accepts hold it.
class hall : public std::enable_shared_from_this<hall> {
 public:
  hall(loop& on, net::internal::listening listening, acceptor accept, server::options how)
      : loop_(on),
        socket_(std::move(listening.socket)),
        at_(std::move(listening.at)),
        accept_(std::move(accept)),
        how_(std::move(how)),
        pause_(on.inside().io) {}

  void accept_next() {
    socket_.async_accept([self = shared_from_this()](asio::error_code failed, net::internal::stream_socket socket) {
      if (self->closing_) return;
      if (!failed) {
        self->admit(std::move(socket));
        return self->accept_next();
      }
      if (failed == asio::error::connection_aborted) return self->accept_next();
      self->log(fmt::format("cannot accept on {}: {}", self->at_.text(), failed.message()));
      self->pause_.expires_after(accept_pause);
      self->pause_.async_wait([self](asio::error_code cancelled) {
        if (!cancelled && !self->closing_) self->accept_next();
      });
    });
  }

  /// Closes everything; `gone` is told when it is.
  void close(std::shared_ptr<std::promise<void>> gone) {
    closing_ = true;
    gone_ = std::move(gone);
    asio::error_code ignored;
    socket_.close(ignored);
    pause_.cancel();
    if (at_.is_unix()) {
      std::error_code missing;
      std::filesystem::remove(at_.unix_path, missing);
    }
    const error why = fail(errc::disconnected, fmt::format("the server on {} has ended", at_.text()));
    for (const auto& [session, held] : std::unordered_map(sessions_)) {
      if (const auto alive = held.lock()) alive->abort(why);
    }
    tell_if_gone();
  }

  [[nodiscard]] const endpoint& at() const noexcept { return at_; }
  [[nodiscard]] counters count() const noexcept { return internal::counters_of(*counters_); }
  [[nodiscard]] std::size_t connections() const noexcept { return connections_.load(std::memory_order_relaxed); }

 private:
  void admit(net::internal::stream_socket socket) {
    const std::size_t open = sessions_.size();
    if (open >= how_.connections_max + refusals_max) return;  // the socket's destructor closes it
    internal::session_config config;
    config.side = internal::role::server;
    config.accept = accept_;
    config.setup_ms_max = how_.setup_ms_max;
    config.log = how_.log;
    config.gone = [self = shared_from_this()](internal::session& gone) { self->leave(gone); };
    config.counters = counters_;
    auto peer = net::internal::peer_text(socket, at_);
    const auto session =
        std::make_shared<internal::session>(loop_, std::move(socket), std::move(peer), std::move(config));
    sessions_.emplace(session.get(), session);
    connections_.store(sessions_.size(), std::memory_order_relaxed);
    if (open >= how_.connections_max) {
      session->refuse(fail(errc::refused, fmt::format("{} connections are open, no more are accepted", open)));
    } else {
      session->start();
    }
  }

  void leave(internal::session& gone) {
    sessions_.erase(&gone);
    connections_.store(sessions_.size(), std::memory_order_relaxed);
    tell_if_gone();
  }

  void tell_if_gone() {
    if (gone_ && sessions_.empty()) std::exchange(gone_, nullptr)->set_value();
  }

  void log(const std::string& line) const {
    if (how_.log) how_.log(line);
  }

  loop& loop_;
  net::internal::acceptor_socket socket_;
  const endpoint at_;
  const acceptor accept_;
  const server::options how_;
  const std::shared_ptr<net::internal::live_counters> counters_ = std::make_shared<net::internal::live_counters>();
  std::unordered_map<internal::session*, std::weak_ptr<internal::session>> sessions_;
  std::atomic<std::size_t> connections_ = 0;  // written on the loop's thread, read for people
  asio::steady_timer pause_;
  bool closing_ = false;
  std::shared_ptr<std::promise<void>> gone_;  // set by close
};

class listening_server final : public server {
 public:
  listening_server(loop& on, std::shared_ptr<hall> inside) : loop_(on), hall_(std::move(inside)) {}
  listening_server(const listening_server&) = delete;
  listening_server& operator=(const listening_server&) = delete;

  ~listening_server() override {
    assert(!loop_.is_this_thread() && "a server is destroyed from another thread than its loop's");
    // Shared, because this thread may go on while the loop's is still inside set_value.
    const auto gone = std::make_shared<std::promise<void>>();
    // The hall is let go on the loop's thread, where its sockets belong.
    loop_.post([gone, inside = std::move(hall_)] { inside->close(gone); });
    gone->get_future().wait();
  }

  [[nodiscard]] endpoint address() const override { return hall_->at(); }
  [[nodiscard]] counters count() const override { return hall_->count(); }
  [[nodiscard]] std::size_t connections() const override { return hall_->connections(); }

 private:
  loop& loop_;
  std::shared_ptr<hall> hall_;
};

}  // namespace

result<std::unique_ptr<server>> server::listen(loop& on, const endpoint& at, acceptor accept, options how) {
  WEIR_TRY(auto listening, net::internal::listen_on(on, at));
  auto inside = std::make_shared<hall>(on, std::move(listening), std::move(accept), std::move(how));
  on.post([inside] { inside->accept_next(); });
  return std::unique_ptr<server>(std::make_unique<listening_server>(on, std::move(inside)));
}

}  // namespace weir::net::rsocket
