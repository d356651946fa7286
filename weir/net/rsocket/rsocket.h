#pragma once

// RSocket 1.0 in the flow vocabulary: a requester's calls give flows, a responder's handlers return them.
// Flow demand travels as REQUEST_N. See docs/design/0004-connection-and-rsocket.md.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <weir/core/bytes.h>
#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/net/endpoint.h>
#include <weir/net/loop.h>

namespace weir::net::rsocket {

struct payload {
  bytes data;
  std::optional<bytes> metadata;
};

/// A request's metadata that names `route` in the routing extension's form (message/x.rsocket.routing.v0).
bytes route_metadata(std::string_view route);
/// The first route that such metadata names.
result<std::string> route_of(bytes_view metadata);

/// What both sides agree on when a connection begins.
struct setup {
  std::string data_mime = "application/cbor";
  std::string metadata_mime = "message/x.rsocket.routing.v0";
  std::uint32_t keepalive_ms = limits::keepalive_ms;
  std::uint32_t lifetime_ms = limits::keepalive_lifetime_ms;
  payload content;
};

/// What a connection did so far.
struct counters {
  std::uint64_t frames_in = 0, frames_out = 0, bytes_in = 0, bytes_out = 0;
  std::uint64_t writes = 0;  ///< system calls: frames_out / writes is the bundling
  std::uint64_t bundle_bytes_largest = 0;
  std::uint64_t stalls = 0;  ///< times a sender was held back by a full outgoing buffer
};

using reply = flow::any_flow<payload>;
class requester;

/// What a side answers with. An empty handler refuses its interaction. Handlers run on the loop's thread and must not
/// block; the flows they return are pulled there too (put blocking work behind observe_on). The flow is destroyed when
/// it ends, when the requester cancels, or when the connection ends. A failed flow becomes an ERROR frame with the
/// error's message; response handlers' flows give exactly one item.
struct handlers {
  std::function<reply(payload request)> request_response;
  std::function<reply(payload request)> request_stream;
  /// Called once, on the loop's thread, when the connection is set up: with the way to ask the other side. That requester
  /// does not keep the connection open.
  std::function<void(requester back)> opened;
};

/// Decides about a new connection: the handlers to serve it with, or an error that refuses the setup.
using acceptor = std::function<result<handlers>(const setup& asked, const std::string& peer)>;

/// The calling side of one connection. A handle: copies of it and the flows of its requests share the connection, and it is
/// closed with the last of them, or by close().
///   Threads  shared: call and pull from any thread (each flow from one at a time).
class requester {
 public:
  /// Connects and sends SETUP; waits for the connection, at most `deadline`. Whether the other side accepts is not known
  /// then: if it refuses, streams fail with `refused`.
  ///   serve   what this side answers when the other side asks; by default everything is refused.
  ///   Waits   yes; not to be called on the loop's own thread.
  ///   Errors  unreachable, timed_out, each names the address; invalid_argument for a setup that cannot be sent.
  static result<requester> connect(loop& on, const endpoint& to, setup hello = {},
                                   std::chrono::milliseconds deadline = std::chrono::seconds(10), handlers serve = {});

  /// Asks for one item. The request is sent at the first pull. Fails with the peer's error, its code where the peer is a
  /// Weir and else `refused`, its message inside; with `disconnected` when the connection ended first.
  [[nodiscard]] reply request_response(payload request) const;

  /// Asks for a stream of items; at most `window` of them are on their way or waiting here. REQUEST_N refills the
  /// window when half of it has been taken. Destroying the flow sends CANCEL. The flow may outlive the requester, the
  /// connection and the loop: it gives the items that came, and then fails with `disconnected`.
  ///   window  1 to 65,536; other values are taken as the nearest.
  [[nodiscard]] reply request_stream(payload request, std::uint32_t window = limits::window_items) const;

  [[nodiscard]] counters count() const;
  [[nodiscard]] std::string peer() const;
  /// Ends the connection for all copies: open streams fail with `disconnected` after the items that came.
  void close() const;

  struct internals;
  explicit requester(std::shared_ptr<internals> inside);

 private:
  std::shared_ptr<internals> inside_;
};

/// Accepts connections and serves them.
class server {
 public:
  struct options {
    std::size_t connections_max = limits::connections_max;
    std::uint32_t setup_ms_max = limits::setup_ms_max;
    /// One line for each thing an operator should know (a stranger's bytes, a broken peer); called on the loop.
    std::function<void(const std::string&)> log;
  };
  ///   Errors  address_in_use, permission, invalid_argument; each names the address.
  static result<std::unique_ptr<server>> listen(loop& on, const endpoint& at, acceptor accept, options how);
  static result<std::unique_ptr<server>> listen(loop& on, const endpoint& at, acceptor accept) {
    return listen(on, at, std::move(accept), options{});
  }
  virtual ~server() = default;  ///< stops accepting and closes every connection; waits until they are gone

  [[nodiscard]] virtual endpoint address() const = 0;  ///< with the real port
  [[nodiscard]] virtual counters count() const = 0;    ///< of all connections, past ones too
  [[nodiscard]] virtual std::size_t connections() const = 0;
};

}  // namespace weir::net::rsocket
