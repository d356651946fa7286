#include <weir/merge/protocol.h>

#include <algorithm>

#include <fmt/format.h>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/core/varint.h>

namespace weir::merge {
namespace {

// Ids travel as one byte string, side by side: a link would cost five octets more apiece, and whoever reads these
// messages is a store, not an IPLD tool.
void write_digests(cbor::writer& out, const std::vector<digest>& ids) {
  bytes packed;
  packed.reserve(ids.size() * sizeof(digest));
  for (const digest& id : ids) append(packed, id);
  out.byte_string(packed);
}

void write_cids(cbor::writer& out, const std::vector<cid>& ids) {
  bytes packed;
  packed.reserve(ids.size() * cid::binary_size);
  for (const cid& id : ids) id.append_binary(packed);
  out.byte_string(packed);
}

result<bytes_view> read_packed(cbor::reader& in, std::size_t each, std::size_t count_max, std::string_view what) {
  WEIR_TRY(bytes_view packed, in.byte_string());
  if (packed.size() % each != 0)
    return fail(errc::malformed,
                fmt::format("the list of {} has {} octets, which is no multiple of {}", what, packed.size(), each));
  if (packed.size() / each > count_max)
    return fail(errc::too_large, fmt::format("the list of {} has {} ids; at most {} are allowed", what,
                                             packed.size() / each, count_max));
  return packed;
}

result<std::vector<digest>> read_digests(cbor::reader& in, std::size_t count_max, std::string_view what) {
  WEIR_TRY(bytes_view packed, read_packed(in, sizeof(digest), count_max, what));
  std::vector<digest> ids(packed.size() / sizeof(digest));
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(i * sizeof(digest)), sizeof(digest), ids[i].begin());
  return ids;
}

result<std::vector<cid>> read_cids(cbor::reader& in, std::size_t count_max, std::string_view what) {
  WEIR_TRY(bytes_view packed, read_packed(in, cid::binary_size, count_max, what));
  std::vector<cid> ids;
  ids.reserve(packed.size() / cid::binary_size);
  for (; !packed.empty(); packed = packed.subspan(cid::binary_size)) {
    WEIR_TRY(cid id, cid::from_binary(packed.first(cid::binary_size)));
    ids.push_back(id);
  }
  return ids;
}

result<void> expect_count(std::uint64_t count, std::uint64_t expected, std::string_view what) {
  if (count != expected)
    return fail(errc::malformed, fmt::format("{} has {} members where {} are expected", what, count, expected));
  return {};
}

}  // namespace

bytes encode(const list_request& what) {
  bytes out;
  cbor::writer(out).map(2).key("after").unsigned_integer(what.after).key("query").text(what.query);
  return out;
}

result<list_request> decode_list_request(bytes_view octets) {
  cbor::reader in(octets);
  WEIR_TRY(std::uint64_t members, in.map());
  WEIR_CHECK(expect_count(members, 2, "a list request"));
  list_request request;
  WEIR_CHECK(in.key("after"));
  WEIR_TRY(request.after, in.unsigned_integer());
  WEIR_CHECK(in.key("query"));
  WEIR_TRY(std::string_view text, in.text());
  if (text.size() > limits::query_bytes_max)
    return fail(errc::too_large,
                fmt::format("a query of {} octets; at most {} are allowed", text.size(), limits::query_bytes_max));
  request.query = text;
  WEIR_CHECK(in.end());
  return request;
}

bytes encode(const listing& what) {
  bytes out;
  cbor::writer writer(out);
  writer.map(3).key("at").unsigned_integer(what.at).key("of").unsigned_integer(what.of);
  writer.key("groups").array(what.groups.size());
  for (const listing::group& group : what.groups) {
    writer.array(3).byte_string(group.bundle);
    write_digests(writer, group.statements);
    write_cids(writer, group.objects);
  }
  return out;
}

result<listing> decode_listing(bytes_view octets) {
  cbor::reader in(octets);
  WEIR_TRY(std::uint64_t members, in.map());
  WEIR_CHECK(expect_count(members, 3, "a listing"));
  listing list;
  WEIR_CHECK(in.key("at"));
  WEIR_TRY(list.at, in.unsigned_integer());
  WEIR_CHECK(in.key("of"));
  WEIR_TRY(list.of, in.unsigned_integer());
  WEIR_CHECK(in.key("groups"));
  WEIR_TRY(std::uint64_t groups, in.array());
  if (groups > limits::fetch_bundles_max)
    return fail(errc::too_large,
                fmt::format("a listing of {} groups; at most {} are allowed", groups, limits::fetch_bundles_max));
  std::size_t statements_left = limits::fetch_statements_max, objects_left = limits::fetch_objects_max;
  for (; groups > 0; --groups) {
    WEIR_TRY(std::uint64_t parts, in.array());
    WEIR_CHECK(expect_count(parts, 3, "a group of a listing"));
    listing::group group;
    WEIR_TRY(bytes_view bundle, in.byte_string());
    if (bundle.size() != sizeof(digest)) return fail(errc::malformed, "a bundle's id in a listing is not 32 octets");
    std::copy(bundle.begin(), bundle.end(), group.bundle.begin());
    WEIR_TRY(group.statements, read_digests(in, statements_left, "statements of a listing"));
    WEIR_TRY(group.objects, read_cids(in, objects_left, "objects of a listing"));
    if (group.statements.empty()) return fail(errc::malformed, "a group of a listing has no statement");
    statements_left -= group.statements.size();
    objects_left -= group.objects.size();
    list.groups.push_back(std::move(group));
  }
  WEIR_CHECK(in.end());
  return list;
}

bytes encode(const fetch_request& what) {
  bytes out;
  cbor::writer writer(out);
  writer.map(3).key("bundles");
  write_digests(writer, what.bundles);
  writer.key("objects");
  write_cids(writer, what.objects);
  writer.key("statements");
  write_digests(writer, what.statements);
  return out;
}

result<fetch_request> decode_fetch_request(bytes_view octets) {
  cbor::reader in(octets);
  WEIR_TRY(std::uint64_t members, in.map());
  WEIR_CHECK(expect_count(members, 3, "a fetch request"));
  fetch_request request;
  WEIR_CHECK(in.key("bundles"));
  WEIR_TRY(request.bundles, read_digests(in, limits::fetch_bundles_max, "bundles of a fetch"));
  WEIR_CHECK(in.key("objects"));
  WEIR_TRY(request.objects, read_cids(in, limits::fetch_objects_max, "objects of a fetch"));
  WEIR_CHECK(in.key("statements"));
  WEIR_TRY(request.statements, read_digests(in, limits::fetch_statements_max, "statements of a fetch"));
  WEIR_CHECK(in.end());
  return request;
}

void append_section(bytes& to, const cid& id, bytes_view octets) {
  append_varint(to, cid::binary_size + octets.size());
  id.append_binary(to);
  append(to, octets);
}

result<store::block> take_section(bytes_view& sections) {
  const auto head = read_varint(sections);
  if (!head) return fail(errc::malformed, "a section does not begin with the varint of its length");
  const std::uint64_t length = head->value;
  sections = sections.subspan(head->octets);
  if (length < cid::binary_size)
    return fail(errc::malformed, fmt::format("a section of {} octets has no room for its CID", length));
  if (length > sections.size())
    return fail(errc::malformed, fmt::format("a section claims {} octets where {} are left", length, sections.size()));
  if (length > cid::binary_size + limits::object_bytes_max)
    return fail(errc::too_large, fmt::format("a block of {} octets; at most {} are allowed", length - cid::binary_size,
                                             limits::object_bytes_max));
  WEIR_TRY(cid id, cid::from_binary(sections.first(cid::binary_size)));
  store::block block{id, to_bytes(sections.subspan(cid::binary_size, length - cid::binary_size))};
  sections = sections.subspan(length);
  return block;
}

}  // namespace weir::merge
