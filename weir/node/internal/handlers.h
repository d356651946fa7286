#pragma once

#include <memory>

#include <weir/flow/worker.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/node/engine.h>
#include <weir/node/internal/merge_jobs.h>

namespace weir::node::internal {

/// What one connection is served with. Everything that reads the disk runs on `reader`.
struct served {
  engine& on;
  flow::executor& reader;
};

/// The routes that every peer may ask.
///   asked  decides the form of query rows: JSON for the data MIME type application/json, else DAG-CBOR
net::rsocket::handlers peer_handlers(served what, const net::rsocket::setup& asked);

/// The owner's routes, and the peers' besides.
///   writer  where publications and checks run
///   listen  the address that status tells
net::rsocket::handlers control_handlers(served what, const net::rsocket::setup& asked, flow::executor& writer,
                                        merge_jobs& merges, std::string listen);

}  // namespace weir::node::internal
