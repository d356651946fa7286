#include <weir/core/internal/posix.h>

#include <algorithm>
#include <atomic>
#include <cassert>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/core/random.h>

namespace weir {

namespace {

// Stored with release by scoped_file_faults and loaded with acquire by fault_before, so that whoever sees the pointer
// sees the object it points to.
std::atomic<file_faults*> installed_faults{nullptr};

}  // namespace

std::string_view to_string(file_step step) noexcept {
  switch (step) {
    case file_step::open:
      return "open";
    case file_step::append:
      return "append";
    case file_step::read:
      return "read";
    case file_step::sync:
      return "sync";
    case file_step::truncate:
      return "truncate";
    case file_step::rename:
      return "rename";
    case file_step::sync_directory:
      return "sync_directory";
  }
  return "unknown";
}

scoped_file_faults::scoped_file_faults(file_faults& faults) {
  // Acquire-release pairs with the same exchange of an earlier scope that has ended.
  [[maybe_unused]] const file_faults* before = installed_faults.exchange(&faults, std::memory_order_acq_rel);
  assert(before == nullptr);
}

scoped_file_faults::~scoped_file_faults() { installed_faults.store(nullptr, std::memory_order_release); }

namespace internal {

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  if (this != &other) {
    if (number_ >= 0) ::close(number_);
    number_ = other.release();
  }
  return *this;
}

descriptor::~descriptor() {
  // Nothing is lost by ignoring its answer: what must be durable has been synced, and the number is gone either way.
  if (number_ >= 0) ::close(number_);
}

file_faults::answer fault_before(file_step step, const std::filesystem::path& path, std::uint64_t octets) {
  file_faults* faults = installed_faults.load(std::memory_order_acquire);
  if (faults == nullptr) [[likely]]
    return {};
  return faults->before(step, path, octets);
}

error file_error(std::string_view verb, const std::filesystem::path& path, int number) {
  return system_error(fmt::format("cannot {} '{}'", verb, path.native()), number);
}

result<descriptor> open_file(const std::filesystem::path& path, int flags, unsigned permissions,
                             std::string_view verb) {
  if (const auto fault = fault_before(file_step::open, path); fault.number != 0) {
    return file_error(verb, path, fault.number);
  }
  descriptor opened(retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, permissions); }));
  if (opened.get() < 0) return file_error(verb, path, errno);
  return opened;
}

namespace {

result<void> write_loop(int number, const std::filesystem::path& path, bytes_view octets) {
  while (!octets.empty()) {
    const ssize_t wrote = retried([&] { return ::write(number, octets.data(), octets.size()); });
    if (wrote < 0) return file_error("write", path, errno);
    octets = octets.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

}  // namespace

result<void> write_all(int number, const std::filesystem::path& path, bytes_view octets) {
  const auto fault = fault_before(file_step::append, path, octets.size());
  if (fault.number != 0) {
    WEIR_CHECK(write_loop(number, path, octets.first(std::min(fault.octets, octets.size()))));
    return file_error("write", path, fault.number);
  }
  return write_loop(number, path, octets);
}

result<void> sync_all(int number, const std::filesystem::path& path) {
  if (const auto fault = fault_before(file_step::sync, path); fault.number != 0) {
    return file_error("sync", path, fault.number);
  }
  if (retried([&] { return ::fsync(number); }) < 0) return file_error("sync", path, errno);
  return {};
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  auto parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

result<std::filesystem::path> write_beside(const std::filesystem::path& path, bytes_view content,
                                           unsigned permissions) {
  auto beside = path;
  beside += fmt::format(".{:016x}.new", randomness::system().next());
  WEIR_TRY(auto opened, open_file(beside, O_WRONLY | O_CREAT | O_EXCL, permissions, "create"));
  auto written = write_all(opened.get(), beside, content);
  if (written) written = sync_all(opened.get(), beside);
  if (!written) {
    ::unlink(beside.c_str());
    return std::move(written).error();
  }
  return beside;
}

}  // namespace internal
}  // namespace weir
