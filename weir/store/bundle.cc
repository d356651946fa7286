#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/store/statement.h>

// A bundle block is a map of three members, in DAG-CBOR's order of keys:
//
//   "publisher": octets(32)   "signature": octets(64)   "statements": [ link, … ]
//
// The ids are links, 41 octets each, rather than bare digests, so that any IPLD tool can walk from a bundle to its
// statements. The signature is over the domain's name, a zero octet, and the same map without "signature". The name
// keeps a signature made here from meaning anything elsewhere.

namespace weir::store {

namespace {

constexpr std::string_view domain{"weir-bundle-v1\0", 15};

void write_statements(cbor::writer& w, std::span<const digest> statements) {
  w.key("statements").array(statements.size());
  for (const digest& id : statements) w.link(cid(codec::dag_cbor, id));
}

bytes signed_octets(const public_key& publisher, std::span<const digest> statements) {
  bytes out = to_bytes(domain);
  out.reserve(out.size() + 64 + 41 * statements.size());
  cbor::writer w(out);
  w.map(2);
  w.key("publisher").byte_string(publisher.octets);
  write_statements(w, statements);
  return out;
}

bool has_repetition(std::vector<digest> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

template <std::size_t N>
result<void> read_exactly(cbor::reader& in, std::string_view what, std::array<std::uint8_t, N>& into) {
  WEIR_TRY(const bytes_view octets, in.byte_string());
  if (octets.size() != N)
    return fail(errc::malformed, fmt::format("a bundle's {} has {} octets; this one has {}", what, N, octets.size()));
  std::copy(octets.begin(), octets.end(), into.begin());
  return {};
}

}  // namespace

bytes seal_bundle(const key_pair& key, std::span<const digest> statements) {
  assert(!statements.empty() && statements.size() <= limits::bundle_statements_max);
  const signature proof = key.sign(signed_octets(key.pub(), statements));
  bytes out;
  out.reserve(144 + 41 * statements.size());
  cbor::writer w(out);
  w.map(3);
  w.key("publisher").byte_string(key.pub().octets);
  w.key("signature").byte_string(proof);
  write_statements(w, statements);
  return out;
}

result<bundle> open_bundle(bytes_view block) {
  cbor::reader in(block);
  bundle b;
  WEIR_TRY(const std::uint64_t members, in.map());
  if (members != 3)
    return fail(errc::malformed, fmt::format("a bundle is a map of 3 members; this one has {}", members));
  WEIR_CHECK(in.key("publisher"));
  WEIR_CHECK(read_exactly(in, "publisher", b.publisher.octets));
  WEIR_CHECK(in.key("signature"));
  WEIR_CHECK(read_exactly(in, "signature", b.proof));
  WEIR_CHECK(in.key("statements"));
  WEIR_TRY(const std::uint64_t count, in.array());
  if (count > limits::bundle_statements_max)
    return fail(errc::too_large, fmt::format("a bundle lists {} statements; at most {} are allowed", count,
                                             limits::bundle_statements_max));
  if (count == 0) return fail(errc::malformed, "a bundle lists no statements");
  b.statements.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    WEIR_TRY(const cid id, in.link());
    if (id.kind() != codec::dag_cbor)
      return fail(errc::malformed,
                  fmt::format("a bundle lists {}, which cannot be a statement: its codec is raw", id.text()));
    b.statements.push_back(id.hash());
  }
  WEIR_CHECK(in.end());
  if (has_repetition(b.statements)) return fail(errc::malformed, "a bundle lists a statement twice");
  if (!b.publisher.verify(signed_octets(b.publisher, b.statements), b.proof))
    return fail(errc::bad_signature,
                fmt::format("the signature of a bundle of {} does not verify", b.publisher.text()));
  return b;
}

}  // namespace weir::store
