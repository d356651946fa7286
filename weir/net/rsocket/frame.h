#pragma once

// The frames of RSocket 1.0 as octets: a pure codec, without state and without I/O.
//
//      0                   1                   2                   3
//      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//     +-----------------------------------------------+
//     |             length, over TCP only             |
//     +-+---------------------------------------------+---------------+
//     |0|                        stream id                            |
//     +-----------+-+-+---------------+-------------------------------+
//     |   type    |I|M| flags by type |  fields by type, then         |
//     +-----------+-+-+---------------+  metadata and data ...        |
//     +---------------------------------------------------------------+
//
// All numbers are big-endian. Where a frame can carry data, metadata is preceded by its length in 24 bits; where it
// cannot, metadata is all that is left.
//
// Source: https://rsocket.io/about/protocol; docs/formats/rsocket.md says which parts are spoken.

#include <cstdint>
#include <optional>
#include <string_view>

#include <weir/core/bytes.h>
#include <weir/core/result.h>

namespace weir::net::rsocket {

enum class frame_type : std::uint8_t {
  setup = 0x01,
  lease = 0x02,
  keepalive = 0x03,
  request_response = 0x04,
  request_fnf = 0x05,
  request_stream = 0x06,
  request_channel = 0x07,
  request_n = 0x08,
  cancel = 0x09,
  payload = 0x0a,
  error = 0x0b,
  metadata_push = 0x0c,
  resume = 0x0d,
  resume_ok = 0x0e,
  ext = 0x3f,
};

/// The ten flag bits. Some mean different things in different types.
namespace flag {
inline constexpr std::uint16_t ignore = 0x200;    ///< whoever does not know the frame may pass over it
inline constexpr std::uint16_t metadata = 0x100;  ///< set by the codec, from frame::metadata
inline constexpr std::uint16_t follows = 0x080;   ///< requests, PAYLOAD: more fragments come
inline constexpr std::uint16_t resume = 0x080;    ///< SETUP: a resume token is there; set by the codec
inline constexpr std::uint16_t respond = 0x080;   ///< KEEPALIVE: answer this one
inline constexpr std::uint16_t complete = 0x040;  ///< REQUEST_CHANNEL, PAYLOAD: the last one
inline constexpr std::uint16_t lease = 0x040;     ///< SETUP: the client honours leases
inline constexpr std::uint16_t next = 0x020;      ///< PAYLOAD: an item is in it
inline constexpr std::uint16_t all = 0x3ff;
}  // namespace flag

/// What an ERROR frame says. Numbers that are not listed are legal: from 0x301 they belong to applications.
enum class error_code : std::uint32_t {
  invalid_setup = 0x001,
  unsupported_setup = 0x002,
  rejected_setup = 0x003,
  rejected_resume = 0x004,
  connection_error = 0x101,
  connection_close = 0x102,
  application_error = 0x201,
  rejected = 0x202,
  canceled = 0x203,
  invalid = 0x204,
};

inline constexpr std::uint32_t number_max = 0x7fffffff;  ///< of stream ids, credits and times: 31 bits
inline constexpr std::uint64_t position_max = 0x7fffffffffffffff;
inline constexpr std::size_t frame_header_bytes = 6;
inline constexpr std::size_t frame_length_bytes = 3;
inline constexpr std::uint16_t version_major = 1, version_minor = 0;

/// One frame, its fields side by side; which of them a type has is said at the field. Views borrow from the octets that
/// were parsed, or from whoever filled them in.
struct frame {
  std::uint32_t stream = 0;
  frame_type type = frame_type::payload;
  std::uint16_t flags = 0;
  std::uint32_t number = 0;            ///< initial request n, request n, error code, lease's requests, extended type
  bytes_view data;                     ///< all but LEASE, REQUEST_N, CANCEL, METADATA_PUSH, RESUME, RESUME_OK
  std::optional<bytes_view> metadata;  ///< SETUP, requests, PAYLOAD, LEASE, METADATA_PUSH

  std::uint32_t ttl_ms = 0;          ///< LEASE
  std::uint64_t position = 0;        ///< KEEPALIVE, RESUME, RESUME_OK: the last position received
  std::uint64_t first_position = 0;  ///< RESUME: the first position still available

  std::uint16_t major = version_major, minor = version_minor;  ///< SETUP, RESUME
  std::uint32_t keepalive_ms = 0, lifetime_ms = 0;             ///< SETUP
  std::optional<bytes_view> resume_token;                      ///< SETUP; in RESUME always there
  std::string_view metadata_mime, data_mime;                   ///< SETUP

  [[nodiscard]] bool has(std::uint16_t bit) const noexcept { return (flags & bit) != 0; }
};

/// Whether the type begins an interaction: request-response, fire-and-forget, stream, channel.
constexpr bool is_request(frame_type type) noexcept {
  return type >= frame_type::request_response && type <= frame_type::request_channel;
}

/// Reads one frame from exactly its octets, without the length before it.
///   Errors   malformed: too short for its fields, a length that reaches past the end, a reserved bit or a zero where
///            the specification forbids it; unsupported: an unknown type (whose frame::flags may ask to ignore it, see
///            `is_ignorable`).
///   Cost     constant; never allocates but for an error's message.
result<frame> parse_frame(bytes_view octets);

/// Whether a frame that `parse_frame` calls unsupported asks to be passed over.
bool is_ignorable(bytes_view octets) noexcept;

/// The length that the first three octets announce; the caller has them.
std::size_t frame_length(const std::uint8_t* octets) noexcept;

/// How many octets `append_frame` writes, the length before the frame included.
std::size_t framed_bytes(const frame& f) noexcept;

/// Appends the frame's octets with their length before them. That it fits in 24 bits, that numbers fit in 31 bits and
/// MIME types in 255 octets is up to the caller (asserted).
void append_frame(bytes& to, const frame& f);

}  // namespace weir::net::rsocket
