#pragma once

#include <asio/basic_socket_acceptor.hpp>
#include <asio/generic/stream_protocol.hpp>

#include <weir/core/result.h>
#include <weir/net/endpoint.h>
#include <weir/net/loop.h>

namespace weir::net::internal {

using acceptor_socket = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

/// A socket that listens, and where.
struct listening {
  acceptor_socket socket;
  endpoint at;  ///< with the real port
};

/// Listens on the address; of a name's addresses, on the first that works. A Unix socket gets mode 0600; a socket file that
/// no process listens on any more is replaced.
///   Errors  address_in_use, permission, invalid_argument, io; each names the address.
///   Waits   for the look-up of a name.
result<listening> listen_on(loop& on, const endpoint& at);

}  // namespace weir::net::internal
