#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/core/file.h>
#include <weir/core/internal/posix.h>

namespace weir {

namespace {

result<void> make_directory(const std::filesystem::path& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0) {
    return sync_directory(internal::directory_of(directory));
  }
  if (errno == EEXIST) return {};  // If it is no directory, opening DIR/lock says so.
  return internal::file_error("create directory", directory, errno);
}

// Only its owner writes the file, after it has the lock; the reader may come in between and find nothing yet.
std::string holder(int descriptor) {
  char text[32];
  const ssize_t got = internal::retried([&] { return ::pread(descriptor, text, sizeof text, 0); });
  std::string digits;
  for (ssize_t i = 0; i < got && text[i] >= '0' && text[i] <= '9'; ++i) digits.push_back(text[i]);
  return digits.empty() ? "another process" : "process " + digits;
}

}  // namespace

result<directory_lock> directory_lock::acquire(const std::filesystem::path& given) {
  // "a/b/" names the same directory as "a/b", but its parent_path() does not say "a".
  const auto directory = given.has_filename() ? given : given.parent_path();
  std::error_code failure;
  if (directory.has_parent_path()) {
    std::filesystem::create_directories(directory.parent_path(), failure);
    if (failure) return internal::file_error("create directory", directory, failure.value());
  }
  WEIR_CHECK(make_directory(directory));

  const auto path = directory / "lock";
  WEIR_TRY(auto opened, internal::open_file(path, O_RDWR | O_CREAT, 0600, "open"));
  if (internal::retried([&] { return ::flock(opened.get(), LOCK_EX | LOCK_NB); }) < 0) {
    if (errno != EWOULDBLOCK) return internal::file_error("lock", path, errno);
    return fail(errc::locked, fmt::format("the data directory '{}' is in use by {}: stop it, or use another "
                                          "directory",
                                          directory.native(), holder(opened.get())));
  }
  // The process id is for people; the lock holds without it, but a directory that cannot be written is of no use.
  if (::ftruncate(opened.get(), 0) < 0) return internal::file_error("write", path, errno);
  WEIR_CHECK(internal::write_all(opened.get(), path, as_bytes(fmt::format("{}\n", ::getpid()))));
  return directory_lock(opened.release());
}

directory_lock::directory_lock(directory_lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

directory_lock& directory_lock::operator=(directory_lock&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

directory_lock::~directory_lock() {
  // The file stays: were it removed, a process that has opened it already and one that makes it anew could both hold
  // "the" lock.
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace weir
