#pragma once

// For tests: the other end of a connection, without any of the code under test. Blocking, on the test's own thread; a wait
// that lasts 20 s means that the test has failed.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <cstring>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include <weir/core/bytes.h>
#include <weir/net/endpoint.h>

namespace weir::net::testing {

class raw_peer {
 public:
  /// Connects to a numeric IPv4 address or a Unix socket.
  ///   receive_bytes  the size of the socket's receive buffer, for peers that do not read; 0 leaves it.
  explicit raw_peer(const endpoint& to, int receive_bytes = 0) {
    socket_ = ::socket(to.is_unix() ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    const timeval most{20, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (receive_bytes != 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    int answer = -1;
    if (to.is_unix()) {
      sockaddr_un at{};
      at.sun_family = AF_UNIX;
      std::memcpy(at.sun_path, to.unix_path.data(), to.unix_path.size());
      answer = ::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    } else {
      sockaddr_in at{};
      at.sin_family = AF_INET;
      at.sin_port = htons(to.port);
      ::inet_pton(AF_INET, to.host.c_str(), &at.sin_addr);
      answer = ::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    }
    EXPECT_EQ(answer, 0) << to.text() << ": " << std::strerror(errno);
  }
  raw_peer(raw_peer&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  raw_peer& operator=(raw_peer&&) = delete;
  ~raw_peer() {
    if (socket_ >= 0) ::close(socket_);
  }

  /// Sends everything; false once the other side has gone.
  bool send(bytes_view octets) {
    while (!octets.empty()) {
      const ssize_t count = ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      octets = octets.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

  /// Sends as much as goes without waiting.
  std::size_t send_some(bytes_view octets) {
    const ssize_t count = ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

  /// Exactly so many octets; fewer if the connection ends before.
  bytes receive(std::size_t count) {
    bytes octets(count);
    std::size_t at = 0;
    while (at < count) {
      const ssize_t more = ::recv(socket_, octets.data() + at, count - at, 0);
      if (more <= 0) {
        EXPECT_TRUE(more == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) << "nothing came for 20 s";
        break;
      }
      at += static_cast<std::size_t>(more);
    }
    octets.resize(at);
    return octets;
  }

  /// The next frame of a length in 24 bits, without that length; nothing at the end of the connection.
  std::optional<bytes> receive_frame() {
    const bytes length = receive(3);
    if (length.size() < 3) return std::nullopt;
    const auto size = std::size_t{length[0]} << 16 | std::size_t{length[1]} << 8 | length[2];
    bytes frame = receive(size);
    if (frame.size() < size) return std::nullopt;
    return frame;
  }

  /// Everything until the other side closes.
  bytes receive_all() {
    bytes all;
    for (;;) {
      const bytes more = receive(1);
      if (more.empty()) return all;
      append(all, more);
    }
  }

  void shut_down_sending() { ::shutdown(socket_, SHUT_WR); }

 private:
  int socket_ = -1;
};

}  // namespace weir::net::testing
