#pragma once

// One RSocket connection, seen from one side: both a requester and a responder.
//
//     connection --octets--> on_octets --frames--> requested_stream (items in)
//                                             \--> served_stream    (credit in)
//     requested_stream, served_stream --round--> send_round --frames--> connection
//
// A session is alive as long as its connection has work, see net/internal/connection.h. It ends once, in end(): the link
// closes, streams that were asked for fail after the items they have, flows that were being served are destroyed, and
// last the connection closes. Nothing is sent or delivered after that.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <asio/steady_timer.hpp>

#include <weir/net/internal/connection.h>
#include <weir/net/rsocket/frame.h>
#include <weir/net/rsocket/internal/link.h>
#include <weir/net/rsocket/internal/reassembly.h>
#include <weir/net/rsocket/internal/requested_stream.h>
#include <weir/net/rsocket/internal/round.h>
#include <weir/net/rsocket/internal/served_stream.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket::internal {

/// The largest first frame a server reads: whoever connects has not said yet who it is.
inline constexpr std::size_t setup_bytes_max = 64 * limits::KiB;
/// The largest data of a KEEPALIVE, which must be sent back.
inline constexpr std::size_t keepalive_bytes_max = 4 * limits::KiB;

enum class role : std::uint8_t { client, server };

struct session_config {
  role side = role::client;
  setup hello;      ///< client: what it asks for
  handlers serve;   ///< client: what it answers with
  acceptor accept;  ///< server: decides about the client
  std::uint32_t setup_ms_max = limits::setup_ms_max;
  std::function<void(const std::string&)> log;  ///< may be empty
  std::function<void(session&)> gone;           ///< called once, when the connection is closed; may be empty
  std::shared_ptr<net::internal::live_counters> counters;
};

/// See above.
///   Threads  confined to the loop's, but for the destructor when the loop is destroyed first.
class session final : public net::internal::connection_events, public std::enable_shared_from_this<session> {
 public:
  session(loop& on, net::internal::stream_socket socket, std::string peer, session_config how);
  ~session();

  /// Client: sends SETUP. Server: waits for one.
  void start();
  /// Server, instead of start: tells the client that it is refused, and ends.
  void refuse(const error& why);
  /// Ends; the peer has a moment to read what is queued.
  void close(error why);
  /// Ends and closes at once.
  void abort(error why);

  [[nodiscard]] const std::shared_ptr<link>& linked() const noexcept { return link_; }

  // --- for the streams -------------------------------------------------------------------------------------------------

  [[nodiscard]] loop& on() noexcept { return loop_; }
  [[nodiscard]] net::internal::connection& wire() noexcept { return wire_; }
  /// Puts the stream into the round; send_round gives it its turn.
  void has_more(sender& stream) noexcept { round_.add(stream); }
  void send_round();
  void forget(sender& stream) noexcept { round_.remove(stream); }

  void open(const std::shared_ptr<requested_stream>& stream);
  void request_more(const requested_stream& stream, std::uint32_t more);
  void cancel(requested_stream& stream);
  void end_served(std::uint32_t id);

  // --- connection_events -------------------------------------------------------------------------------------------------

  taken on_octets(bytes_view octets) override;
  void on_writable() override { send_round(); }
  void on_closed(const error& why) override;

 private:
  struct round_task : flow::task {
    session* of = nullptr;
    std::shared_ptr<session> alive;  ///< set while the task is posted
  };
  enum class ending : std::uint8_t { polite, immediate };

  // setup
  bool is_stranger(bytes_view octets);
  void on_first_frame(const frame& f);
  void on_setup(const frame& f);
  void reject(error_code code, const error& why);
  void begin();

  // frames
  void on_frame(bytes_view octets);
  void dispatch(const frame& f);
  void on_keepalive(const frame& f);
  void on_connection_error(const frame& f);
  void on_stream_error(const frame& f);
  void on_request(const frame& f);
  void on_payload(const frame& f);
  void on_fragment(const frame& f);
  void on_request_n(const frame& f);
  void on_cancel(std::uint32_t id);
  void serve(std::uint32_t id, reassembly::whole request);
  void deliver(std::uint32_t id, std::uint16_t flags, payload&& item);
  void end_requested(std::uint32_t id, std::optional<error> failure);
  void wake_consumers();

  void send(const frame& f);
  void send_error(std::uint32_t stream, error_code code, std::string_view text);
  void protocol_error(error_code code, std::string_view what);
  [[nodiscard]] bool is_of_peer(std::uint32_t id) const noexcept { return (id % 2 == 1) == (side_ == role::server); }

  // time
  void await(std::uint32_t ms, void (session::*then)());
  void on_setup_late();
  void await_keepalive();
  void on_keepalive_due();

  void end(error why, ending how);
  void end_streams(const error& why);
  void log(const std::string& line) const;

  loop& loop_;
  const role side_;
  session_config how_;
  const std::shared_ptr<link> link_;
  net::internal::connection wire_;
  asio::steady_timer timer_;

  bool ended_ = false;
  bool half_a_frame_ = false;  // the beginning of a frame has come and not its end
  bool set_up_ = false;        // server: a SETUP was accepted. Client: its own was sent
  bool established_ = false;   // client: the peer has answered something
  handlers serve_;

  std::uint32_t next_id_;
  std::unordered_map<std::uint32_t, std::shared_ptr<requested_stream>> requested_;
  std::unordered_map<std::uint32_t, std::unique_ptr<served_stream>> served_;
  std::vector<std::shared_ptr<requested_stream>> have_news_;
  reassembly parts_;
  round round_;
  round_task round_task_;

  std::uint32_t keepalive_ms_ = 0;
  std::uint32_t lifetime_ms_ = 0;
  std::uint64_t heard_ns_ = 0;
};

}  // namespace weir::net::rsocket::internal

namespace weir::net::rsocket {

struct requester::internals {
  internals(std::shared_ptr<internal::link> over, bool closes_at_end) : link(std::move(over)), closes(closes_at_end) {}
  ~internals();
  internals(const internals&) = delete;
  internals& operator=(const internals&) = delete;

  const std::shared_ptr<internal::link> link;
  const bool closes;  ///< a client's connection ends with its last handle; a server's belongs to the server
};

}  // namespace weir::net::rsocket
