#include <weir/net/rsocket/internal/outgoing.h>

#include <algorithm>

#include <weir/core/limits.h>

namespace weir::net::rsocket::internal {

bool outgoing::append_next(bytes& to) {
  frame f;
  f.stream = head_.stream;
  f.flags = head_.flags;
  if (begun_) {
    // A continuation says "next" whatever it continues: readers that look at the flag of each fragment expect it.
    f.flags = static_cast<std::uint16_t>((head_.flags & flag::complete) | flag::next);
  } else {
    f.type = head_.type;
    f.number = head_.number;
  }
  begun_ = true;

  const auto metadata = content_.metadata ? bytes_view(*content_.metadata) : bytes_view{};
  const auto metadata_left = metadata.subspan(metadata_sent_);
  const bool has_metadata = content_.metadata && (metadata_sent_ == 0 || !metadata_left.empty());
  if (has_metadata) f.metadata = bytes_view{};

  std::size_t room = limits::frame_bytes_max + frame_length_bytes - framed_bytes(f);
  if (has_metadata) {
    f.metadata = metadata_left.first(std::min(room, metadata_left.size()));
    metadata_sent_ += f.metadata->size();
    room -= f.metadata->size();
  }
  if (metadata_sent_ == metadata.size()) {
    const auto data_left = bytes_view(content_.data).subspan(data_sent_);
    f.data = data_left.first(std::min(room, data_left.size()));
    data_sent_ += f.data.size();
  }

  const bool last = metadata_sent_ == metadata.size() && data_sent_ == content_.data.size();
  if (!last) f.flags = static_cast<std::uint16_t>((f.flags & ~flag::complete) | flag::follows);
  append_frame(to, f);
  return last;
}

}  // namespace weir::net::rsocket::internal
