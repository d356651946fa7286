#include <weir/net/internal/listener.h>

#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/socket_base.hpp>

#include <weir/net/internal/loop_internals.h>
#include <weir/net/internal/sockets.h>

namespace weir::net::internal {

namespace fs = std::filesystem;

namespace {

error cannot_listen(const endpoint& at, asio::error_code why) {
  auto code = errc::io;
  if (why == asio::error::address_in_use) code = errc::address_in_use;
  if (why == asio::error::access_denied) code = errc::permission;
  if (why == std::errc::address_not_available) code = errc::invalid_argument;
  return fail(code, fmt::format("cannot listen on {}: {}", at.text(), why.message()), why.value());
}

result<std::vector<socket_address>> addresses_of(const endpoint& at) {
  if (const auto address = numeric_address(at)) return std::vector{*address};
  asio::io_context here;
  asio::ip::tcp::resolver resolver(here);
  asio::error_code failed;
  const auto found = resolver.resolve(at.host, std::to_string(at.port), asio::ip::tcp::resolver::passive, failed);
  if (failed) {
    return fail(errc::invalid_argument, fmt::format("cannot listen on {}: {}", at.text(), failed.message()),
                failed.value());
  }
  std::vector<socket_address> addresses;
  for (const auto& entry : found) addresses.emplace_back(entry.endpoint());
  return addresses;
}

/// Removes the socket file of a process that has ended. Whether one listens is asked by connecting.
result<void> make_way(const endpoint& at) {
  std::error_code missing;
  const auto status = fs::symlink_status(at.unix_path, missing);
  if (!fs::exists(status)) return {};
  if (!fs::is_socket(status)) {
    return fail(errc::address_in_use, fmt::format("cannot listen on {}: there is a file that is no socket", at.text()));
  }
  asio::io_context here;
  asio::local::stream_protocol::socket probe(here);
  asio::error_code refused;
  probe.connect(asio::local::stream_protocol::endpoint(at.unix_path), refused);
  if (refused != asio::error::connection_refused) {
    return fail(errc::address_in_use, fmt::format("cannot listen on {}: another process does", at.text()));
  }
  std::error_code failed;
  fs::remove(at.unix_path, failed);
  if (failed) return cannot_listen(at, asio::error_code(failed.value(), asio::system_category()));
  return {};
}

asio::error_code try_listen(acceptor_socket& socket, const socket_address& address, const endpoint& at) {
  asio::error_code failed;
  socket.open(address.protocol(), failed);
  if (failed) return failed;
  if (!at.is_unix()) {
    socket.set_option(asio::socket_base::reuse_address(true), failed);
    if (failed) return failed;
  }
  socket.bind(address, failed);
  if (failed) return failed;
  if (at.is_unix()) {
    // Between bind and listen nobody can connect, so no connection is made under a wider mode.
    std::error_code mode;
    fs::permissions(at.unix_path, fs::perms::owner_read | fs::perms::owner_write, mode);
    if (mode) return {mode.value(), asio::system_category()};
  }
  socket.listen(asio::socket_base::max_listen_connections, failed);
  return failed;
}

}  // namespace

result<listening> listen_on(loop& on, const endpoint& at) {
  WEIR_TRY(const auto addresses, addresses_of(at));
  if (at.is_unix()) WEIR_CHECK(make_way(at));
  asio::error_code failed = asio::error::host_not_found;
  for (const auto& address : addresses) {
    acceptor_socket socket(on.inside().io);
    failed = try_listen(socket, address, at);
    if (failed) continue;
    const endpoint real = at.is_unix() ? at : endpoint_of(socket.local_endpoint());
    return listening{std::move(socket), real};
  }
  return cannot_listen(at, failed);
}

}  // namespace weir::net::internal
