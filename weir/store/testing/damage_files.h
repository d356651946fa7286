#pragma once

// What tests do to files behind a store's back.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <weir/core/bytes.h>

namespace weir::store::testing {

inline bytes read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return bytes(std::istreambuf_iterator<char>(in), {});
}

inline void write_whole(const std::filesystem::path& path, bytes_view octets) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(octets.data()), static_cast<std::streamsize>(octets.size()));
}

inline void flip_bit(const std::filesystem::path& path, std::uint64_t offset) {
  bytes octets = read_whole(path);
  octets.at(offset) ^= 1;
  write_whole(path, octets);
}

/// What a crash would leave of an open store, if everything written so far had reached the disk.
inline void copy_store(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  std::filesystem::create_directories(to / "objects");
  for (const char* name : {"statements.db", "statements.db-wal"}) {
    if (std::filesystem::exists(from / name)) std::filesystem::copy_file(from / name, to / name);
  }
  for (const auto& entry : std::filesystem::directory_iterator(from / "objects"))
    std::filesystem::copy_file(entry.path(), to / "objects" / entry.path().filename());
}

}  // namespace weir::store::testing
