#include <weir/store/import/json_lines.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <weir/core/cbor.h>
#include <weir/core/limits.h>
#include <weir/store/import/json_cbor.h>
#include <weir/store/import/place.h>

namespace weir::store::internal {

namespace {

const bytes* find(const json_as_cbor& in, std::string_view key) {
  const auto found = std::ranges::find(in.members, key, &json_as_cbor::member::key);
  return found == in.members.end() ? nullptr : &found->value;
}

// A text as it is, a whole number in decimal; nothing for anything else.
std::string as_ref(bytes_view encoded) {
  cbor::reader in(encoded);
  if (const auto text = in.text()) return std::string(*text);
  if (const auto number = in.unsigned_integer()) return fmt::format("{}", *number);
  if (const auto number = in.integer()) return fmt::format("{}", *number);
  return {};
}

// A text, or an array of texts without those that came before; false for anything else.
bool read_tags(bytes_view encoded, std::vector<std::string>& tags) {
  cbor::reader in(encoded);
  if (const auto text = in.text()) {
    tags.emplace_back(*text);
    return true;
  }
  const auto count = in.array();
  if (!count) return false;
  for (std::uint64_t i = 0; i < *count; ++i) {
    const auto text = in.text();
    if (!text) return false;
    if (std::ranges::find(tags, *text) == tags.end()) tags.emplace_back(*text);
    if (tags.size() > limits::refs_max) return true;  // too many; the caller says so
  }
  return true;
}

bool is_fit(const std::string& text) noexcept { return !text.empty() && text.size() <= limits::ref_bytes_max; }

}  // namespace

result<record> json_record(std::string_view text, const import_options& how, std::string_view file,
                           std::uint64_t line) {
  std::vector<std::string_view> wanted;
  if (!how.ref_field.empty()) wanted.push_back(how.ref_field);
  if (!how.tag_field.empty()) wanted.push_back(how.tag_field);
  json_as_cbor parsed;
  json_fault fault;
  if (!json_to_cbor(text, wanted, parsed, fault)) return fault_in(file, line, fault.column, fault.sentence, fault.code);
  if (parsed.object.size() > limits::object_bytes_max)
    return fault_in(file, line,
                    fmt::format("as DAG-CBOR the object has {} octets; at most {} are allowed", parsed.object.size(),
                                limits::object_bytes_max),
                    errc::too_large);
  record made;
  made.kind = codec::dag_cbor;
  if (!how.ref_field.empty()) {
    const bytes* member = find(parsed, how.ref_field);
    if (member == nullptr)
      return fault_in(file, line,
                      fmt::format("the object has no member \"{}\", which is to be its ref", how.ref_field));
    const std::string value = as_ref(*member);
    if (value.empty())
      return fault_in(file, line,
                      fmt::format("\"{}\" is to be the ref; expected a text or a whole number there", how.ref_field));
    made.refs.push_back(how.ref_prefix + value);
    if (!is_fit(made.refs.back()))
      return fault_in(
          file, line,
          fmt::format("the ref has {} octets; at most {} are allowed", made.refs.back().size(), limits::ref_bytes_max),
          errc::too_large);
  }
  if (const bytes* member = how.tag_field.empty() ? nullptr : find(parsed, how.tag_field)) {
    if (!read_tags(*member, made.tags))
      return fault_in(
          file, line,
          fmt::format("\"{}\" is to be the tags; expected a text or an array of texts there", how.tag_field));
    if (made.tags.size() > limits::refs_max || !std::ranges::all_of(made.tags, is_fit))
      return fault_in(file, line,
                      fmt::format("\"{}\" gives too many tags, or one that is empty or too long; at most {} "
                                  "of 1 to {} octets are allowed",
                                  how.tag_field, limits::refs_max, limits::ref_bytes_max),
                      errc::too_large);
  }
  made.deps = std::move(parsed.links);
  made.object = std::move(parsed.object);
  return made;
}

}  // namespace weir::store::internal
