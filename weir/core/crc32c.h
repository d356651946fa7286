#pragma once

#include <cstdint>

#include <weir/core/bytes.h>

namespace weir {

/// CRC-32C (Castagnoli), the checksum of Weir's files: finds what disks and cables do, not what people do.
///   before   the checksum of what comes before the octets, so that pieces give the checksum of the whole
///   Threads  any.
///   Cost     one step per 8 octets: the CPU's instruction where there is one (SSE4.2), tables otherwise.
///   Source   RFC 3720 appendix B.4
std::uint32_t crc32c(bytes_view octets, std::uint32_t before = 0) noexcept;

}  // namespace weir
