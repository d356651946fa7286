#pragma once

#include <cstdint>
#include <filesystem>

#include <weir/core/bytes.h>

/// What tests do to files behind a store's back, and behind the faults of core's files.
namespace weir::store::testing {

bytes read_whole(const std::filesystem::path& path);
void write_whole(const std::filesystem::path& path, bytes_view octets);
void flip_bit(const std::filesystem::path& path, std::uint64_t offset);

/// What a crash would leave of an open store, if everything written so far had reached the disk.
void copy_store(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace weir::store::testing
