#include <weir/node/messages.h>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/core/utf8.h>
#include <weir/store/statement.h>

namespace weir::node {
namespace {

result<void> begin_map(cbor::reader& in, std::uint64_t members, std::string_view what) {
  WEIR_TRY(std::uint64_t count, in.map());
  if (count != members)
    return fail(errc::malformed, fmt::format("{} has {} members where {} are expected", what, count, members));
  return {};
}

template <std::size_t Size>
result<void> read_octets(cbor::reader& in, std::string_view key, std::array<std::uint8_t, Size>& into) {
  WEIR_CHECK(in.key(key));
  WEIR_TRY(bytes_view octets, in.byte_string());
  if (octets.size() != Size)
    return fail(errc::malformed, fmt::format("\"{}\" has {} octets where {} are expected", key, octets.size(), Size));
  std::copy(octets.begin(), octets.end(), into.begin());
  return {};
}

result<void> read_number(cbor::reader& in, std::string_view key, std::uint64_t& into) {
  WEIR_CHECK(in.key(key));
  WEIR_TRY(into, in.unsigned_integer());
  return {};
}

result<void> read_text(cbor::reader& in, std::string_view key, std::size_t bytes_max, std::string& into) {
  WEIR_CHECK(in.key(key));
  WEIR_TRY(std::string_view text, in.text());
  if (text.size() > bytes_max)
    return fail(errc::too_large,
                fmt::format("\"{}\" has {} octets; at most {} are allowed", key, text.size(), bytes_max));
  into = text;
  return {};
}

// An array's count, compared with its limit before anything is made of it.
result<std::uint64_t> read_count(cbor::reader& in, std::uint64_t count_max, std::string_view what) {
  WEIR_TRY(std::uint64_t count, in.array());
  if (count > count_max)
    return fail(errc::too_large, fmt::format("{} {}; at most {} are allowed", count, what, count_max));
  return count;
}

void write_texts(cbor::writer& out, const std::vector<std::string>& texts) {
  out.array(texts.size());
  for (const std::string& text : texts) out.text(text);
}

// Findings name files, and a file's name may be long and any octets, where CBOR's text is UTF-8.
std::string as_finding(std::string text) {
  if (text.size() > limits::ref_bytes_max) text.resize(limits::ref_bytes_max);
  if (!is_utf8(text))
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

result<std::vector<std::string>> read_texts(cbor::reader& in, std::uint64_t count_max, std::string_view what) {
  WEIR_TRY(std::uint64_t count, read_count(in, count_max, what));
  std::vector<std::string> texts;
  texts.reserve(count);
  for (; count > 0; --count) {
    WEIR_TRY(std::string_view text, in.text());
    if (text.size() > limits::ref_bytes_max)
      return fail(errc::too_large, fmt::format("one of the {} has {} octets; at most {} are allowed", what, text.size(),
                                               limits::ref_bytes_max));
    texts.emplace_back(text);
  }
  return texts;
}

void write_record(cbor::writer& out, const store::record& what) {
  out.array(5).unsigned_integer(static_cast<std::uint64_t>(what.kind)).byte_string(what.object);
  write_texts(out, what.refs);
  write_texts(out, what.tags);
  out.array(what.deps.size());
  for (const cid& dep : what.deps) out.link(dep);
}

result<store::record> read_record(cbor::reader& in) {
  WEIR_TRY(std::uint64_t parts, in.array());
  if (parts != 5) return fail(errc::malformed, fmt::format("a record has {} parts where 5 are expected", parts));
  store::record record;
  WEIR_TRY(std::uint64_t kind, in.unsigned_integer());
  if (kind != static_cast<std::uint64_t>(codec::raw) && kind != static_cast<std::uint64_t>(codec::dag_cbor))
    return fail(errc::unsupported,
                fmt::format("a record's object has the codec 0x{:x}; 0x55 and 0x71 are known", kind));
  record.kind = static_cast<codec>(kind);
  WEIR_TRY(bytes_view object, in.byte_string());
  if (object.size() > limits::object_bytes_max)
    return fail(errc::too_large,
                fmt::format("an object of {} octets; at most {} are allowed", object.size(), limits::object_bytes_max));
  record.object = to_bytes(object);
  WEIR_TRY(record.refs, read_texts(in, limits::refs_max, "refs"));
  WEIR_TRY(record.tags, read_texts(in, limits::refs_max, "tags"));
  WEIR_TRY(std::uint64_t deps, read_count(in, limits::refs_max, "deps"));
  for (; deps > 0; --deps) {
    WEIR_TRY(cid dep, in.link());
    record.deps.push_back(dep);
  }
  return record;
}

}  // namespace

bytes encode(const identity& what) {
  bytes out;
  cbor::writer(out).map(2).key("version").text(what.version).key("publisher").byte_string(what.publisher.octets);
  return out;
}

result<identity> decode_identity(bytes_view octets) {
  cbor::reader in(octets);
  identity who;
  WEIR_CHECK(begin_map(in, 2, "an identity"));
  WEIR_CHECK(read_text(in, "version", limits::ref_bytes_max, who.version));
  WEIR_CHECK(read_octets(in, "publisher", who.publisher.octets));
  WEIR_CHECK(in.end());
  return who;
}

bytes encode(const status& what) {
  bytes out;
  cbor::writer writer(out);
  writer.map(10).key("listen").text(what.listen);
  writer.key("bundles").unsigned_integer(what.holds.bundles).key("counter").unsigned_integer(what.holds.counter);
  writer.key("objects").unsigned_integer(what.holds.objects).key("version").text(what.who.version);
  writer.key("publisher").byte_string(what.who.publisher.octets);
  writer.key("object_set").byte_string(what.holds.object_set);
  writer.key("statements").unsigned_integer(what.holds.statements);
  writer.key("object_bytes").unsigned_integer(what.holds.object_bytes);
  writer.key("statement_set").byte_string(what.holds.statement_set);
  return out;
}

result<status> decode_status(bytes_view octets) {
  cbor::reader in(octets);
  status now;
  WEIR_CHECK(begin_map(in, 10, "a status"));
  WEIR_CHECK(read_text(in, "listen", limits::ref_bytes_max, now.listen));
  WEIR_CHECK(read_number(in, "bundles", now.holds.bundles));
  WEIR_CHECK(read_number(in, "counter", now.holds.counter));
  WEIR_CHECK(read_number(in, "objects", now.holds.objects));
  WEIR_CHECK(read_text(in, "version", limits::ref_bytes_max, now.who.version));
  WEIR_CHECK(read_octets(in, "publisher", now.who.publisher.octets));
  WEIR_CHECK(read_octets(in, "object_set", now.holds.object_set));
  WEIR_CHECK(read_number(in, "statements", now.holds.statements));
  WEIR_CHECK(read_number(in, "object_bytes", now.holds.object_bytes));
  WEIR_CHECK(read_octets(in, "statement_set", now.holds.statement_set));
  WEIR_CHECK(in.end());
  return now;
}

bytes encode(const publication& what) {
  bytes out;
  std::size_t objects = 0;
  for (const store::record& record : what.records) objects += record.object.size() + 128;
  out.reserve(objects);
  cbor::writer writer(out);
  writer.map(3).key("again").boolean(what.again).key("records").array(what.records.size());
  for (const store::record& record : what.records) write_record(writer, record);
  writer.key("namespace").text(what.name_space);
  return out;
}

result<publication> decode_publication(bytes_view octets) {
  cbor::reader in(octets);
  publication what;
  WEIR_CHECK(begin_map(in, 3, "a publication"));
  WEIR_CHECK(in.key("again"));
  WEIR_TRY(what.again, in.boolean());
  WEIR_CHECK(in.key("records"));
  WEIR_TRY(std::uint64_t count, read_count(in, limits::batch_statements_max, "records in one publication"));
  what.records.reserve(count);
  for (; count > 0; --count) {
    WEIR_TRY(store::record record, read_record(in));
    what.records.push_back(std::move(record));
  }
  WEIR_CHECK(read_text(in, "namespace", limits::namespace_bytes_max, what.name_space));
  WEIR_CHECK(in.end());
  return what;
}

bytes encode(const published& what) {
  bytes out, ids;
  ids.reserve(what.ids.size() * sizeof(digest));
  for (const digest& id : what.ids) append(ids, id);
  cbor::writer writer(out);
  writer.map(6).key("ids").byte_string(ids).key("bytes").unsigned_integer(what.wrote.bytes);
  writer.key("objects").unsigned_integer(what.wrote.objects);
  writer.key("statements").unsigned_integer(what.wrote.statements);
  writer.key("said_before").unsigned_integer(what.said_before);
  writer.key("already_here").unsigned_integer(what.wrote.already_here);
  return out;
}

result<published> decode_published(bytes_view octets) {
  cbor::reader in(octets);
  published done;
  WEIR_CHECK(begin_map(in, 6, "an answer to a publication"));
  WEIR_CHECK(in.key("ids"));
  WEIR_TRY(bytes_view ids, in.byte_string());
  if (ids.size() % sizeof(digest) != 0 || ids.size() / sizeof(digest) > limits::batch_statements_max)
    return fail(errc::malformed, fmt::format("a list of ids of {} octets", ids.size()));
  done.ids.resize(ids.size() / sizeof(digest));
  for (digest& id : done.ids) {
    std::copy_n(ids.begin(), sizeof(digest), id.begin());
    ids = ids.subspan(sizeof(digest));
  }
  WEIR_CHECK(read_number(in, "bytes", done.wrote.bytes));
  WEIR_CHECK(read_number(in, "objects", done.wrote.objects));
  WEIR_CHECK(read_number(in, "statements", done.wrote.statements));
  WEIR_CHECK(read_number(in, "said_before", done.said_before));
  WEIR_CHECK(read_number(in, "already_here", done.wrote.already_here));
  WEIR_CHECK(in.end());
  return done;
}

bytes encode(const merge_order& what) {
  bytes out;
  cbor::writer writer(out);
  writer.map(3).key("peer").text(what.peer).key("lanes").unsigned_integer(what.lanes).key("query").text(what.query);
  return out;
}

result<merge_order> decode_merge_order(bytes_view octets) {
  cbor::reader in(octets);
  merge_order order;
  WEIR_CHECK(begin_map(in, 3, "an order to merge"));
  WEIR_CHECK(read_text(in, "peer", limits::ref_bytes_max, order.peer));
  WEIR_CHECK(read_number(in, "lanes", order.lanes));
  WEIR_CHECK(read_text(in, "query", limits::query_bytes_max, order.query));
  WEIR_CHECK(in.end());
  return order;
}

bytes encode(const merge::progress& what) {
  bytes out;
  cbor::writer writer(out);
  writer.map(5).key("bytes").unsigned_integer(what.bytes).key("listed").unsigned_integer(what.listed);
  writer.key("objects").unsigned_integer(what.objects).key("fraction").floating(what.fraction);
  writer.key("statements").unsigned_integer(what.statements);
  return out;
}

result<merge::progress> decode_progress(bytes_view octets) {
  cbor::reader in(octets);
  merge::progress so_far;
  WEIR_CHECK(begin_map(in, 5, "a merge's progress"));
  WEIR_CHECK(read_number(in, "bytes", so_far.bytes));
  WEIR_CHECK(read_number(in, "listed", so_far.listed));
  WEIR_CHECK(read_number(in, "objects", so_far.objects));
  WEIR_CHECK(in.key("fraction"));
  WEIR_TRY(so_far.fraction, in.floating());
  WEIR_CHECK(read_number(in, "statements", so_far.statements));
  WEIR_CHECK(in.end());
  return so_far;
}

bytes encode(const store::row& what) {
  bytes out;
  cbor::writer writer(out);
  writer.map(4).key("id").link(what.id).key("bundle").link(cid(codec::dag_cbor, what.bundle));
  writer.key("counter").unsigned_integer(what.counter).key("statement").encoded(what.encoded);
  return out;
}

result<store::row> decode_row(bytes_view octets) {
  cbor::reader in(octets);
  store::row row;
  WEIR_CHECK(begin_map(in, 4, "a row"));
  WEIR_CHECK(in.key("id"));
  WEIR_TRY(row.id, in.link());
  WEIR_CHECK(in.key("bundle"));
  WEIR_TRY(cid bundle, in.link());
  row.bundle = bundle.hash();
  WEIR_CHECK(read_number(in, "counter", row.counter));
  WEIR_CHECK(in.key("statement"));
  WEIR_TRY(bytes_view statement, in.skip());
  row.encoded = to_bytes(statement);
  WEIR_CHECK(in.end());
  return row;
}

bytes encode(const store::damage& what) {
  bytes out;
  cbor::writer writer(out);
  std::vector<std::string> first;
  std::transform(what.first.begin(), what.first.end(), std::back_inserter(first), as_finding);
  writer.map(6).key("first");
  write_texts(writer, first);
  writer.key("unattested").unsigned_integer(what.unattested).key("totals_differ").boolean(what.totals_differ);
  writer.key("corrupt_objects").unsigned_integer(what.corrupt_objects);
  writer.key("dangling_objects").unsigned_integer(what.dangling_objects);
  writer.key("corrupt_statements").unsigned_integer(what.corrupt_statements);
  return out;
}

result<store::damage> decode_damage(bytes_view octets) {
  cbor::reader in(octets);
  store::damage found;
  WEIR_CHECK(begin_map(in, 6, "the answer to a check"));
  WEIR_CHECK(in.key("first"));
  WEIR_TRY(found.first, read_texts(in, limits::damage_lines_max, "findings"));
  WEIR_CHECK(read_number(in, "unattested", found.unattested));
  WEIR_CHECK(in.key("totals_differ"));
  WEIR_TRY(found.totals_differ, in.boolean());
  WEIR_CHECK(read_number(in, "corrupt_objects", found.corrupt_objects));
  WEIR_CHECK(read_number(in, "dangling_objects", found.dangling_objects));
  WEIR_CHECK(read_number(in, "corrupt_statements", found.corrupt_statements));
  WEIR_CHECK(in.end());
  return found;
}

result<std::string> row_json(const store::row& what) {
  WEIR_TRY(store::statement said, store::decode_statement(what.encoded));
  nlohmann::ordered_json json;
  json["id"] = what.id.text();
  json["counter"] = what.counter;
  json["bundle"] = cid(codec::dag_cbor, what.bundle).text();
  json["publisher"] = said.publisher.text();
  json["namespace"] = said.name_space;
  json["object"] = said.object.text();
  json["refs"] = said.refs;
  json["tags"] = said.tags;
  auto& deps = json["deps"] = nlohmann::ordered_json::array();
  for (const cid& dep : said.deps) deps.push_back(dep.text());
  json["timestamp"] = said.timestamp;
  return json.dump();
}

}  // namespace weir::node
