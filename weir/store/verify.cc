#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/core/sha256.h>
#include <weir/store/batch.h>

// The order of the checks is the order of their cost: hashes and forms first, then what statements say, then who signed
// them. Memory grows with the blocks that are here, never with what a bundle claims to list.
//
// A block that comes twice, octet for octet, is taken once: lanes that overlap make repetitions, and they are harmless.
// What nobody asked for is not: a bundle that attests nothing of the batch, or an object that no statement of the batch
// names, is refused, so that a peer cannot fill a disk with it.

namespace weir::store {

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// Digests that peers chose the octets of are hashed by their first word; grinding many statements into one bucket costs
// a peer 2^(8 + bits of the table) hashes a piece and buys a slow batch.
struct digest_hash {
  std::size_t operator()(const digest& d) const noexcept { return std::hash<cid>{}(cid(codec::raw, d)); }
};

result<void> check_block(std::string_view what, const block& b, std::size_t bytes_max) {
  if (b.data.size() > bytes_max)
    return fail(errc::too_large, fmt::format("{} {} has {} octets; at most {} are allowed", what, b.id.text(),
                                             b.data.size(), bytes_max));
  if (sha256(b.data) != b.id.hash())
    return fail(errc::corrupt, fmt::format("{} {} does not match its hash", what, b.id.text()));
  return {};
}

result<void> check_is_dag_cbor(std::string_view what, const block& b) {
  if (b.id.kind() != codec::dag_cbor)
    return fail(errc::malformed,
                fmt::format("{} is named {}; expected a CID with the codec dag-cbor", what, b.id.text()));
  return {};
}

// The same error, naming the block it is about.
error about(std::string_view what, const cid& id, error why) {
  why.message = fmt::format("{} {}: {}", what, id.text(), why.message);
  return why;
}

// Longest possible bundle: its heads and its links.
constexpr std::size_t bundle_bytes_max = 256 + 41 * limits::bundle_statements_max;

}  // namespace

result<verified_batch> verify(unverified_batch blocks, const query& asked) {
  verified_batch out;

  // Statements: what each of them is, and where.
  std::unordered_map<digest, std::size_t, digest_hash> place;
  place.reserve(blocks.statements.size());
  out.statements_.reserve(blocks.statements.size());
  for (block& b : blocks.statements) {
    WEIR_CHECK(check_is_dag_cbor("a statement", b));
    WEIR_CHECK(check_block("statement", b, limits::statement_bytes_max));
    if (!place.emplace(b.id.hash(), out.statements_.size()).second) continue;
    auto what = decode_statement(b.data);
    if (!what) return about("statement", b.id, std::move(what).error());
    if (!asked.selects(*what, b.id))
      return fail(errc::outside_query, fmt::format("statement {} in namespace {} is not one that '{}' selects",
                                                   b.id.text(), what->name_space, asked.text()));
    out.bytes_held_ += b.data.size();
    out.statements_.push_back({b.id, *std::move(what), std::move(b.data), nobody});
  }

  // Bundles: which statements of the batch each attests.
  std::unordered_set<cid> bundles;
  for (block& b : blocks.bundles) {
    WEIR_CHECK(check_is_dag_cbor("a bundle", b));
    WEIR_CHECK(check_block("bundle", b, bundle_bytes_max));
    if (!bundles.insert(b.id).second) continue;
    const auto opened = open_bundle(b.data);
    if (!opened) return about("bundle", b.id, opened.error());
    bool attests = false;
    for (const digest& id : opened->statements) {
      const auto found = place.find(id);
      if (found == place.end()) continue;
      verified_batch::attested& listed = out.statements_[found->second];
      if (listed.what.publisher != opened->publisher) continue;
      attests = true;
      if (listed.bundle == nobody) listed.bundle = out.bundles_.size();
    }
    if (!attests)
      return fail(errc::unexpected, fmt::format("bundle {} attests none of the statements it came with", b.id.text()));
    out.bytes_held_ += b.data.size();
    out.bundles_.push_back(std::move(b));
  }
  for (const verified_batch::attested& s : out.statements_) {
    if (s.bundle == nobody)
      return fail(errc::bad_signature,
                  fmt::format("statement {} came without a bundle of its publisher {} that lists it", s.id.text(),
                              s.what.publisher.text()));
  }

  // Objects: true, and named by a statement.
  std::unordered_set<cid> named;
  named.reserve(out.statements_.size());
  for (const verified_batch::attested& s : out.statements_) {
    named.insert(s.what.object);
    named.insert(s.what.deps.begin(), s.what.deps.end());
  }
  out.objects_.reserve(blocks.objects.size());
  std::unordered_set<cid> objects;
  objects.reserve(blocks.objects.size());
  for (block& b : blocks.objects) {
    WEIR_CHECK(check_block("object", b, limits::object_bytes_max));
    if (!named.contains(b.id))
      return fail(errc::unexpected,
                  fmt::format("object {} is named by none of the statements it came with", b.id.text()));
    if (!objects.insert(b.id).second) continue;
    out.bytes_held_ += b.data.size();
    out.objects_.push_back(std::move(b));
  }
  return out;
}

result<verified_batch> verify_objects(std::vector<block> objects) {
  verified_batch out;
  std::unordered_set<cid> seen;
  seen.reserve(objects.size());
  for (block& b : objects) {
    WEIR_CHECK(check_block("object", b, limits::object_bytes_max));
    if (!seen.insert(b.id).second) continue;
    out.bytes_held_ += b.data.size();
    out.objects_.push_back(std::move(b));
  }
  return out;
}

}  // namespace weir::store
