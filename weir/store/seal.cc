#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/store/batch.h>

namespace weir::store {

namespace {

// The same error, saying which record it is about; people count from 1.
error about_record(std::size_t index, error why) {
  why.message = fmt::format("record {}: {}", index + 1, why.message);
  return why;
}

result<cid> name_object(const record& r) {
  if (r.object.size() > limits::object_bytes_max)
    return fail(errc::too_large, fmt::format("an object of {} octets; at most {} are allowed", r.object.size(),
                                             limits::object_bytes_max));
  // Whoever publishes an object as DAG-CBOR answers for it being that.
  if (r.kind == codec::dag_cbor) WEIR_CHECK(cbor::validate(r.object));
  return cid::of(r.kind, r.object);
}

}  // namespace

result<verified_batch> seal(std::vector<record> records, std::string_view name_space, const key_pair& key,
                            std::uint64_t timestamp) {
  verified_batch out;
  out.statements_.reserve(records.size());
  out.objects_.reserve(records.size());
  std::unordered_set<cid> objects, statements;
  objects.reserve(records.size());
  statements.reserve(records.size());

  for (std::size_t i = 0; i < records.size(); ++i) {
    record& r = records[i];
    auto object = name_object(r);
    if (!object) return about_record(i, std::move(object).error());
    statement what;
    what.publisher = key.pub();
    what.name_space = name_space;
    what.object = *object;
    what.refs = std::move(r.refs);
    what.tags = std::move(r.tags);
    what.deps = std::move(r.deps);
    what.timestamp = timestamp;
    auto encoded = encode(what);
    if (!encoded) return about_record(i, std::move(encoded).error());
    if (objects.insert(*object).second) {
      out.bytes_held_ += r.object.size();
      out.objects_.push_back({*object, std::move(r.object)});
    }
    const cid id = cid::of(codec::dag_cbor, *encoded);
    if (!statements.insert(id).second) continue;  // the same thing said twice is said once
    out.bytes_held_ += encoded->size();
    out.statements_.push_back({id, std::move(what), *std::move(encoded), 0});
  }

  std::vector<digest> ids;
  ids.reserve(limits::bundle_statements_max);
  for (std::size_t from = 0; from < out.statements_.size(); from += limits::bundle_statements_max) {
    const std::size_t to = std::min(out.statements_.size(), from + limits::bundle_statements_max);
    ids.clear();
    for (std::size_t i = from; i < to; ++i) {
      out.statements_[i].bundle = out.bundles_.size();
      ids.push_back(out.statements_[i].id.hash());
    }
    bytes block = seal_bundle(key, ids);
    const cid id = cid::of(codec::dag_cbor, block);
    out.bytes_held_ += block.size();
    out.bundles_.push_back({id, std::move(block)});
  }
  return out;
}

}  // namespace weir::store
