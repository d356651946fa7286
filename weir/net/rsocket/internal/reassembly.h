#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/net/rsocket/frame.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket::internal {

/// The payloads of one connection whose fragments are still coming.
///   Memory   twice the octets received of unfinished payloads, of which there are at most limits::reassembly_bytes_max in
///            all and limits::payload_bytes_max in one.
///   Threads  confined.
class reassembly {
 public:
  /// A payload that has all its fragments, with the fields of its first one.
  struct whole {
    frame_type type = frame_type::payload;
    std::uint16_t flags = 0;
    std::uint32_t number = 0;
    payload content;
  };

  [[nodiscard]] bool has(std::uint32_t stream) const { return parts_.contains(stream); }
  [[nodiscard]] std::size_t size() const noexcept { return parts_.size(); }
  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }

  /// Takes a fragment: the first of a stream, or a further one.
  ///   Errors  too_large, naming the limit.
  result<void> add(const frame& f);

  /// Adds credit that came while a request was not whole yet.
  void add_number(std::uint32_t stream, std::uint32_t more);

  /// Gives the payload of a stream that `has` one, and forgets it.
  whole take(std::uint32_t stream);

  /// Forgets what came of a stream.
  void drop(std::uint32_t stream);
  void clear();

 private:
  std::unordered_map<std::uint32_t, whole> parts_;
  std::size_t octets_ = 0;
};

}  // namespace weir::net::rsocket::internal
