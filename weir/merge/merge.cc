#include <weir/merge/merge.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <weir/flow/cancel_on.h>
#include <weir/flow/chunks.h>
#include <weir/flow/for_each.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/try_map.h>
#include <weir/flow/worker.h>
#include <weir/merge/internal/fetcher.h>
#include <weir/merge/protocol.h>

namespace weir::merge {
namespace {

using net::rsocket::payload;
using net::rsocket::requester;
using batches = flow::any_flow<store::verified_batch>;

payload request(std::string_view route, bytes data) { return {std::move(data), net::rsocket::route_metadata(route)}; }

// How far the peer's list has been gone through: written by the planner's thread, read by the caller's.
struct position {
  std::atomic<std::uint64_t> listed{0}, at{0}, of{0};
};

// Turns each listing into the fetch of what is missing here. It runs when a lane is free, so the look-up whether a
// statement is here already comes just before the request, not when the listing arrived.
class planner {
 public:
  planner(const requester& peer, std::shared_ptr<const store::query> query, const store::statement_store& into,
          std::vector<std::unique_ptr<flow::worker>>& verifiers, position& where)
      : peer_(peer), query_(std::move(query)), store_(into), verifiers_(verifiers), where_(where) {}

  result<batches> operator()(payload&& listed) {
    auto decoded = decode_listing(listed.data);
    if (!decoded)
      return fail(decoded.error().code,
                  fmt::format("{} sent a bad listing: {}", peer_.peer(), decoded.error().message));
    WEIR_CHECK(count(*decoded));
    WEIR_TRY(fetch_request wanted, missing(*decoded));
    if (wanted.statements.empty()) return batches(flow::empty<store::verified_batch>());

    auto reply = peer_.request_stream(request(fetch_route, encode(wanted)), payloads_ahead);
    flow::executor& verifier = *verifiers_[next_verifier_++ % verifiers_.size()];
    return batches(internal::fetcher(std::move(reply), std::move(wanted), query_, peer_.peer()) |
                   flow::observe_on(verifier, {.capacity = 1}));
  }

 private:
  // Payloads of limits::fetch_payload_bytes on their way to one lane.
  static constexpr std::uint32_t payloads_ahead = 4;

  // A list goes forward and keeps its end, so that it cannot go on for ever.
  result<void> count(const listing& list) {
    const std::uint64_t of_before = where_.of.load(std::memory_order_relaxed);
    if (list.groups.empty() || list.at <= where_.at.load(std::memory_order_relaxed) || list.at > list.of ||
        (of_before != 0 && list.of != of_before))
      return fail(errc::unexpected,
                  fmt::format("{} sent a listing that ends at {} of {}, which does not go on from {} of {}",
                              peer_.peer(), list.at, list.of, where_.at.load(std::memory_order_relaxed), of_before));
    std::uint64_t statements = 0;
    for (const auto& group : list.groups) statements += group.statements.size();
    const std::uint64_t listed = where_.listed.fetch_add(statements, std::memory_order_relaxed) + statements;
    if (query_->limit() && listed > *query_->limit())
      return fail(errc::unexpected,
                  fmt::format("{} listed more statements than the query's LIMIT {}", peer_.peer(), *query_->limit()));
    where_.of.store(list.of, std::memory_order_relaxed);
    where_.at.store(list.at, std::memory_order_relaxed);
    return {};
  }

  result<fetch_request> missing(const listing& list) {
    fetch_request wanted;
    std::vector<cid> objects;
    for (const auto& group : list.groups) {
      WEIR_TRY(std::vector<digest> statements, store_.missing_statements(group.statements));
      if (statements.empty()) continue;
      wanted.bundles.push_back(group.bundle);
      wanted.statements.insert(wanted.statements.end(), statements.begin(), statements.end());
      objects.insert(objects.end(), group.objects.begin(), group.objects.end());
    }
    std::sort(objects.begin(), objects.end());
    objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
    WEIR_TRY(wanted.objects, store_.missing_objects(objects));
    return wanted;
  }

  requester peer_;
  std::shared_ptr<const store::query> query_;
  const store::statement_store& store_;
  std::vector<std::unique_ptr<flow::worker>>& verifiers_;
  position& where_;
  std::size_t next_verifier_ = 0;
};

}  // namespace

outcome merge_from(const requester& peer, const store::query& asked, store::statement_store& into, const options& how) {
  position where;
  outcome end;
  const auto report = [&] {
    end.done.listed = where.listed.load(std::memory_order_relaxed);
    const auto of = where.of.load(std::memory_order_relaxed);
    end.done.fraction =
        of == 0
            ? 0
            : std::min(1.0, static_cast<double>(where.at.load(std::memory_order_relaxed)) / static_cast<double>(of));
  };

  // Stopped from the last to the first, each with the part of the flow that it still has: what runs on the coordinator
  // hands work to the verifiers.
  std::vector<std::unique_ptr<flow::worker>> verifiers;
  for (unsigned i = 0; i < std::max(1U, how.verifiers); ++i)
    verifiers.push_back(std::make_unique<flow::worker>(fmt::format("weir-verify-{}", i)));
  flow::worker coordinator("weir-merge");

  auto list = peer.request_stream(request(list_route, encode(list_request{asked.text(), 0})));
  auto verified = std::move(list) |
                  flow::try_map(planner(peer, std::make_shared<store::query>(asked), into, verifiers, where)) |
                  flow::merge({.concurrent_max = std::clamp<std::size_t>(how.lanes, 1, limits::lanes_max)}) |
                  flow::observe_on(coordinator, {.capacity = limits::merged_batches}) |
                  flow::chunks(limits::batch_statements_max / limits::fetch_statements_max, limits::batch_bytes_max,
                               [](const store::verified_batch& batch) { return batch.bytes_held(); }) |
                  flow::cancel_on(how.stop, 1);

  auto ended = flow::for_each(std::move(verified), [&](std::vector<store::verified_batch>&& some) -> result<void> {
    WEIR_TRY(store::receipt written, into.write(some));
    end.done.statements += written.statements;
    end.done.objects += written.objects;
    end.done.bytes += written.bytes;
    report();
    if (how.on_progress) how.on_progress(end.done);
    return {};
  });
  report();
  if (!ended)
    end.failure = std::move(ended).error();
  else
    end.done.fraction = 1;
  return end;
}

}  // namespace weir::merge
