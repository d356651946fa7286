#include <weir/store/import/import.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <weir/core/file.h>
#include <weir/core/limits.h>
#include <weir/flow/flow.h>
#include <weir/store/import/deb822.h>
#include <weir/store/import/json_lines.h>
#include <weir/store/import/place.h>

namespace weir::store {

namespace {

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

constexpr bool is_ascii_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_empty(std::string_view line) noexcept { return std::ranges::all_of(line, is_blank); }

// Reads the next record when it is asked for one. What it holds is a line, a stanza that has begun, and nothing else.
class importer {
 public:
  importer(line_reader lines, const import_options& how)
      : lines_(std::move(lines)), how_(how), format_(how.format), stanzas_(lines_.path()) {}

  /// The next record, nothing at the end.
  result<std::optional<record>> next() {
    auto one = read_next();
    if (how_.taken) how_.taken->store(lines_.offset(), std::memory_order_relaxed);
    return one;
  }

 private:
  result<std::optional<record>> read_next() {
    std::string_view line;
    while (true) {
      WEIR_TRY(const bool more, lines_.next(line));
      if (!more) return format_ == import_format::deb822 ? stanzas_.end() : std::optional<record>();
      if (format_ == import_format::automatic) {
        if (is_empty(line)) continue;
        const auto first = std::ranges::find_if_not(line, is_blank);
        if (*first == '[')
          return internal::fault_in(lines_.path(), lines_.line_number(),
                                    "this begins a JSON array; JSON lines have one object a line");
        if (*first != '{' && !is_ascii_letter(*first))
          return internal::fault_in(lines_.path(), lines_.line_number(),
                                    "this begins neither JSON lines ('{') nor a Packages file (a field's name); "
                                    "name the format if it is one of them");
        format_ = *first == '{' ? import_format::json_lines : import_format::deb822;
      }
      if (format_ == import_format::json_lines) {
        if (is_empty(line)) continue;
        WEIR_TRY(record made, internal::json_record(line, how_, lines_.path(), lines_.line_number()));
        return std::optional<record>(std::move(made));
      }
      WEIR_TRY(std::optional<record> made, stanzas_.line(line, lines_.line_number()));
      if (made) return made;
    }
  }

  line_reader lines_;
  const import_options how_;
  import_format format_;
  internal::stanza_parser stanzas_;
};

class import_flow {
 public:
  using value_type = record;

  explicit import_flow(std::unique_ptr<importer> from) : from_(std::move(from)) {}

  template <class Emit>
  flow::step pull(std::size_t& demand, Emit&& emit, flow::context& cx) {
    while (demand != 0) {
      auto one = from_->next();
      if (!one) return cx.fail(std::move(one).error());
      if (!*one) return flow::step::done;
      --demand;
      emit(**std::move(one));
    }
    return flow::step::more;
  }

 private:
  std::unique_ptr<importer> from_;
};

}  // namespace

result<flow::any_flow<record>> import_file(const std::string& path, const import_options& how) {
  WEIR_TRY(line_reader lines, line_reader::open(path, limits::json_line_bytes_max));
  return flow::any_flow<record>(import_flow(std::make_unique<importer>(std::move(lines), how)));
}

}  // namespace weir::store
