#pragma once

#include <cstddef>

#include <weir/core/bytes.h>
#include <weir/net/rsocket/frame.h>
#include <weir/net/rsocket/rsocket.h>

namespace weir::net::rsocket::internal {

/// A payload on its way out, frame by frame: one frame where it fits into limits::frame_bytes_max, else a first frame and
/// PAYLOAD fragments, metadata before data. Whoever sends it decides before each frame whether there is room.
///   Owns     the payload.
///   Threads  confined.
class outgoing {
 public:
  /// The first frame's stream, type, flags and number; what `complete` ends is said by the last fragment.
  struct head {
    std::uint32_t stream = 0;
    frame_type type = frame_type::payload;
    std::uint16_t flags = 0;
    std::uint32_t number = 0;
  };

  outgoing(const head& first, payload content) : head_(first), content_(std::move(content)) {}

  /// Appends the next frame; returns whether it was the last.
  bool append_next(bytes& to);

 private:
  head head_;
  payload content_;
  bool begun_ = false;
  std::size_t metadata_sent_ = 0;
  std::size_t data_sent_ = 0;
};

}  // namespace weir::net::rsocket::internal
