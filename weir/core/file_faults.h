#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace weir {

/// Which step of a file a fault may strike.
enum class file_step : std::uint8_t { open, append, read, sync, truncate, rename, sync_directory };

std::string_view to_string(file_step step) noexcept;

/// A disk that fails on request: the seam through which tests and the simulation make `file`, `replace_file` and
/// `sync_directory` meet a full disk, a torn write, a failed sync or a crash at any step. Without one installed, each
/// step costs one load of an atomic pointer.
///   Threads  shared: asked by every thread that touches a file.
class file_faults {
 public:
  /// What happens instead of the step.
  struct answer {
    int number = 0;          ///< errno of the failure; 0 lets the step happen
    std::size_t octets = 0;  ///< how many octets of a failing append reach the file all the same: a torn write
  };

  virtual ~file_faults() = default;

  /// Asked before each step. May also end the process, which is how a test cuts the power at the n-th step.
  ///   octets  how many an append or a read is about, the new length for truncate, else 0
  virtual answer before(file_step step, const std::filesystem::path& path, std::uint64_t octets) = 0;
};

/// Installs faults for as long as it lives; one at a time in a process.
///   Threads  install and remove while no other thread is inside a file operation, since the faults are borrowed.
class scoped_file_faults {
 public:
  explicit scoped_file_faults(file_faults& faults);
  ~scoped_file_faults();
  scoped_file_faults(const scoped_file_faults&) = delete;
  scoped_file_faults& operator=(const scoped_file_faults&) = delete;
};

}  // namespace weir
