#include <weir/net/rsocket/frame.h>

#include <array>
#include <cassert>

#include <fmt/format.h>

#include <weir/core/endian.h>

namespace weir::net::rsocket {

namespace {

constexpr std::size_t length_max = 0xffffff;

std::uint32_t load_24(const std::uint8_t* from) noexcept {
  return std::uint32_t{from[0]} << 16 | std::uint32_t{from[1]} << 8 | from[2];
}

constexpr bool is_known(std::uint8_t type) noexcept {
  return (type >= std::uint8_t(frame_type::setup) && type <= std::uint8_t(frame_type::resume_ok)) ||
         type == std::uint8_t(frame_type::ext);
}

/// Takes fields off the front of a frame. After the first field that is not there, every other is empty or zero, and
/// `ok` says so: the caller checks once, at the end.
class field_reader {
 public:
  explicit field_reader(bytes_view octets) : left_(octets) {}

  template <class T>
  T number() {
    if (left_.size() < sizeof(T)) return broken(), T{};
    const T value = load_big<T>(left_.data());
    left_ = left_.subspan(sizeof(T));
    return value;
  }
  std::uint32_t number_24() {
    if (left_.size() < 3) return broken(), 0;
    const std::uint32_t value = load_24(left_.data());
    left_ = left_.subspan(3);
    return value;
  }
  bytes_view take(std::size_t count) {
    if (left_.size() < count) return broken(), bytes_view{};
    const bytes_view taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  bytes_view rest() { return take(left_.size()); }
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  void broken() noexcept {
    ok_ = false;
    left_ = {};
  }
  bytes_view left_;
  bool ok_ = true;
};

error malformed(const frame& f, std::string_view what) {
  return fail(errc::malformed,
              fmt::format("a frame of type {:#04x} on stream {} {}", unsigned(f.type), f.stream, what));
}

void read_metadata_and_data(field_reader& in, frame& f) {
  if (f.has(flag::metadata)) {
    const std::uint32_t length = in.number_24();
    f.metadata = in.take(length);
  }
  f.data = in.rest();
}

void read_setup(field_reader& in, frame& f) {
  f.major = in.number<std::uint16_t>();
  f.minor = in.number<std::uint16_t>();
  f.keepalive_ms = in.number<std::uint32_t>();
  f.lifetime_ms = in.number<std::uint32_t>();
  if (f.has(flag::resume)) f.resume_token = in.take(in.number<std::uint16_t>());
  f.metadata_mime = as_text(in.take(in.number<std::uint8_t>()));
  f.data_mime = as_text(in.take(in.number<std::uint8_t>()));
  read_metadata_and_data(in, f);
}

void read_resume(field_reader& in, frame& f) {
  f.major = in.number<std::uint16_t>();
  f.minor = in.number<std::uint16_t>();
  f.resume_token = in.take(in.number<std::uint16_t>());
  f.position = in.number<std::uint64_t>();
  f.first_position = in.number<std::uint64_t>();
}

void read_fields(field_reader& in, frame& f) {
  switch (f.type) {
    case frame_type::setup:
      return read_setup(in, f);
    case frame_type::lease:
      f.ttl_ms = in.number<std::uint32_t>();
      f.number = in.number<std::uint32_t>();
      if (f.has(flag::metadata)) f.metadata = in.rest();
      return;
    case frame_type::keepalive:
      f.position = in.number<std::uint64_t>();
      f.data = in.rest();
      return;
    case frame_type::request_stream:
    case frame_type::request_channel:
      f.number = in.number<std::uint32_t>();
      [[fallthrough]];
    case frame_type::request_response:
    case frame_type::request_fnf:
    case frame_type::payload:
      return read_metadata_and_data(in, f);
    case frame_type::request_n:
      f.number = in.number<std::uint32_t>();
      return;
    case frame_type::cancel:
      return;
    case frame_type::error:
    case frame_type::ext:
      f.number = in.number<std::uint32_t>();
      f.data = in.rest();
      return;
    case frame_type::metadata_push:
      if (f.has(flag::metadata)) f.metadata = in.rest();
      return;
    case frame_type::resume:
      return read_resume(in, f);
    case frame_type::resume_ok:
      f.position = in.number<std::uint64_t>();
      return;
  }
}

/// What the specification demands of the fields beyond their lengths; empty when all is well.
std::string_view fault_of(const frame& f) {
  switch (f.type) {
    case frame_type::setup:
      if (f.keepalive_ms == 0 || f.keepalive_ms > number_max) return "has no valid time between keepalives";
      if (f.lifetime_ms == 0 || f.lifetime_ms > number_max) return "has no valid lifetime";
      return {};
    case frame_type::lease:
      return f.ttl_ms > number_max || f.number > number_max ? "has a reserved bit set" : "";
    case frame_type::request_stream:
    case frame_type::request_channel:
    case frame_type::request_n:
      return f.number == 0 || f.number > number_max ? "has no valid request n" : "";
    case frame_type::keepalive:
    case frame_type::resume_ok:
      return f.position > position_max ? "has a reserved bit set" : "";
    case frame_type::resume:
      return f.position > position_max || f.first_position > position_max ? "has a reserved bit set" : "";
    default:
      return {};
  }
}

/// The fixed part of a frame, gathered on the stack so that it enters the buffer in one piece.
class field_writer {
 public:
  template <class T>
  void number(T value) {
    store_big(octets_.data() + size_, value);
    size_ += sizeof(T);
  }
  void number_24(std::size_t value) {
    assert(value <= length_max);
    for (int shift = 16; shift >= 0; shift -= 8) octets_[size_++] = static_cast<std::uint8_t>(value >> shift);
  }
  void flush(bytes& to) {
    append(to, {octets_.data(), size_});
    size_ = 0;
  }

 private:
  std::array<std::uint8_t, 32> octets_;
  std::size_t size_ = 0;
};

/// Whether metadata has its length before it in frames of this type.
constexpr bool carries_data_beside_metadata(frame_type type) noexcept {
  return type == frame_type::setup || type == frame_type::payload || is_request(type);
}

std::size_t fixed_bytes(const frame& f) noexcept {
  switch (f.type) {
    case frame_type::setup:
      return 14 + f.metadata_mime.size() + f.data_mime.size() + (f.resume_token ? 2 + f.resume_token->size() : 0);
    case frame_type::lease:
    case frame_type::keepalive:
    case frame_type::resume_ok:
      return 8;
    case frame_type::request_stream:
    case frame_type::request_channel:
    case frame_type::request_n:
    case frame_type::error:
    case frame_type::ext:
      return 4;
    case frame_type::resume:
      return 22 + (f.resume_token ? f.resume_token->size() : 0);
    default:
      return 0;
  }
}

std::uint16_t flags_of(const frame& f) noexcept {
  std::uint16_t flags = f.flags & flag::all;
  if (f.metadata) flags |= flag::metadata;
  if (f.type == frame_type::setup && f.resume_token) flags |= flag::resume;
  return flags;
}

void write_text(field_writer& head, bytes& to, std::string_view text) {
  assert(text.size() <= 255);
  head.number(static_cast<std::uint8_t>(text.size()));
  head.flush(to);
  append(to, as_bytes(text));
}

void write_token(field_writer& head, bytes& to, bytes_view token) {
  assert(token.size() <= 0xffff);
  head.number(static_cast<std::uint16_t>(token.size()));
  head.flush(to);
  append(to, token);
}

void write_fields(field_writer& head, bytes& to, const frame& f) {
  switch (f.type) {
    case frame_type::setup:
      head.number(f.major);
      head.number(f.minor);
      head.number(f.keepalive_ms);
      head.number(f.lifetime_ms);
      if (f.resume_token) write_token(head, to, *f.resume_token);
      write_text(head, to, f.metadata_mime);
      write_text(head, to, f.data_mime);
      return;
    case frame_type::lease:
      head.number(f.ttl_ms);
      head.number(f.number);
      return;
    case frame_type::keepalive:
    case frame_type::resume_ok:
      return head.number(f.position);
    case frame_type::request_stream:
    case frame_type::request_channel:
    case frame_type::request_n:
    case frame_type::error:
    case frame_type::ext:
      return head.number(f.number);
    case frame_type::resume:
      head.number(f.major);
      head.number(f.minor);
      write_token(head, to, f.resume_token.value_or(bytes_view{}));
      head.number(f.position);
      head.number(f.first_position);
      return;
    default:
      return;
  }
}

}  // namespace

result<frame> parse_frame(bytes_view octets) {
  if (octets.size() < frame_header_bytes) {
    return fail(errc::malformed,
                fmt::format("a frame of {} octets, {} is the least", octets.size(), frame_header_bytes));
  }
  frame f;
  f.stream = load_big<std::uint32_t>(octets.data());
  const auto head = load_big<std::uint16_t>(octets.data() + 4);
  const auto type = static_cast<std::uint8_t>(head >> 10);
  f.type = static_cast<frame_type>(type);
  f.flags = head & flag::all;
  if (f.stream > number_max) return malformed(f, "has a reserved bit set");
  if (!is_known(type)) {
    return fail(errc::unsupported, fmt::format("a frame of unknown type {:#04x} on stream {}", type, f.stream));
  }
  field_reader in(octets.subspan(frame_header_bytes));
  read_fields(in, f);
  if (!in.ok()) return malformed(f, "is shorter than its fields");
  if (const auto fault = fault_of(f); !fault.empty()) return malformed(f, fault);
  return f;
}

bool is_ignorable(bytes_view octets) noexcept {
  return octets.size() >= frame_header_bytes && (load_big<std::uint16_t>(octets.data() + 4) & flag::ignore) != 0;
}

std::size_t frame_length(const std::uint8_t* octets) noexcept { return load_24(octets); }

std::size_t framed_bytes(const frame& f) noexcept {
  const std::size_t before_metadata = f.metadata && carries_data_beside_metadata(f.type) ? 3 : 0;
  return frame_length_bytes + frame_header_bytes + fixed_bytes(f) + before_metadata +
         (f.metadata ? f.metadata->size() : 0) + f.data.size();
}

void append_frame(bytes& to, const frame& f) {
  assert(f.stream <= number_max);
  const std::size_t size = framed_bytes(f);
  [[maybe_unused]] const std::size_t begin = to.size();
  field_writer head;
  head.number_24(size - frame_length_bytes);
  head.number(f.stream);
  head.number(static_cast<std::uint16_t>(std::uint16_t(f.type) << 10 | flags_of(f)));
  write_fields(head, to, f);
  if (f.metadata) {
    if (carries_data_beside_metadata(f.type)) head.number_24(f.metadata->size());
    head.flush(to);
    append(to, *f.metadata);
  } else {
    head.flush(to);
  }
  append(to, f.data);
  assert(to.size() - begin == size);
}

}  // namespace weir::net::rsocket
