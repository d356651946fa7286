#include <cassert>

#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket {

// Routing metadata is any number of tags, each an octet with its length and then its text; the first is the route.
// Source: https://github.com/rsocket/rsocket/blob/master/Extensions/Routing.md

bytes route_metadata(std::string_view route) {
  assert(route.size() <= 255);
  bytes metadata;
  metadata.reserve(1 + route.size());
  metadata.push_back(static_cast<std::uint8_t>(route.size()));
  append(metadata, as_bytes(route));
  return metadata;
}

result<std::string> route_of(bytes_view metadata) {
  if (metadata.empty()) return fail(errc::malformed, "the request's metadata names no route");
  const std::size_t length = metadata.front();
  if (metadata.size() - 1 < length) return fail(errc::malformed, "the route reaches past the end of the metadata");
  return std::string(as_text(metadata.subspan(1, length)));
}

}  // namespace weir::net::rsocket
