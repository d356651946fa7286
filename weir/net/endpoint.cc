#include <weir/net/endpoint.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <asio/ip/address.hpp>

namespace weir::net {

namespace {

constexpr std::string_view unix_prefix = "unix:";
constexpr std::size_t host_bytes_max = 253;       // a DNS name
constexpr std::size_t unix_path_bytes_max = 107;  // sockaddr_un::sun_path, less its final zero

error invalid(std::string_view text, std::string_view why) {
  return fail(
      errc::invalid_argument,
      fmt::format("'{}' is not an address: {} (127.0.0.1:9001, [::1]:9001, name:9001 or unix:/path)", text, why));
}

result<endpoint> parse_unix(std::string_view text) {
  const auto path = text.substr(unix_prefix.size());
  if (path.empty()) return invalid(text, "the path is missing");
  if (path.size() > unix_path_bytes_max) return invalid(text, "the path of a socket has at most 107 characters");
  if (path.find('\0') != path.npos) return invalid(text, "the path has a zero in it");
  endpoint at;
  at.unix_path = path;
  return at;
}

}  // namespace

result<endpoint> endpoint::parse(std::string_view text) {
  if (text.starts_with(unix_prefix)) return parse_unix(text);
  endpoint at;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find("]:");
    if (end == text.npos) return invalid(text, "']:' and a port are missing");
    at.host = text.substr(1, end - 1);
    port = text.substr(end + 2);
    asio::error_code bad;
    asio::ip::make_address_v6(at.host, bad);
    if (bad) return invalid(text, "what is in brackets is not an IPv6 address");
  } else {
    const auto colon = text.find(':');
    if (colon == text.npos) return invalid(text, "the port is missing");
    if (text.find(':', colon + 1) != text.npos) return invalid(text, "an IPv6 address stands in brackets");
    at.host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (at.host.empty()) return invalid(text, "the host is missing");
  if (at.host.size() > host_bytes_max) return invalid(text, "the host is too long");
  if (!std::all_of(at.host.begin(), at.host.end(), [](char c) { return c > ' ' && c < 0x7f; }))
    return invalid(text, "a host is written in ASCII, without blanks (as xn--… where its name is not)");
  const auto* const end = port.data() + port.size();
  const auto [rest, bad] = std::from_chars(port.data(), end, at.port);
  if (port.empty() || bad != std::errc{} || rest != end) return invalid(text, "the port is a number up to 65535");
  return at;
}

std::string endpoint::text() const {
  if (is_unix()) return fmt::format("{}{}", unix_prefix, unix_path);
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool endpoint::is_local() const {
  if (is_unix() || host == "localhost") return true;
  asio::error_code bad;
  const auto address = asio::ip::make_address(host, bad);
  return !bad && address.is_loopback();
}

}  // namespace weir::net
