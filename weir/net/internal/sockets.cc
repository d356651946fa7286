#include <weir/net/internal/sockets.h>

#include <cassert>
#include <cstring>

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>

namespace weir::net::internal {

std::optional<socket_address> numeric_address(const endpoint& of) {
  if (of.is_unix()) return socket_address(asio::local::stream_protocol::endpoint(of.unix_path));
  asio::error_code is_name;
  const auto address = asio::ip::make_address(of.host, is_name);
  if (is_name) return std::nullopt;
  return socket_address(asio::ip::tcp::endpoint(address, of.port));
}

endpoint endpoint_of(const socket_address& address) {
  endpoint found;
  if (address.protocol().family() == AF_UNIX) {
    asio::local::stream_protocol::endpoint local;
    std::memcpy(local.data(), address.data(), address.size());
    local.resize(address.size());
    found.unix_path = local.path();
    return found;
  }
  asio::ip::tcp::endpoint tcp;
  assert(address.size() <= tcp.capacity());
  std::memcpy(tcp.data(), address.data(), address.size());
  found.host = tcp.address().to_string();
  found.port = tcp.port();
  return found;
}

std::string peer_text(const asio::generic::stream_protocol::socket& socket, const endpoint& server) {
  if (server.is_unix()) return server.text();
  asio::error_code gone;
  const auto address = socket.remote_endpoint(gone);
  return gone ? "a client that has gone" : endpoint_of(address).text();
}

}  // namespace weir::net::internal
