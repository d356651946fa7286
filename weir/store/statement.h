#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/core/cid.h>
#include <weir/core/keys.h>
#include <weir/core/result.h>

namespace weir::store {

/// What somebody says about an object: immutable, named by the CID of its deterministic DAG-CBOR.
struct statement {
  public_key publisher;
  std::string name_space;  ///< dotted: "images.dpla"
  cid object;
  std::vector<std::string> refs;  ///< well-known identifiers of the thing described: "deb:bash/5.2.15-2/amd64"
  std::vector<std::string> tags;
  std::vector<cid> deps;        ///< further objects that must travel with this one
  std::uint64_t timestamp = 0;  ///< Unix seconds, the publisher's clock

  friend bool operator==(const statement&, const statement&) = default;
};

/// Letters, digits and '-' in parts of at least one character, joined by dots; at most limits::namespace_bytes_max.
result<void> check_namespace(std::string_view name);

/// The statement's one encoding. Its id is `cid::of(codec::dag_cbor, encode(s))`. Refs and tags are kept in order,
/// without repetition; over-long lists or texts are too_large, a bad namespace is invalid_argument.
result<bytes> encode(const statement& what);

/// Reads exactly what `encode` writes: every limit checked, any other spelling refused as malformed.
result<statement> decode_statement(bytes_view encoded);

/// One signature for many statements of one publisher: a DAG-CBOR block that lists their ids.
struct bundle {
  public_key publisher;
  std::vector<digest>
      statements;     ///< 1 to limits::bundle_statements_max; statement ids are dag-cbor CIDs, so the digest says all
  signature proof{};  ///< over the domain-separated encoding of the two fields above
};

/// Signs the ids and gives the block. Its id is its dag-cbor CID.
bytes seal_bundle(const key_pair& key, std::span<const digest> statements);
/// Reads a bundle block strictly and verifies its signature (about 50 µs).
result<bundle> open_bundle(bytes_view block);

}  // namespace weir::store
