#include <weir/core/crc32c.h>

#include <array>
#include <cstddef>

#include <weir/core/endian.h>
#include <weir/core/internal/crc32c_ways.h>

#if WEIR_CRC32C_INSTRUCTION
#include <nmmintrin.h>
#endif

namespace weir {

namespace internal {

namespace {

using table = std::array<std::uint32_t, 256>;

// tables[0] advances the checksum by one octet; tables[k] by an octet that k others follow, so that eight independent
// look-ups advance it by eight octets.
constexpr std::array<table, 8> make_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78;  // 0x1edc6f41 with its bits reversed
  std::array<table, 8> made{};
  for (std::uint32_t octet = 0; octet < 256; ++octet) {
    std::uint32_t crc = octet;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ polynomial : crc >> 1;
    made[0][octet] = crc;
  }
  for (std::size_t k = 1; k < made.size(); ++k) {
    for (std::size_t octet = 0; octet < 256; ++octet) {
      const std::uint32_t crc = made[k - 1][octet];
      made[k][octet] = crc >> 8 ^ made[0][crc & 255];
    }
  }
  return made;
}

constexpr std::array<table, 8> tables = make_tables();

}  // namespace

std::uint32_t crc32c_by_tables(bytes_view octets, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  while (octets.size() >= 8) {
    const std::uint64_t eight = load_little<std::uint64_t>(octets.data()) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= tables[7 - i][eight >> (8 * i) & 255];
    octets = octets.subspan(8);
  }
  for (const std::uint8_t octet : octets) crc = crc >> 8 ^ tables[0][(crc ^ octet) & 255];
  return ~crc;
}

#if WEIR_CRC32C_INSTRUCTION

// Compiled for SSE4.2 whatever the rest is compiled for; called only after the CPU was asked.
__attribute__((target("sse4.2"))) std::uint32_t crc32c_by_instruction(bytes_view octets,
                                                                      std::uint32_t before) noexcept {
  std::uint64_t crc = ~before;
  const std::uint8_t* at = octets.data();
  std::size_t left = octets.size();
  for (; left >= 8; at += 8, left -= 8) crc = _mm_crc32_u64(crc, load_little<std::uint64_t>(at));
  auto narrow = static_cast<std::uint32_t>(crc);
  for (; left > 0; ++at, --left) narrow = _mm_crc32_u8(narrow, *at);
  return ~narrow;
}

bool crc32c_has_instruction() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }

#endif

}  // namespace internal

std::uint32_t crc32c(bytes_view octets, std::uint32_t before) noexcept {
#if WEIR_CRC32C_INSTRUCTION
  static const bool has_instruction = internal::crc32c_has_instruction();
  if (has_instruction) return internal::crc32c_by_instruction(octets, before);
#endif
  return internal::crc32c_by_tables(octets, before);
}

}  // namespace weir
