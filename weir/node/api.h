#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/core/cid.h>
#include <weir/core/keys.h>
#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/merge/merge.h>
#include <weir/net/endpoint.h>
#include <weir/store/batch.h>
#include <weir/store/query.h>
#include <weir/store/statement_store.h>

namespace weir::node {

/// Weir's version: "0.1.0".
std::string_view version() noexcept;

/// Who a node is.
struct identity {
  public_key publisher;
  std::string version;
};

/// What a node holds, and where peers reach it.
struct status {
  identity who;
  store::totals holds;
  std::string listen;  ///< "127.0.0.1:9001"; empty if no node is running
};

/// Records to say something about, in one namespace.
struct publication {
  std::string name_space;
  std::vector<store::record> records;
  bool again = false;  ///< say it even if this publisher has said the same before
};

/// What publishing did. All of it is durable when it is told.
struct published {
  store::receipt wrote;
  std::uint64_t said_before = 0;  ///< records left out because the same was said before
  std::vector<digest> ids;        ///< of the new statements
};

/// What can be asked of a data directory, in the same words whether a node runs on it (`connect`) or not (`engine`).
///   Threads  shared; every call waits for its answer.
class api {
 public:
  virtual ~api() = default;

  [[nodiscard]] virtual result<status> get_status() = 0;

  /// Makes statements of the records under the node's key and stores them. Durable when it returns.
  ///   Bounds  limits::batch_statements_max records of limits::publication_bytes_max octets together.
  [[nodiscard]] virtual result<published> publish(publication what) = 0;

  /// The rows a query selects.
  [[nodiscard]] virtual flow::any_flow<store::row> query(const store::query& asked) = 0;

  /// One block: an object, a statement or a bundle.
  [[nodiscard]] virtual result<bytes> get(const cid& id) = 0;

  /// See merge::merge_from.
  [[nodiscard]] virtual merge::outcome merge(const net::endpoint& peer, const store::query& asked,
                                             const merge::options& how) = 0;

  /// Reads everything and recomputes every hash, signature and total.
  [[nodiscard]] virtual result<store::damage> check() = 0;
};

}  // namespace weir::node
