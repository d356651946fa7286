#include <weir/net/rsocket/internal/reassembly.h>

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace weir::net::rsocket::internal {

namespace {

std::size_t octets_of(const payload& p) { return p.data.size() + (p.metadata ? p.metadata->size() : 0); }

}  // namespace

result<void> reassembly::add(const frame& f) {
  const auto found = parts_.find(f.stream);
  const std::size_t before = found == parts_.end() ? 0 : octets_of(found->second.content);
  const std::size_t more = f.data.size() + (f.metadata ? f.metadata->size() : 0);
  if (before + more > limits::payload_bytes_max) {
    return fail(errc::too_large,
                fmt::format("the fragments on stream {} are more than {} octets", f.stream, limits::payload_bytes_max));
  }
  if (octets_ + more > limits::reassembly_bytes_max) {
    return fail(errc::too_large,
                fmt::format("unfinished payloads are more than {} octets", limits::reassembly_bytes_max));
  }
  octets_ += more;
  whole& part = found == parts_.end() ? parts_[f.stream] : found->second;
  if (found == parts_.end()) {
    part.type = f.type;
    part.number = f.number;
  }
  part.flags |= f.flags;  // "complete" comes with the last fragment
  if (f.metadata) {
    if (!part.content.metadata) part.content.metadata.emplace();
    append(*part.content.metadata, *f.metadata);
  }
  append(part.content.data, f.data);
  return {};
}

void reassembly::add_number(std::uint32_t stream, std::uint32_t more) {
  const auto found = parts_.find(stream);
  if (found == parts_.end()) return;
  found->second.number += std::min(more, number_max - found->second.number);
}

reassembly::whole reassembly::take(std::uint32_t stream) {
  const auto found = parts_.find(stream);
  assert(found != parts_.end());
  octets_ -= octets_of(found->second.content);
  whole taken = std::move(found->second);
  parts_.erase(found);
  return taken;
}

void reassembly::drop(std::uint32_t stream) {
  if (has(stream)) take(stream);
}

void reassembly::clear() {
  parts_.clear();
  octets_ = 0;
}

}  // namespace weir::net::rsocket::internal
