#pragma once

#include <cstdint>

#include <weir/core/bytes.h>

#if defined(__x86_64__)
#define WEIR_CRC32C_INSTRUCTION 1
#else
#define WEIR_CRC32C_INSTRUCTION 0
#endif

/// The ways in which crc32c() computes, so that a test can compare them. They must agree on every input.
namespace weir::internal {

std::uint32_t crc32c_by_tables(bytes_view octets, std::uint32_t before) noexcept;

#if WEIR_CRC32C_INSTRUCTION
/// Only where crc32c_has_instruction().
std::uint32_t crc32c_by_instruction(bytes_view octets, std::uint32_t before) noexcept;
bool crc32c_has_instruction() noexcept;
#endif

}  // namespace weir::internal
