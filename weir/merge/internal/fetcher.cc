#include <weir/merge/internal/fetcher.h>

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include <weir/core/limits.h>

namespace weir::merge::internal {

fetcher::fetcher(net::rsocket::reply reply, fetch_request asked, std::shared_ptr<const store::query> query,
                 std::string peer)
    : reply_(std::move(reply)), asked_(std::move(asked)), query_(std::move(query)), peer_(std::move(peer)) {}

result<void> fetcher::take(bytes_view sections) {
  while (!sections.empty()) {
    auto block = take_section(sections);
    if (!block) return fail(block.error().code, fmt::format("{} sent a bad payload: {}", peer_, block.error().message));
    WEIR_CHECK(take_block(*std::move(block)));
  }
  return {};
}

result<void> fetcher::take_block(store::block block) {
  const std::size_t bundles = asked_.bundles.size(), statements = asked_.statements.size();
  if (taken_ < bundles + statements) {
    const bool is_bundle = taken_ < bundles;
    const digest& expected = is_bundle ? asked_.bundles[taken_] : asked_.statements[taken_ - bundles];
    if (block.id != cid(codec::dag_cbor, expected)) return not_asked_for(block);
    if (block.data.size() > limits::statement_bytes_max)
      return fail(errc::too_large, fmt::format("{} sent the {} {} of {} octets; at most {} are allowed", peer_,
                                               is_bundle ? "bundle" : "statement", block.id.text(), block.data.size(),
                                               limits::statement_bytes_max));
    if (is_bundle) {
      blocks_.bundles.push_back(std::move(block));
    } else {
      statement_bytes_ += block.data.size();
      if (statement_bytes_ > limits::fetch_statement_bytes_max + limits::statement_bytes_max)
        return fail(errc::too_large, fmt::format("{} listed statements of more than {} octets for one fetch", peer_,
                                                 limits::fetch_statement_bytes_max));
      blocks_.statements.push_back(std::move(block));
    }
    ++taken_;
    return taken_ == bundles + statements ? check_statements() : result<void>{};
  }

  const std::size_t at = taken_ - bundles - statements;
  if (at == asked_.objects.size() || block.id != asked_.objects[at]) return not_asked_for(block);
  ++taken_;
  object_bytes_ += block.data.size();
  blocks_.objects.push_back(std::move(block));
  return object_bytes_ >= limits::fetch_held_bytes ? hand_on_objects() : result<void>{};
}

// Once the statements are known to be true, they say which objects the peer may make us store: those and no others.
result<void> fetcher::check_statements() {
  auto verified = store::verify(std::exchange(blocks_, {}), *query_);
  if (!verified) return fail(verified.error().code, fmt::format("from {}: {}", peer_, verified.error().message));
  std::unordered_set<cid> named;
  for (const auto& said : verified->statements()) {
    named.insert(said.what.object);
    named.insert(said.what.deps.begin(), said.what.deps.end());
  }
  for (const cid& object : asked_.objects)
    if (!named.contains(object))
      return fail(errc::unexpected,
                  fmt::format("{} listed the object {}, which none of its statements names", peer_, object.text()));
  statements_ = *std::move(verified);
  return {};
}

result<void> fetcher::hand_on_objects() {
  if (blocks_.objects.empty()) return {};
  auto verified = store::verify_objects(std::exchange(blocks_.objects, {}));
  if (!verified) return fail(verified.error().code, fmt::format("from {}: {}", peer_, verified.error().message));
  object_bytes_ = 0;
  ready_.push_back(*std::move(verified));
  return {};
}

result<void> fetcher::finish() {
  const std::size_t expected = asked_.bundles.size() + asked_.statements.size() + asked_.objects.size();
  if (taken_ != expected)
    return fail(errc::unexpected,
                fmt::format("{} ended its reply after {} of {} blocks without saying why", peer_, taken_, expected));
  WEIR_CHECK(hand_on_objects());
  ready_.push_back(*std::move(statements_));
  return {};
}

error fetcher::not_asked_for(const store::block& block) const {
  return fail(errc::unexpected, fmt::format("{} sent the block {} where it was not asked for", peer_, block.id.text()));
}

}  // namespace weir::merge::internal
