#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weir/core/cid.h>
#include <weir/core/keys.h>
#include <weir/core/result.h>
#include <weir/store/query.h>
#include <weir/store/statement.h>

namespace weir::store {

/// Blocks as they come from outside; nothing about them is known to be true. A CID is what the sender claims.
struct block {
  cid id;
  bytes data;
};
struct unverified_batch {
  std::vector<block> bundles;
  std::vector<block> statements;
  std::vector<block> objects;
};

/// What a caller wants to say: an object and what it is about.
struct record {
  codec kind = codec::raw;  ///< how the object's octets are to be read
  bytes object;
  std::vector<std::string> refs;
  std::vector<std::string> tags;
  std::vector<cid> deps;
};

/// Blocks that belong together and are true: every CID is the hash of its octets, every bundle's signature holds, every
/// statement is listed by a bundle of its own publisher in this batch. Only `verify`, `verify_objects` and `seal` make one,
/// and only these enter a store.
class verified_batch {
 public:
  struct attested {
    cid id;
    statement what;
    bytes encoded;
    std::size_t bundle;  ///< index into bundles()
  };
  [[nodiscard]] const std::vector<block>& bundles() const noexcept { return bundles_; }
  [[nodiscard]] const std::vector<attested>& statements() const noexcept { return statements_; }
  [[nodiscard]] const std::vector<block>& objects() const noexcept { return objects_; }
  [[nodiscard]] std::size_t bytes_held() const noexcept { return bytes_held_; }

 private:
  verified_batch() = default;
  friend result<verified_batch> verify(unverified_batch, const query&);
  friend result<verified_batch> verify_objects(std::vector<block>);
  friend result<verified_batch> seal(std::vector<record>, std::string_view, const key_pair&, std::uint64_t);
  std::vector<block> bundles_;
  std::vector<attested> statements_;
  std::vector<block> objects_;
  std::size_t bytes_held_ = 0;
};

/// Checks everything that can be checked without a store: hashes, signatures, attestation, limits, and that each
/// statement is one that `asked` selects. Whether the objects of the statements exist is the store's to check.
///   Threads  pure; any. Cost about 1.5 µs a statement, 1 µs per KB of objects, 50 µs a bundle.
///   Errors   corrupt, bad_signature, outside_query, malformed, too_large: the first fault, naming the block.
result<verified_batch> verify(unverified_batch blocks, const query& asked);

/// Checks objects whose statements come in a later batch, for fetches too large to be held whole: hashes and sizes. The
/// caller answers for a verified statement naming each of them; objects that nobody names would only take up room.
result<verified_batch> verify_objects(std::vector<block> objects);

/// Makes statements of records in the namespace, signs them in bundles of at most limits::bundle_statements_max.
///   timestamp  Unix seconds
result<verified_batch> seal(std::vector<record> records, std::string_view name_space, const key_pair& key,
                            std::uint64_t timestamp);

}  // namespace weir::store
