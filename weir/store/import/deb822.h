#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/core/result.h>
#include <weir/store/batch.h>

namespace weir::store::internal {

/// Makes records of the stanzas of a Debian Packages index, line by line.
///
/// An object is the octets of its stanza as they stand in the file, each line ended by one newline, also the last line
/// of a file that lacks it: so a stanza is one object wherever it stands. Lines of nothing but blanks separate.
///   Bounds  limits::stanza_bytes_max and fields_max a stanza; the buffers are kept from one to the next.
///   Source  Debian Policy §5.1; deb822(5)
class stanza_parser {
 public:
  static constexpr std::size_t fields_max = 256;

  ///   file  as errors name it
  explicit stanza_parser(std::string file) : file_(std::move(file)) {}

  /// Takes the next line; gives the record that an empty line completes. After an error it is of no more use.
  result<std::optional<record>> line(std::string_view text, std::uint64_t number);
  /// Takes the end of the input; gives the last record.
  result<std::optional<record>> end();

 private:
  // The fields that a record is made of. Each is one line.
  enum known_field : std::uint8_t { package, version, architecture, section, known_fields };
  struct name_place {
    std::uint32_t offset;  // in stanza_
    std::uint32_t length;
  };

  result<void> begin_field(std::string_view text, std::uint64_t number);
  result<void> check_new(std::string_view name, std::uint64_t number);
  result<std::optional<record>> complete();
  [[nodiscard]] std::string_view name_at(const name_place& place) const noexcept;

  const std::string file_;
  bytes stanza_;
  std::uint64_t first_line_ = 0;
  std::vector<name_place> names_;
  std::uint64_t names_seen_ = 0;  // one bit for each hash of a name: names are searched only where the bit was set
  std::array<std::string, known_fields> values_;
  known_field last_ = known_fields;  // the field that a continuation line would continue, if known
};

}  // namespace weir::store::internal
