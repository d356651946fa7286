#include <weir/store/import/deb822.h>

#include <algorithm>

#include <fmt/format.h>

#include <weir/core/limits.h>
#include <weir/core/utf8.h>
#include <weir/store/import/place.h>

namespace weir::store::internal {

namespace {

constexpr std::array<std::string_view, 4> known_names{"Package", "Version", "Architecture", "Section"};

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

bool is_separator(std::string_view line) noexcept { return std::ranges::all_of(line, is_blank); }

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Names of fields are the same in upper and lower case.
bool is_same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && std::ranges::equal(a, b, {}, lower, lower);
}

std::uint64_t bit_of(std::string_view name) noexcept {
  std::uint64_t hash = name.size();
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(lower(c))) * 0x9e3779b97f4a7c15u;
  return std::uint64_t{1} << (hash >> 58);
}

bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.front() != '-' && name.front() != '#' &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f; });
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// What a person needs to see of a wrong line.
std::string_view shortened(std::string_view line) noexcept {
  std::size_t end = std::min<std::size_t>(line.size(), 60);
  while (end < line.size() && end > 0 && (static_cast<std::uint8_t>(line[end]) & 0xc0) == 0x80) --end;
  return line.substr(0, end);
}

}  // namespace

result<std::optional<record>> stanza_parser::line(std::string_view text, std::uint64_t number) {
  if (is_separator(text)) return complete();
  if (!is_utf8(text)) return fault_in(file_, number, "the line is not UTF-8");
  if (stanza_.empty()) first_line_ = number;
  if (stanza_.size() + text.size() + 1 > limits::stanza_bytes_max)
    return fault_in(
        file_, number,
        fmt::format("the stanza that begins in line {} has more than {} octets", first_line_, limits::stanza_bytes_max),
        errc::too_large);
  if (!is_blank(text.front())) {
    WEIR_CHECK(begin_field(text, number));
  } else if (stanza_.empty()) {
    return fault_in(file_, number, "a continuation line, but no field before it; expected 'Name: value'");
  } else if (last_ != known_fields) {
    return fault_in(file_, number,
                    fmt::format("a continuation line; expected '{}' to be one line", known_names[last_]));
  }
  append(stanza_, as_bytes(text));
  stanza_.push_back('\n');
  return std::optional<record>();
}

result<void> stanza_parser::begin_field(std::string_view text, std::uint64_t number) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return fault_in(file_, number, fmt::format("'{}' has no colon; expected 'Name: value'", shortened(text)));
  const std::string_view name = text.substr(0, colon);
  if (!is_name(name))
    return fault_in(file_, number,
                    fmt::format("'{}' is not the name of a field; expected 'Name: value'", shortened(name)));
  WEIR_CHECK(check_new(name, number));
  last_ = known_fields;
  for (std::size_t k = 0; k < known_fields; ++k) {
    if (!is_same_name(name, known_names[k])) continue;
    values_[k] = trimmed(text.substr(colon + 1));
    if (values_[k].empty())
      return fault_in(file_, number, fmt::format("'{}' is empty; expected a value behind the colon", known_names[k]));
    last_ = static_cast<known_field>(k);
  }
  return {};
}

result<void> stanza_parser::check_new(std::string_view name, std::uint64_t number) {
  const std::uint64_t bit = bit_of(name);
  if ((names_seen_ & bit) != 0 &&
      std::ranges::any_of(names_, [&](const name_place& n) { return is_same_name(name_at(n), name); }))
    return fault_in(file_, number,
                    fmt::format("'{}' stands twice in the stanza that begins in line {}", name, first_line_));
  if (names_.size() == fields_max)
    return fault_in(file_, number,
                    fmt::format("the stanza that begins in line {} has more than {} fields", first_line_, fields_max),
                    errc::too_large);
  names_seen_ |= bit;
  names_.push_back({static_cast<std::uint32_t>(stanza_.size()), static_cast<std::uint32_t>(name.size())});
  return {};
}

std::string_view stanza_parser::name_at(const name_place& place) const noexcept {
  return as_text(stanza_).substr(place.offset, place.length);
}

result<std::optional<record>> stanza_parser::end() { return complete(); }

result<std::optional<record>> stanza_parser::complete() {
  if (stanza_.empty()) return std::optional<record>();
  for (const known_field k : {package, version, architecture}) {
    if (values_[k].empty())
      return fault_in(file_, first_line_,
                      fmt::format("the stanza that begins here has no '{}'; expected Package, "
                                  "Version and Architecture",
                                  known_names[k]));
  }
  record made;
  made.kind = codec::raw;
  std::string ref;
  ref.reserve(6 + values_[package].size() + values_[version].size() + values_[architecture].size());
  ref.append("deb:")
      .append(values_[package])
      .append("/")
      .append(values_[version])
      .append("/")
      .append(values_[architecture]);
  if (ref.size() > limits::ref_bytes_max || values_[section].size() > limits::ref_bytes_max)
    return fault_in(file_, first_line_,
                    fmt::format("a field of the stanza that begins here is too long: package, "
                                "version and architecture may have {} octets together, a section "
                                "as many",
                                limits::ref_bytes_max),
                    errc::too_large);
  made.refs.push_back(std::move(ref));
  if (!values_[section].empty()) made.tags.push_back(values_[section]);
  made.object.assign(stanza_.begin(), stanza_.end());  // exactly as large as it must be

  stanza_.clear();
  names_.clear();
  names_seen_ = 0;
  for (std::string& value : values_) value.clear();
  last_ = known_fields;
  return std::optional<record>(std::move(made));
}

}  // namespace weir::store::internal
