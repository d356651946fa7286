#include <weir/store/statement.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/core/utf8.h>

// The keys of the map, in the order DAG-CBOR demands: shorter first, then bytewise.
//
//   "deps"  "refs"  "tags"  "object"  "namespace"  "publisher"  "timestamp"

namespace weir::store {

namespace {

// What SQLite's integers and a signed clock hold; year 292 billion.
constexpr std::uint64_t timestamp_max = std::numeric_limits<std::int64_t>::max();

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

// Lists are mostly of one or two items; the sorted way is for the long ones a stranger may send.
template <class T>
bool has_repetition(const std::vector<T>& items) {
  if (items.size() < 2) return false;
  if (items.size() <= 8) {
    for (std::size_t i = 1; i < items.size(); ++i) {
      if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), items[i]) !=
          items.begin() + static_cast<std::ptrdiff_t>(i))
        return true;
    }
    return false;
  }
  std::vector<T> sorted = items;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

result<void> check_count(std::string_view what, std::uint64_t count) {
  if (count > limits::refs_max)
    return fail(errc::too_large,
                fmt::format("a statement has {} {}; at most {} are allowed", count, what, limits::refs_max));
  return {};
}

// `broken` is the code for what no encoder of ours would have written: the caller's fault when encoding, a malformed
// block when decoding.
result<void> check_texts(std::string_view what, const std::vector<std::string>& texts, errc broken) {
  WEIR_CHECK(check_count(what, texts.size()));
  for (const std::string& text : texts) {
    if (text.size() > limits::ref_bytes_max)
      return fail(errc::too_large, fmt::format("one of a statement's {} has {} octets; at most {} are allowed", what,
                                               text.size(), limits::ref_bytes_max));
    if (text.empty()) return fail(broken, fmt::format("one of a statement's {} is empty", what));
    if (!is_utf8(text)) return fail(broken, fmt::format("one of a statement's {} is not UTF-8", what));
  }
  if (has_repetition(texts)) return fail(broken, fmt::format("a statement names one of its {} twice", what));
  return {};
}

result<void> check(const statement& s, errc broken) {
  WEIR_CHECK(check_texts("refs", s.refs, broken));
  WEIR_CHECK(check_texts("tags", s.tags, broken));
  WEIR_CHECK(check_count("deps", s.deps.size()));
  if (has_repetition(s.deps)) return fail(broken, "a statement names one of its deps twice");
  if (s.timestamp > timestamp_max)
    return fail(errc::too_large,
                fmt::format("a statement's timestamp is {}; at most {} is allowed", s.timestamp, timestamp_max));
  return check_namespace(s.name_space);
}

std::size_t encoded_size_hint(const statement& s) {
  std::size_t size = 160 + s.name_space.size() + 42 * s.deps.size();
  for (const std::string& ref : s.refs) size += ref.size() + 3;
  for (const std::string& tag : s.tags) size += tag.size() + 3;
  return size;
}

result<std::vector<std::string>> read_texts(cbor::reader& in, std::string_view what) {
  WEIR_TRY(const std::uint64_t count, in.array());
  WEIR_CHECK(check_count(what, count));
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    WEIR_TRY(const std::string_view text, in.text());
    texts.emplace_back(text);
  }
  return texts;
}

}  // namespace

result<void> check_namespace(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return fail(errc::invalid_argument,
                fmt::format("'{}' is not a namespace: {}; expected parts of letters, digits and "
                            "'-', joined by dots, as in images.dpla",
                            name, why));
  };
  if (name.empty()) return refuse("it is empty");
  if (name.size() > limits::namespace_bytes_max)
    return fail(errc::invalid_argument, fmt::format("a namespace of {} octets; at most {} are allowed", name.size(),
                                                    limits::namespace_bytes_max));
  bool part_begun = false;
  for (const char c : name) {
    if (is_name_character(c)) {
      part_begun = true;
    } else if (c != '.') {
      return refuse("it has a character that does not belong there");
    } else if (!part_begun) {
      return refuse("one of its parts is empty");
    } else {
      part_begun = false;
    }
  }
  if (!part_begun) return refuse("one of its parts is empty");
  return {};
}

result<bytes> encode(const statement& what) {
  WEIR_CHECK(check(what, errc::invalid_argument));
  bytes out;
  out.reserve(encoded_size_hint(what));
  cbor::writer w(out);
  w.map(7);
  w.key("deps").array(what.deps.size());
  for (const cid& dep : what.deps) w.link(dep);
  w.key("refs").array(what.refs.size());
  for (const std::string& ref : what.refs) w.text(ref);
  w.key("tags").array(what.tags.size());
  for (const std::string& tag : what.tags) w.text(tag);
  w.key("object").link(what.object);
  w.key("namespace").text(what.name_space);
  w.key("publisher").byte_string(what.publisher.octets);
  w.key("timestamp").unsigned_integer(what.timestamp);
  if (out.size() > limits::statement_bytes_max)
    return fail(errc::too_large, fmt::format("a statement of {} octets; at most {} are allowed", out.size(),
                                             limits::statement_bytes_max));
  return out;
}

result<statement> decode_statement(bytes_view encoded) {
  if (encoded.size() > limits::statement_bytes_max)
    return fail(errc::too_large, fmt::format("a statement of {} octets; at most {} are allowed", encoded.size(),
                                             limits::statement_bytes_max));
  cbor::reader in(encoded);
  statement s;
  WEIR_TRY(const std::uint64_t members, in.map());
  if (members != 7)
    return fail(errc::malformed, fmt::format("a statement is a map of 7 members; this one has {}", members));
  WEIR_CHECK(in.key("deps"));
  WEIR_TRY(const std::uint64_t deps, in.array());
  WEIR_CHECK(check_count("deps", deps));
  s.deps.reserve(deps);
  for (std::uint64_t i = 0; i < deps; ++i) {
    WEIR_TRY(const cid dep, in.link());
    s.deps.push_back(dep);
  }
  WEIR_CHECK(in.key("refs"));
  WEIR_TRY(s.refs, read_texts(in, "refs"));
  WEIR_CHECK(in.key("tags"));
  WEIR_TRY(s.tags, read_texts(in, "tags"));
  WEIR_CHECK(in.key("object"));
  WEIR_TRY(s.object, in.link());
  WEIR_CHECK(in.key("namespace"));
  WEIR_TRY(const std::string_view name, in.text());
  s.name_space = name;
  WEIR_CHECK(in.key("publisher"));
  WEIR_TRY(const bytes_view key, in.byte_string());
  if (key.size() != s.publisher.octets.size())
    return fail(errc::malformed, fmt::format("a publisher is a key of 32 octets; this one has {}", key.size()));
  std::copy(key.begin(), key.end(), s.publisher.octets.begin());
  WEIR_CHECK(in.key("timestamp"));
  WEIR_TRY(s.timestamp, in.unsigned_integer());
  WEIR_CHECK(in.end());
  if (auto good = check(s, errc::malformed); !good) {
    error why = std::move(good).error();
    if (why.code == errc::invalid_argument)
      why.code = errc::malformed;  // a bad namespace, which is the caller's argument only when encoding
    return why;
  }
  return s;
}

}  // namespace weir::store
