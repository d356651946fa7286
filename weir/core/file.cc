#include <weir/core/file.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/core/internal/posix.h>

namespace weir {

using internal::fault_before;
using internal::file_error;
using internal::retried;

result<file> file::open(const std::filesystem::path& path, mode how) {
  int flags = O_RDONLY;
  std::string_view verb = "open";
  if (how == mode::append_or_create) flags = O_RDWR | O_APPEND | O_CREAT;
  if (how == mode::create_new) {
    flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL;
    verb = "create";
  }
  WEIR_TRY(auto opened, internal::open_file(path, flags, 0644, verb));
  return file(opened.release(), path);
}

file::file(file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

file& file::operator=(file&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

file::~file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

result<void> file::append(bytes_view octets) { return internal::write_all(descriptor_, path_, octets); }

result<void> file::read_at(std::uint64_t offset, std::span<std::uint8_t> into) const {
  if (const auto fault = fault_before(file_step::read, path_, into.size()); fault.number != 0) {
    return file_error("read", path_, fault.number);
  }
  // An offset from a damaged index may be any number; what off_t cannot hold is past every end. The kernel would say
  // EINVAL where it should say that the file is too short.
  constexpr std::uint64_t offset_max = std::numeric_limits<off_t>::max();
  const bool reachable = into.size() <= offset_max && offset <= offset_max - into.size();
  std::size_t filled = 0;
  while (filled < into.size()) {
    ssize_t got = 0;
    if (reachable) {
      got = retried([&] {
        return ::pread(descriptor_, into.data() + filled, into.size() - filled, static_cast<off_t>(offset + filled));
      });
    }
    if (got < 0) return file_error("read", path_, errno);
    if (got == 0) {
      return fail(errc::corrupt, fmt::format("'{}' is too short: {} octets expected at offset {}, "
                                             "{} are there",
                                             path_.native(), into.size(), offset, filled));
    }
    filled += static_cast<std::size_t>(got);
  }
  return {};
}

result<void> file::sync() {
  if (const auto fault = fault_before(file_step::sync, path_); fault.number != 0) {
    return file_error("sync", path_, fault.number);
  }
  if (retried([&] { return ::fdatasync(descriptor_); }) < 0) {
    return file_error("sync", path_, errno);
  }
  return {};
}

result<void> file::truncate(std::uint64_t length) {
  if (const auto fault = fault_before(file_step::truncate, path_, length); fault.number != 0) {
    return file_error("truncate", path_, fault.number);
  }
  if (length > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
    return file_error("truncate", path_, EFBIG);
  }
  if (retried([&] { return ::ftruncate(descriptor_, static_cast<off_t>(length)); }) < 0) {
    return file_error("truncate", path_, errno);
  }
  return {};
}

result<std::uint64_t> file::size() const {
  struct stat facts {};
  if (::fstat(descriptor_, &facts) < 0) return file_error("examine", path_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

result<void> sync_directory(const std::filesystem::path& directory) {
  if (const auto fault = fault_before(file_step::sync_directory, directory); fault.number != 0) {
    return file_error("sync directory", directory, fault.number);
  }
  const internal::descriptor opened(
      retried([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (opened.get() < 0) return file_error("open directory", directory, errno);
  if (retried([&] { return ::fsync(opened.get()); }) < 0) {
    return file_error("sync directory", directory, errno);
  }
  return {};
}

result<void> replace_file(const std::filesystem::path& path, bytes_view content, unsigned permissions) {
  WEIR_TRY(const auto beside, internal::write_beside(path, content, permissions));
  int number = fault_before(file_step::rename, path).number;
  if (number == 0 && ::rename(beside.c_str(), path.c_str()) < 0) number = errno;
  if (number != 0) {
    ::unlink(beside.c_str());
    return file_error("replace", path, number);
  }
  return sync_directory(internal::directory_of(path));
}

result<bytes> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  WEIR_TRY(const auto opened, internal::open_file(path, O_RDONLY, 0, "open"));
  if (const auto fault = fault_before(file_step::read, path); fault.number != 0) {
    return file_error("read", path, fault.number);
  }
  struct stat facts {};
  if (::fstat(opened.get(), &facts) < 0) return file_error("examine", path, errno);
  // The size is a hint only: a pipe or a file of /proc says 0, and the file may grow meanwhile. One octet more than
  // the hint lets the common case end with the second read.
  constexpr std::size_t step_min = 4096;
  const auto hint = static_cast<std::size_t>(std::max<off_t>(facts.st_size, 0));
  bytes content;
  std::size_t filled = 0;
  while (true) {
    if (filled == content.size()) {
      const std::size_t wanted = std::max({hint + 1, filled * 2, step_min});
      content.resize(std::min(wanted, bytes_max + 1));
    }
    const ssize_t got = retried([&] { return ::read(opened.get(), content.data() + filled, content.size() - filled); });
    if (got < 0) return file_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > bytes_max) {
      return fail(errc::too_large,
                  fmt::format("'{}' has more than the {} octets that are accepted", path.native(), bytes_max));
    }
  }
  content.resize(filled);
  return content;
}

}  // namespace weir
