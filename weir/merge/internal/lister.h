#pragma once

#include <deque>
#include <optional>

#include <weir/flow/any_flow.h>
#include <weir/merge/protocol.h>
#include <weir/store/statement_store.h>

namespace weir::merge::internal {

/// Gathers rows into listings. A listing closes before the next row would break one of its bounds, or when no more rows
/// are ready.
class lister {
 public:
  using value_type = listing;

  ///   of  the counter at which the rows end, for the listings' progress
  lister(flow::any_flow<store::row> rows, std::uint64_t of) : rows_(std::move(rows)) { open_.of = of; }

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    for (;;) {
      for (; demand > 0 && !closed_.empty(); --demand) {
        listing next = std::move(closed_.front());
        closed_.pop_front();
        emit(std::move(next));
      }
      if (!closed_.empty()) return flow::step::more;
      if (idle_) {
        // Upstream has stopped and all that it gave is passed on: now its reason may follow.
        const flow::step reason = *std::exchange(idle_, std::nullopt);
        return reason == flow::step::failed ? cx.fail(std::move(failure_)) : reason;
      }
      if (demand == 0) return flow::step::more;

      std::size_t one = 1;
      const flow::step s = rows_.pull(
          one, [this](store::row&& row) { add(std::move(row)); }, cx);
      if (s == flow::step::more && !corrupt_) continue;
      close();
      idle_ = s;
      if (s == flow::step::failed) failure_ = std::move(cx.failure());
      if (corrupt_) {
        idle_ = flow::step::failed;
        failure_ = *std::move(corrupt_);
      }
    }
  }

 private:
  void add(store::row row);
  void close();

  flow::any_flow<store::row> rows_;
  listing open_;
  std::size_t statements_ = 0, statement_bytes_ = 0, objects_ = 0;  // of open_
  std::deque<listing> closed_;                                      // at most two
  std::optional<flow::step> idle_;                                  // why upstream stopped, not yet told
  error failure_;
  std::optional<error> corrupt_;
};

}  // namespace weir::merge::internal
