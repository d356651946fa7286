#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/store/query.h>
#include <weir/store/statement_store.h>

namespace weir::merge {

/// What a merge has done so far.
struct progress {
  std::uint64_t listed = 0;      ///< statements that the peer's query selects
  std::uint64_t statements = 0;  ///< of them, new here and durable
  std::uint64_t objects = 0;     ///< new here and durable
  std::uint64_t bytes = 0;       ///< of new objects and statements
  double fraction = 0;           ///< of the peer's store that has been gone through, 0 to 1
};

struct options {
  std::size_t lanes = limits::lanes;                 ///< fetches in flight at once, 1 to limits::lanes_max
  unsigned verifiers = 2;                            ///< threads that check hashes and signatures
  std::function<void(const progress&)> on_progress;  ///< after every durable write; on the caller's thread
  std::stop_token stop;                              ///< ends the merge as cancelled; what is written stays
};

/// How a merge ended: what was done, and the failure if it did not come to its end. What `done` counts is durable either
/// way; merging again goes on from there.
struct outcome {
  progress done;
  std::optional<error> failure;
};

/// Brings the statements that the query selects at the peer, with their bundles and objects, into the store. Everything
/// is verified before it is written: hashes, signatures, attestation, and that the query really selects it.
///   Threads  calls and waits on the caller's thread; reads, checks and requests on its own threads, which are gone when
///            it returns. Several merges into one store may run at once.
///   Memory   options::lanes fetches being received, limits::merged_batches waiting, and one write of
///            limits::batch_bytes_max.
///   Errors   the peer's, the store's, or what a block was guilty of; the first one ends the merge.
///   Source   docs/design/0006-merge-protocol.md
outcome merge_from(const net::rsocket::requester& peer, const store::query& asked, store::statement_store& into,
                   const options& how = {});

}  // namespace weir::merge
