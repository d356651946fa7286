#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weir/core/result.h>

namespace weir::net {

/// Where to listen or connect: "127.0.0.1:9001", "[::1]:9001", "localhost:9001", or "unix:/path/to/socket".
struct endpoint {
  std::string host;        ///< empty for a Unix socket
  std::uint16_t port = 0;  ///< 0 when listening: any free one
  std::string unix_path;   ///< empty for TCP

  static result<endpoint> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_unix() const noexcept { return !unix_path.empty(); }
  /// Whether only this machine can reach it: a Unix socket or a loopback address.
  [[nodiscard]] bool is_local() const;
};

}  // namespace weir::net
