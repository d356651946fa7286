#pragma once

// What two stores say to each other. Every message is a payload of an RSocket stream; docs/design/0006-merge-protocol.md
// has the pictures.
//
//   route        request                    items of the reply
//   weir.list    list_request (DAG-CBOR)    listing (DAG-CBOR): ids of what a query selects, bundle by bundle
//   weir.fetch   fetch_request (DAG-CBOR)   blocks: bundles, then statements, then objects, each as a CARv1 section

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/core/cid.h>
#include <weir/core/result.h>
#include <weir/store/batch.h>

namespace weir::merge {

inline constexpr std::string_view list_route = "weir.list";
inline constexpr std::string_view fetch_route = "weir.fetch";

/// Asks for the ids of the statements a query selects.
struct list_request {
  std::string query;
  std::uint64_t after = 0;  ///< only rows with a larger counter of the answering store
};

/// Some of what a query selects, in the answering store's order.
///   Bounds  fetch_bundles_max groups, fetch_statements_max statements of fetch_statement_bytes_max octets together and
///           fetch_objects_max objects (all in limits): one fetch gets it whole.
struct listing {
  /// Statements that one bundle attests, and every object they name, dependencies included, each once.
  struct group {
    digest bundle{};
    std::vector<digest> statements;
    std::vector<cid> objects;
  };
  std::uint64_t at = 0;  ///< counter of the last statement listed here
  std::uint64_t of = 0;  ///< counter at which the whole list ends: at / of is how far it has come
  std::vector<group> groups;
};

/// Asks for blocks by id. The reply keeps the order of the request.
struct fetch_request {
  std::vector<digest> bundles;
  std::vector<digest> statements;
  std::vector<cid> objects;
};

bytes encode(const list_request& what);
bytes encode(const listing& what);
bytes encode(const fetch_request& what);

// The readers are strict: over a limit is too_large, any other spelling malformed.
result<list_request> decode_list_request(bytes_view octets);
result<listing> decode_listing(bytes_view octets);
result<fetch_request> decode_fetch_request(bytes_view octets);

/// Appends a block as a CARv1 section: varint of the length, binary CID, octets.
void append_section(bytes& to, const cid& id, bytes_view octets);

/// Takes the section at the front of `sections` off it. The block's octets are a copy: it outlives the payload.
result<store::block> take_section(bytes_view& sections);

}  // namespace weir::merge
