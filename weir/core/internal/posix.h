#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/file_faults.h>
#include <weir/core/result.h>

/// What the files of this folder share about descriptors. Not for other layers.
namespace weir::internal {

/// A descriptor that closes itself.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor();

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_ = -1;
};

/// Repeats a system call that a signal interrupts.
template <class Call>
auto retried(Call call) noexcept(noexcept(call())) {
  decltype(call()) answer;
  do {
    answer = call();
  } while (answer < 0 && errno == EINTR);
  return answer;
}

/// Asks the installed faults, if any, about a step.
file_faults::answer fault_before(file_step step, const std::filesystem::path& path, std::uint64_t octets = 0);

/// The error of a failed step: "cannot <verb> '<path>': <the system's words>".
error file_error(std::string_view verb, const std::filesystem::path& path, int number);

/// open(2), close-on-exec, by way of the faults.
result<descriptor> open_file(const std::filesystem::path& path, int flags, unsigned permissions, std::string_view verb);

/// Writes everything at the descriptor's position, over short writes and interruptions.
result<void> write_all(int number, const std::filesystem::path& path, bytes_view octets);

/// fsync(2) by way of the faults.
result<void> sync_all(int number, const std::filesystem::path& path);

/// The directory that holds a name; "." for a bare name.
std::filesystem::path directory_of(const std::filesystem::path& path);

/// A file beside `path` with a fresh name, holding the content and synced: the first half of putting a file in place in
/// one step. The caller renames or links it, or unlinks it when that fails. A crash in between leaves it behind, with
/// the ending ".new", harmless.
result<std::filesystem::path> write_beside(const std::filesystem::path& path, bytes_view content, unsigned permissions);

}  // namespace weir::internal
