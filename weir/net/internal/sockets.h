#pragma once

#include <optional>
#include <string>

#include <asio/generic/stream_protocol.hpp>

#include <weir/core/result.h>
#include <weir/net/endpoint.h>

namespace weir::net::internal {

using socket_address = asio::generic::stream_protocol::endpoint;

/// The address as the operating system wants it: a Unix path or a numeric host. Nothing for a name that must be looked up.
std::optional<socket_address> numeric_address(const endpoint& of);

/// The address as people write it.
endpoint endpoint_of(const socket_address& address);

/// "127.0.0.1:4711"; for a Unix socket, whose clients have no address, the path of the server.
std::string peer_text(const asio::generic::stream_protocol::socket& socket, const endpoint& server);

}  // namespace weir::net::internal
