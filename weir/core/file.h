#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir {

/// An open file: positioned reads, appending writes, durability on request. Closes itself.
///   Threads  read_at from any thread; the rest confined to one at a time.
///   Errors   every call names the file in its message; a full disk is disk_full.
class file {
 public:
  enum class mode : std::uint8_t { read, append_or_create, create_new };

  static result<file> open(const std::filesystem::path& path, mode how);

  file(file&& other) noexcept;
  file& operator=(file&& other) noexcept;
  ~file();

  /// Writes all octets at the end. After an error, how much was written is unknown: the caller truncates or gives up.
  result<void> append(bytes_view octets);
  /// Reads exactly this many octets; a shorter file is corrupt.
  result<void> read_at(std::uint64_t offset, std::span<std::uint8_t> into) const;
  /// Returns once the octets appended so far, and the length, survive a power cut (fdatasync).
  result<void> sync();
  result<void> truncate(std::uint64_t length);
  [[nodiscard]] result<std::uint64_t> size() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  file(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_ = -1;
  std::filesystem::path path_;
};

/// Keeps every other process out of a directory for as long as it lives (flock on DIR/lock).
class directory_lock {
 public:
  /// Makes the directory (mode 0700) if needed. `locked` names the holder's process id and what to do.
  static result<directory_lock> acquire(const std::filesystem::path& directory);
  directory_lock(directory_lock&& other) noexcept;
  directory_lock& operator=(directory_lock&& other) noexcept;
  ~directory_lock();

 private:
  explicit directory_lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// Makes names created in, or removed from, the directory survive a power cut.
result<void> sync_directory(const std::filesystem::path& directory);

/// Replaces a small file in one step: after a crash either the old or the new content is there, whole.
///   permissions  of the new file, e.g. 0600.
result<void> replace_file(const std::filesystem::path& path, bytes_view content, unsigned permissions = 0644);

/// The whole content of a file of at most `bytes_max` octets; too_large beyond.
result<bytes> read_file(const std::filesystem::path& path, std::size_t bytes_max);

/// Reads a text stream line by line in bounded memory, from a file or, for "-", from standard input.
class line_reader {
 public:
  ///   line_bytes_max  a longer line is an error that names the file and the line.
  static result<line_reader> open(const std::string& path, std::size_t line_bytes_max);
  line_reader(line_reader&& other) noexcept;
  line_reader& operator=(line_reader&& other) noexcept;
  ~line_reader();

  /// Takes the next line, without its newline, into `line`; false at the end. The view lives until the next call.
  result<bool> next(std::string_view& line);
  [[nodiscard]] std::uint64_t line_number() const noexcept { return line_number_; }  ///< of the last line, from 1
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }            ///< octets taken so far
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  line_reader() = default;
  result<void> fill();

  int descriptor_ = -1;
  std::string path_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0, line_bytes_max_ = 0;
  std::uint64_t line_number_ = 0, offset_ = 0;
  bool at_end_ = false;
};

}  // namespace weir
