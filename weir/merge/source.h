#pragma once

#include <atomic>
#include <memory>

#include <weir/core/bytes.h>
#include <weir/flow/executor.h>
#include <weir/net/rsocket/rsocket.h>
#include <weir/store/statement_store.h>

namespace weir::merge {

/// The answering side of a merge: lists what a query selects and sends blocks. One per connection.
///   Threads  list and fetch on the connection's loop; the disk is read on `reader`.
///   Bounds   limits::fetches_max replies open at once, each at most four payloads ahead of the requester; a listing is
///            read from the store page by page, so a slow requester holds nothing open.
///   Owns     nothing: store and reader outlive it and its replies.
class source {
 public:
  source(const store::statement_store& from, flow::executor& reader);

  /// Answers weir.list.
  [[nodiscard]] net::rsocket::reply list(bytes_view request);
  /// Answers weir.fetch.
  [[nodiscard]] net::rsocket::reply fetch(bytes_view request);

 private:
  const store::statement_store& store_;
  flow::executor& reader_;
  std::shared_ptr<std::atomic<std::size_t>> open_;  // outlived by replies that still run on the reader
};

}  // namespace weir::merge
