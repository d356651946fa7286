#pragma once

// The messages a node answers besides those of a merge, and their octets. docs/design/0007-node-and-command.md lists the
// routes; requests and replies are DAG-CBOR, and rows of a query are JSON for a peer whose SETUP says so.

#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>
#include <weir/merge/merge.h>
#include <weir/node/api.h>

namespace weir::node {

// Answered to every peer.
inline constexpr std::string_view id_route = "weir.id";        ///< request-response: nothing → identity
inline constexpr std::string_view query_route = "weir.query";  ///< request-stream: query text → a row each
inline constexpr std::string_view get_route = "weir.get";      ///< request-response: CID text → the block's octets

// Answered on the control socket only: whoever can open it may act as the node's owner.
inline constexpr std::string_view status_route = "control.status";    ///< request-response: nothing → status
inline constexpr std::string_view publish_route = "control.publish";  ///< request-response: publication → published
inline constexpr std::string_view merge_route = "control.merge";      ///< request-stream: merge_order → progress each
inline constexpr std::string_view check_route = "control.check";      ///< request-response: nothing → damage

struct merge_order {
  std::string peer;
  std::string query;
  std::uint64_t lanes = limits::lanes;
};

bytes encode(const identity& what);
bytes encode(const status& what);
bytes encode(const publication& what);
bytes encode(const published& what);
bytes encode(const merge_order& what);
bytes encode(const merge::progress& what);
bytes encode(const store::row& what);
bytes encode(const store::damage& what);

// Strict readers: another spelling is malformed, more than a limit too_large.
result<identity> decode_identity(bytes_view octets);
result<status> decode_status(bytes_view octets);
result<publication> decode_publication(bytes_view octets);
result<published> decode_published(bytes_view octets);
result<merge_order> decode_merge_order(bytes_view octets);
result<merge::progress> decode_progress(bytes_view octets);
result<store::row> decode_row(bytes_view octets);
result<store::damage> decode_damage(bytes_view octets);

/// A row as one line of JSON: id, counter, bundle, publisher, namespace, object, refs, tags, deps, timestamp.
result<std::string> row_json(const store::row& what);

}  // namespace weir::node
