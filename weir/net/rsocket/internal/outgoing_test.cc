// Fragments: what one side cuts, the other puts together; frames stay within their limit; limits of what is unfinished.
#include <weir/net/rsocket/internal/outgoing.h>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <weir/core/limits.h>
#include <weir/net/rsocket/internal/reassembly.h>

namespace weir::net::rsocket::internal {
namespace {

/// All frames of a payload, each without its length.
std::vector<bytes> frames_of(const outgoing::head& head, payload content) {
  outgoing out(head, std::move(content));
  std::vector<bytes> frames;
  for (bool last = false; !last;) {
    bytes framed;
    last = out.append_next(framed);
    frames.emplace_back(framed.begin() + frame_length_bytes, framed.end());
    EXPECT_LE(frames.back().size(), limits::frame_bytes_max);
  }
  return frames;
}

outgoing::head item_head(std::uint16_t flags = flag::next) { return {1, frame_type::payload, flags, 0}; }

TEST(outgoing, a_payload_that_fits_is_one_frame) {
  const std::size_t fitting = limits::frame_bytes_max - frame_header_bytes;
  EXPECT_EQ(frames_of(item_head(), {bytes(fitting), std::nullopt}).size(), 1U);
  EXPECT_EQ(frames_of(item_head(), {bytes(fitting + 1), std::nullopt}).size(), 2U);
  EXPECT_EQ(frames_of(item_head(), {bytes(fitting - 3), bytes{}}).size(), 1U);
  EXPECT_EQ(frames_of(item_head(), {bytes(fitting - 3), bytes(1)}).size(), 2U);
  EXPECT_EQ(frames_of(item_head(), {bytes{}, std::nullopt}).size(), 1U);
}

TEST(outgoing, only_the_last_fragment_completes_and_only_the_others_say_that_more_follow) {
  const auto frames =
      frames_of(item_head(flag::next | flag::complete), {bytes(3 * limits::frame_bytes_max), bytes(10)});
  ASSERT_EQ(frames.size(), 4U);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto f = parse_frame(frames[i]).value();
    EXPECT_EQ(f.type, frame_type::payload);
    EXPECT_EQ(f.has(flag::follows), i != 3);
    EXPECT_EQ(f.has(flag::complete), i == 3);
    EXPECT_TRUE(f.has(flag::next));
    EXPECT_EQ(f.metadata.has_value(), i == 0);
  }
}

TEST(outgoing, a_request_begins_with_its_own_type_and_credit) {
  const auto frames = frames_of({5, frame_type::request_stream, 0, 64}, {bytes(limits::frame_bytes_max), std::nullopt});
  ASSERT_EQ(frames.size(), 2U);
  const auto first = parse_frame(frames[0]).value();
  EXPECT_EQ(first.type, frame_type::request_stream);
  EXPECT_EQ(first.number, 64U);
  EXPECT_EQ(parse_frame(frames[1]).value().type, frame_type::payload);
}

RC_GTEST_PROP(outgoing, what_is_cut_is_put_together_again, ()) {
  const auto size = [] { return *rc::gen::inRange<std::size_t>(0, 3 * limits::frame_bytes_max); };
  const auto fill = [](std::size_t count) {
    bytes octets(count);
    for (std::size_t i = 0; i < count; ++i) octets[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    return octets;
  };
  payload content{fill(size()), std::nullopt};
  if (*rc::gen::arbitrary<bool>()) content.metadata = fill(size());
  const auto type = *rc::gen::element(frame_type::payload, frame_type::request_response);
  const auto frames = frames_of({1, type, 0, 0}, content);
  reassembly parts;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto f = parse_frame(frames[i]);
    RC_ASSERT(f.ok());
    RC_ASSERT(f->has(flag::follows) == (i + 1 < frames.size()));
    RC_ASSERT(parts.add(*f).ok());
  }
  const auto whole = parts.take(1);
  RC_ASSERT(whole.type == type);
  RC_ASSERT(whole.content.data == content.data);
  RC_ASSERT(whole.content.metadata == content.metadata);
  RC_ASSERT(parts.empty());
}

frame fragment(std::uint32_t stream, const bytes& data) {
  frame f;
  f.stream = stream;
  f.flags = flag::follows | flag::next;
  f.data = data;
  return f;
}

TEST(reassembly, one_payload_has_its_limit_exactly) {
  reassembly parts;
  const bytes all(limits::payload_bytes_max), one(1);
  EXPECT_TRUE(parts.add(fragment(1, all)).ok());
  const auto more = parts.add(fragment(1, one));
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, errc::too_large);
}

TEST(reassembly, all_unfinished_payloads_of_a_connection_have_theirs) {
  reassembly parts;
  const bytes large(limits::payload_bytes_max), one(1);
  constexpr std::uint32_t count = limits::reassembly_bytes_max / limits::payload_bytes_max;
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_TRUE(parts.add(fragment(i, large)).ok());
  EXPECT_EQ(parts.add(fragment(count, one)).error().code, errc::too_large);
  parts.drop(0);
  EXPECT_TRUE(parts.add(fragment(count, one)).ok()) << "what was dropped makes room";
  parts.take(1);
  EXPECT_TRUE(parts.add(fragment(count + 1, one)).ok()) << "so does what was taken";
}

TEST(reassembly, credit_that_comes_early_is_added_up_to_its_maximum) {
  reassembly parts;
  frame f = fragment(1, {});
  f.type = frame_type::request_stream;
  f.number = 5;
  ASSERT_TRUE(parts.add(f).ok());
  parts.add_number(1, 7);
  parts.add_number(2, 7);
  parts.add_number(1, number_max);
  EXPECT_EQ(parts.take(1).number, number_max);
}

}  // namespace
}  // namespace weir::net::rsocket::internal
