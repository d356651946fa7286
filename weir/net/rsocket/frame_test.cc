#include <weir/net/rsocket/frame.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace weir::net::rsocket {
namespace {

/// The file of golden octets: name and octets of each frame, written by another implementation.
std::map<std::string, bytes> golden() {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../../../tests/golden/net/frames.txt";
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::map<std::string, bytes> frames;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string name, hex;
    words >> name >> hex;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      frames[name].push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
  }
  return frames;
}

frame simple(frame_type type, std::uint32_t stream, std::uint16_t flags = 0, std::string_view data = {}) {
  frame f;
  f.type = type;
  f.stream = stream;
  f.flags = flags;
  f.data = as_bytes(data);
  return f;
}

frame with_number(frame f, std::uint32_t number) {
  f.number = number;
  return f;
}

frame with_metadata(frame f, std::string_view metadata) {
  f.metadata = as_bytes(metadata);
  return f;
}

/// The same frames, as this code says them.
std::map<std::string, frame> spoken() {
  using enum frame_type;
  std::map<std::string, frame> frames;
  frame f = with_metadata(simple(setup, 0, 0, "hello"), "m");
  f.keepalive_ms = 20'000;
  f.lifetime_ms = 90'000;
  f.metadata_mime = "message/x.rsocket.routing.v0";
  f.data_mime = "application/cbor";
  frames["setup"] = f;
  f = simple(setup, 0);
  f.keepalive_ms = 500;
  f.lifetime_ms = 1000;
  f.resume_token = as_bytes("token");
  f.metadata_mime = "a/b";
  f.data_mime = "c/d";
  frames["setup_with_resume_token"] = f;
  f = with_number(simple(lease, 0), 7);
  f.ttl_ms = 1000;
  frames["lease"] = f;
  frames["keepalive"] = simple(keepalive, 0, flag::respond, "ping");
  frames["request_response"] = with_metadata(simple(request_response, 1, 0, "ask"),
                                             "\x04"
                                             "echo");
  frames["request_fnf"] = simple(request_fnf, 3, 0, "tell");
  frames["request_stream"] = with_number(with_metadata(simple(request_stream, 5, 0, "many"), "\x05range"), 64);
  frames["request_channel"] = with_number(simple(request_channel, 7, flag::complete, "both"), number_max);
  frames["request_n"] = with_number(simple(request_n, 5), 32);
  frames["cancel"] = simple(cancel, 5);
  frames["payload_next"] = simple(payload, 5, flag::next, "item");
  frames["payload_next_complete_with_metadata"] =
      with_metadata(simple(payload, 2, flag::next | flag::complete), "meta");
  frames["payload_complete"] = simple(payload, 5, flag::complete);
  frames["error"] = with_number(simple(error, 5, 0, "not_found: no such thing"), 0x201);
  frames["metadata_push"] = with_metadata(simple(metadata_push, 0), "note");
  f = simple(resume, 0);
  f.resume_token = as_bytes("token");
  f.position = 258;
  f.first_position = 772;
  frames["resume"] = f;
  f = simple(resume_ok, 0);
  f.position = 1029;
  frames["resume_ok"] = f;
  frames["ext"] = with_number(simple(ext, 0, flag::ignore, "x"), 5);
  return frames;
}

bytes octets_of(const frame& f) {
  bytes out;
  append_frame(out, f);
  return out;
}

bytes_view without_length(const bytes& framed) { return bytes_view(framed).subspan(frame_length_bytes); }

TEST(frame, every_kind_of_frame_is_written_as_another_implementation_writes_it) {
  const auto expected = golden();
  const auto ours = spoken();
  ASSERT_EQ(expected.size(), ours.size());
  for (const auto& [name, f] : ours) {
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_EQ(octets_of(f), expected.at(name)) << name;
    EXPECT_EQ(framed_bytes(f), expected.at(name).size()) << name;
  }
}

TEST(frame, every_kind_of_frame_is_read_as_it_was_meant) {
  const auto ours = spoken();
  for (const auto& [name, framed] : golden()) {
    ASSERT_EQ(frame_length(framed.data()), framed.size() - frame_length_bytes) << name;
    const auto read = parse_frame(without_length(framed));
    ASSERT_TRUE(read.ok()) << name << ": " << read.error().message;
    const frame& f = *read;
    const frame& meant = ours.at(name);
    EXPECT_EQ(f.stream, meant.stream) << name;
    EXPECT_EQ(f.type, meant.type) << name;
    EXPECT_EQ(f.number, meant.number) << name;
    EXPECT_EQ(as_text(f.data), as_text(meant.data)) << name;
    ASSERT_EQ(f.metadata.has_value(), meant.metadata.has_value()) << name;
    EXPECT_EQ(as_text(f.metadata.value_or(bytes_view{})), as_text(meant.metadata.value_or(bytes_view{}))) << name;
    ASSERT_EQ(f.resume_token.has_value(), meant.resume_token.has_value()) << name;
    EXPECT_EQ(as_text(f.resume_token.value_or(bytes_view{})), as_text(meant.resume_token.value_or(bytes_view{})))
        << name;
    EXPECT_EQ(f.major, 1) << name;
    EXPECT_EQ(f.minor, 0) << name;
    EXPECT_EQ(f.keepalive_ms, meant.keepalive_ms) << name;
    EXPECT_EQ(f.lifetime_ms, meant.lifetime_ms) << name;
    EXPECT_EQ(f.metadata_mime, meant.metadata_mime) << name;
    EXPECT_EQ(f.data_mime, meant.data_mime) << name;
    EXPECT_EQ(f.ttl_ms, meant.ttl_ms) << name;
    EXPECT_EQ(f.position, meant.position) << name;
    EXPECT_EQ(f.first_position, meant.first_position) << name;
    // The codec sets these two itself.
    EXPECT_EQ(f.has(flag::metadata), meant.metadata.has_value()) << name;
    if (f.type != frame_type::setup) {
      EXPECT_EQ(f.flags & ~flag::metadata, meant.flags) << name;
    } else {
      EXPECT_EQ(f.has(flag::resume), meant.resume_token.has_value()) << name;
    }
  }
}

/// Whether every view of the frame lies inside of the octets it was read from.
bool stays_inside(const frame& f, bytes_view octets) {
  const auto inside = [&](bytes_view part) {
    return part.empty() || (part.data() >= octets.data() && part.data() + part.size() <= octets.data() + octets.size());
  };
  return inside(f.data) && inside(f.metadata.value_or(bytes_view{})) && inside(f.resume_token.value_or(bytes_view{})) &&
         inside(as_bytes(f.metadata_mime)) && inside(as_bytes(f.data_mime));
}

// Each prefix is copied to a heap block of its own size, so that the address sanitizer sees a read past its end.
TEST(frame, every_prefix_is_refused_or_read_within_its_octets) {
  for (const auto& [name, framed] : golden()) {
    const auto whole = without_length(framed);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const bytes prefix = to_bytes(whole.first(size));
      const auto read = parse_frame(prefix);
      EXPECT_FALSE(read && size < frame_header_bytes) << name << " of " << size;
      EXPECT_TRUE(!read || stays_inside(*read, prefix)) << name << " of " << size;
    }
  }
}

TEST(frame, every_flipped_bit_is_refused_or_read_within_its_octets) {
  for (const auto& [name, framed] : golden()) {
    bytes octets = to_bytes(without_length(framed));
    for (std::size_t at = 0; at < octets.size(); ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        octets[at] ^= static_cast<std::uint8_t>(1U << bit);
        const auto read = parse_frame(octets);
        EXPECT_TRUE(!read || stays_inside(*read, octets)) << name << " at " << at;
        octets[at] ^= static_cast<std::uint8_t>(1U << bit);
      }
    }
  }
}

errc refusal_of(frame f) {
  const bytes framed = octets_of(f);
  const auto read = parse_frame(without_length(framed));
  return read ? errc{} : read.error().code;
}

TEST(frame, numbers_that_the_specification_forbids_are_refused) {
  EXPECT_EQ(refusal_of(with_number(simple(frame_type::request_n, 1), 0)), errc::malformed);
  EXPECT_EQ(refusal_of(with_number(simple(frame_type::request_n, 1), number_max + 1)), errc::malformed);
  EXPECT_EQ(refusal_of(with_number(simple(frame_type::request_n, 1), number_max)), errc{});
  EXPECT_EQ(refusal_of(with_number(simple(frame_type::request_stream, 1), 0)), errc::malformed);
  EXPECT_EQ(refusal_of(with_number(simple(frame_type::request_channel, 1), 0)), errc::malformed);
  frame setup = simple(frame_type::setup, 0);
  setup.keepalive_ms = 1;
  EXPECT_EQ(refusal_of(setup), errc::malformed);
  setup.lifetime_ms = 1;
  EXPECT_EQ(refusal_of(setup), errc{});
  setup.keepalive_ms = 0;
  EXPECT_EQ(refusal_of(setup), errc::malformed);
}

TEST(frame, a_stream_id_of_32_bits_is_refused) {
  EXPECT_FALSE(parse_frame(bytes{0x80, 0, 0, 1, 0x24, 0}).ok());
  EXPECT_TRUE(parse_frame(bytes{0x7f, 0xff, 0xff, 0xff, 0x24, 0}).ok());
}

TEST(frame, metadata_that_reaches_past_the_end_is_refused) {
  bytes octets = to_bytes(without_length(octets_of(with_metadata(simple(frame_type::payload, 1, flag::next), "abc"))));
  octets[8] = 4;  // the last octet of the metadata's length: one more than there is
  EXPECT_FALSE(parse_frame(octets).ok());
}

TEST(frame, an_unknown_type_is_unsupported_and_says_whether_it_may_be_ignored) {
  const bytes strict{0, 0, 0, 1, 0x0f << 2, 0};
  ASSERT_FALSE(parse_frame(strict).ok());
  EXPECT_EQ(parse_frame(strict).error().code, errc::unsupported);
  EXPECT_FALSE(is_ignorable(strict));
  const bytes lenient{0, 0, 0, 1, 0x0f << 2 | 2, 0};
  EXPECT_EQ(parse_frame(lenient).error().code, errc::unsupported);
  EXPECT_TRUE(is_ignorable(lenient));
  EXPECT_FALSE(parse_frame(bytes{0, 0, 0, 1, 0, 0}).ok()) << "type zero is reserved";
}

RC_GTEST_PROP(frame, any_octets_are_refused_or_read_within_themselves, (const bytes& octets)) {
  if (const auto read = parse_frame(octets)) RC_ASSERT(stays_inside(*read, octets));
}

RC_GTEST_PROP(frame, payloads_and_requests_come_back_as_they_went, (bytes data, bytes metadata, bool has_metadata)) {
  using enum frame_type;
  frame f;
  f.type = *rc::gen::element(request_response, request_fnf, request_stream, request_channel, payload);
  f.stream = *rc::gen::inRange<std::uint32_t>(0, number_max);
  f.flags = *rc::gen::element(flag::follows, flag::complete, flag::next, std::uint16_t{0});
  if (f.type == request_stream || f.type == request_channel) f.number = *rc::gen::inRange<std::uint32_t>(1, number_max);
  f.data = data;
  if (has_metadata) f.metadata = metadata;
  const bytes framed = octets_of(f);
  const auto read = parse_frame(without_length(framed));
  RC_ASSERT(read.ok());
  RC_ASSERT(read->stream == f.stream);
  RC_ASSERT(read->type == f.type);
  RC_ASSERT(read->number == f.number);
  RC_ASSERT(to_bytes(read->data) == data);
  RC_ASSERT(read->metadata.has_value() == has_metadata);
  if (has_metadata) RC_ASSERT(to_bytes(*read->metadata) == metadata);
  RC_ASSERT((read->flags & ~flag::metadata) == f.flags);
}

}  // namespace
}  // namespace weir::net::rsocket
