// What strangers and broken peers do to a server. At stake each time: one line in the log that names the peer, an answer
// the protocol knows, the connection closed or the bound kept, and nobody else affected.
#include <algorithm>
#include <deque>
#include <random>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/net/rsocket/testing/service.h>

namespace weir::net::rsocket {
namespace {

using namespace testing;
using net::testing::raw_peer;

struct hostile : ::testing::Test {
  /// The server answers somebody else as if nothing had happened.
  void expect_unharmed() {
    const auto to = requester::connect(client, served.at());
    ASSERT_TRUE(to.ok());
    const auto answer = flow::first(to->request_response(routed("echo", "still here")));
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(text_of(**answer), "still here");
  }

  /// The next frame, read; its octets are kept in `frames`.
  frame next(raw_peer& from) {
    const auto octets = from.receive_frame();
    EXPECT_TRUE(octets.has_value()) << "the connection has ended";
    if (!octets) return {};
    frames.push_back(*octets);
    const auto f = parse_frame(frames.back());
    EXPECT_TRUE(f.ok());
    return f ? *f : frame{};
  }

  void expect_connection_error(raw_peer& from, error_code code) {
    const frame f = next(from);
    EXPECT_EQ(f.type, frame_type::error);
    EXPECT_EQ(f.stream, 0U);
    EXPECT_EQ(f.number, std::uint32_t(code)) << as_text(f.data);
    EXPECT_FALSE(from.receive_frame().has_value()) << "and then it is closed";
  }

  loop client{"client"};
  service served;
  std::deque<bytes> frames;
};

TEST_F(hostile, an_http_request_gets_an_http_answer) {
  raw_peer browser(served.at());
  browser.send(as_bytes("GET /index.html HTTP/1.1\r\nHost: x\r\n\r\n"));
  const bytes all = browser.receive_all();
  const auto answer = as_text(all);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nThis port speaks RSocket, not HTTP.\n")) << answer;
  EXPECT_NE(answer.find("Content-Length: 36\r\n"), answer.npos);
  const auto line = served.wait_for_line("sent an HTTP request; this port speaks RSocket");
  EXPECT_TRUE(line.starts_with("127.0.0.1:")) << line;
  expect_unharmed();
  EXPECT_EQ(served.lines(), 1U);
}

TEST_F(hostile, an_http_request_that_comes_octet_by_octet_is_recognised_too) {
  raw_peer browser(served.at());
  for (const char c : std::string("POST /x HTTP/1.1\r\n\r\n")) {
    const char one[] = {c};
    browser.send(as_bytes({one, 1}));
  }
  const bytes answer = browser.receive_all();
  EXPECT_TRUE(as_text(answer).starts_with("HTTP/1.1 400 "));
}

TEST_F(hostile, a_tls_handshake_is_named) {
  raw_peer peer(served.at());
  peer.send(bytes{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03});
  expect_connection_error(peer, error_code::invalid_setup);
  served.wait_for_line("sent a TLS handshake");
}

TEST_F(hostile, random_octets_are_refused_whatever_they_are) {
  std::mt19937_64 chance(20'260'101);
  for (int round = 0; round < 50; ++round) {
    raw_peer peer(served.at());
    bytes octets(std::uniform_int_distribution<std::size_t>(1, 3000)(chance));
    for (auto& octet : octets) octet = static_cast<std::uint8_t>(chance());
    peer.send(octets);
    peer.shut_down_sending();
    peer.receive_all();
  }
  expect_unharmed();
}

TEST_F(hostile, random_octets_after_a_setup_end_only_their_own_connection) {
  std::mt19937_64 chance(20'260'102);
  for (int round = 0; round < 50; ++round) {
    raw_peer peer = raw_client(served.at());
    bytes octets(std::uniform_int_distribution<std::size_t>(1, 3000)(chance));
    for (auto& octet : octets) octet = static_cast<std::uint8_t>(chance());
    // Half of them get a plausible length and an existing type, to reach further.
    if (round % 2 == 0 && octets.size() > 20) {
      octets[0] = octets[1] = 0;
      octets[2] = 17;
      octets[3] = octets[4] = octets[5] = 0;
      octets[7] = static_cast<std::uint8_t>((round % 15) << 2);
    }
    peer.send(octets);
    peer.shut_down_sending();
    peer.receive_all();
  }
  expect_unharmed();
}

TEST_F(hostile, a_first_frame_that_is_no_setup_is_invalid) {
  raw_peer peer(served.at());
  const payload request = routed("echo", "x");
  peer.send(framed(request_frame(frame_type::request_response, 1, request)));
  expect_connection_error(peer, error_code::invalid_setup);
  served.wait_for_line("did not begin with SETUP");
}

TEST_F(hostile, setups_that_ask_for_what_is_not_spoken_are_answered_with_the_right_code) {
  const auto answer_to = [&](frame f, error_code code) {
    raw_peer peer(served.at());
    peer.send(framed(f));
    expect_connection_error(peer, code);
  };
  frame f = setup_frame();
  f.major = 2;
  answer_to(f, error_code::unsupported_setup);
  f = setup_frame();
  f.flags = flag::lease;
  answer_to(f, error_code::unsupported_setup);
  f = setup_frame();
  f.resume_token = as_bytes("token");
  answer_to(f, error_code::rejected_setup);
  f = frame{};
  f.type = frame_type::resume;
  f.resume_token = as_bytes("token");
  answer_to(f, error_code::rejected_resume);
  f = setup_frame();
  f.data_mime = "no/thanks";
  answer_to(f, error_code::rejected_setup);
  f = setup_frame();
  f.stream = 1;
  answer_to(f, error_code::invalid_setup);
  expect_unharmed();
}

TEST_F(hostile, a_giant_or_tiny_length_is_refused_before_anything_is_read) {
  for (const bytes& start : {bytes{0xff, 0xff, 0xff, 0, 0, 0, 0, 0x04, 0}, bytes{0, 0, 5, 0, 0, 0, 0, 0x04, 0}}) {
    raw_peer peer(served.at());
    peer.send(start);
    expect_connection_error(peer, error_code::invalid_setup);
  }
  raw_peer peer = raw_client(served.at());
  peer.send(bytes{0, 0, 0, 1, 2, 3});
  expect_connection_error(peer, error_code::connection_error);
  served.wait_for_line("sent a frame of 0 octets");
}

TEST_F(hostile, a_frame_cut_off_by_the_end_is_logged) {
  raw_peer peer = raw_client(served.at());
  peer.send(bytes{0, 1, 0, 0, 0, 0, 1, 0x10, 0, 'x'});
  peer.shut_down_sending();
  peer.receive_all();
  served.wait_for_line("closed the connection in the middle of a frame");
  expect_unharmed();
}

TEST_F(hostile, an_invalid_frame_is_a_connection_error_and_one_line) {
  raw_peer peer = raw_client(served.at());
  frame none;
  none.type = frame_type::request_n;
  none.stream = 1;
  peer.send(framed(none));  // a request n of zero
  expect_connection_error(peer, error_code::connection_error);
  EXPECT_TRUE(served.wait_for_line("request n").starts_with("127.0.0.1:"));
  EXPECT_EQ(served.lines(), 1U);
}

TEST_F(hostile, unknown_frames_are_ignored_only_if_they_allow_it) {
  raw_peer peer = raw_client(served.at());
  peer.send(bytes{0, 0, 6, 0, 0, 0, 0, 0x20 << 2 | 2, 0});
  const payload request = routed("echo", "x");
  peer.send(framed(request_frame(frame_type::request_response, 1, request)));
  EXPECT_EQ(next(peer).type, frame_type::payload);
  peer.send(bytes{0, 0, 6, 0, 0, 0, 0, 0x20 << 2, 0});
  expect_connection_error(peer, error_code::connection_error);
}

TEST_F(hostile, frames_for_streams_that_do_not_exist_are_ignored) {
  raw_peer peer = raw_client(served.at());
  for (const auto type : {frame_type::cancel, frame_type::payload, frame_type::request_n, frame_type::error}) {
    for (const std::uint32_t stream : {2U, 7U, 1000U}) {
      frame f;
      f.type = type;
      f.stream = stream;
      f.number = 1;
      f.flags = type == frame_type::payload ? flag::next : 0;
      peer.send(framed(f));
    }
  }
  frame again = setup_frame();
  peer.send(framed(again));
  frame push;
  push.type = frame_type::metadata_push;
  push.metadata = as_bytes("note");
  peer.send(framed(push));
  const payload request = routed("echo", "x");
  peer.send(framed(request_frame(frame_type::request_response, 1, request)));
  const frame answer = next(peer);
  EXPECT_EQ(answer.type, frame_type::payload);
  EXPECT_EQ(answer.flags & ~flag::metadata, flag::next | flag::complete);
  EXPECT_EQ(as_text(answer.data), "x");
}

TEST_F(hostile, a_request_on_a_stream_in_use_is_ignored) {
  raw_peer peer = raw_client(served.at());
  const payload silent = routed("silent"), echo = routed("echo", "x");
  peer.send(framed(request_frame(frame_type::request_stream, 1, silent, 1)));
  peer.send(framed(request_frame(frame_type::request_response, 1, echo)));
  peer.send(framed(request_frame(frame_type::request_response, 3, echo)));
  EXPECT_EQ(next(peer).stream, 3U);
}

TEST_F(hostile, a_stream_id_of_the_wrong_side_is_a_connection_error) {
  for (const std::uint32_t stream : {0U, 2U}) {
    raw_peer peer = raw_client(served.at());
    const payload request = routed("echo");
    peer.send(framed(request_frame(frame_type::request_response, stream, request)));
    expect_connection_error(peer, error_code::connection_error);
  }
}

TEST_F(hostile, channels_are_rejected_and_the_connection_goes_on) {
  raw_peer peer = raw_client(served.at());
  const payload request = routed("echo", "x");
  peer.send(framed(request_frame(frame_type::request_channel, 1, request, 1)));
  const frame refusal = next(peer);
  EXPECT_EQ(refusal.type, frame_type::error);
  EXPECT_EQ(refusal.stream, 1U);
  EXPECT_EQ(refusal.number, std::uint32_t(error_code::rejected));
  peer.send(framed(request_frame(frame_type::request_fnf, 3, request)));
  peer.send(framed(request_frame(frame_type::request_response, 5, request)));
  EXPECT_EQ(next(peer).stream, 5U);
}

TEST_F(hostile, streams_beyond_the_limit_are_rejected) {
  raw_peer peer = raw_client(served.at());
  const payload request = routed("silent");
  for (std::uint32_t i = 0; i <= limits::streams_max; ++i) {
    peer.send(framed(request_frame(frame_type::request_stream, 2 * i + 1, request, 1)));
  }
  const frame refusal = next(peer);
  EXPECT_EQ(refusal.type, frame_type::error);
  EXPECT_EQ(refusal.stream, 2 * limits::streams_max + 1);
  EXPECT_EQ(refusal.number, std::uint32_t(error_code::rejected));
}

TEST_F(hostile, credit_is_counted_to_its_maximum_and_not_beyond) {
  raw_peer peer = raw_client(served.at());
  const payload request = routed("count", "10");
  peer.send(framed(request_frame(frame_type::request_stream, 1, request, number_max)));
  frame more;
  more.type = frame_type::request_n;
  more.stream = 1;
  more.number = number_max;
  bytes flood;
  for (int i = 0; i < 10'000; ++i) append_frame(flood, more);
  peer.send(flood);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(next(peer).flags, flag::next);
  EXPECT_EQ(next(peer).flags, flag::complete);
  expect_unharmed();
}

// The peer asks for everything and reads nothing. Its socket and ours take what they take; after that the responder's flow
// must not be pulled any more, and nothing may grow.
TEST_F(hostile, a_peer_that_never_reads_stops_the_pulling) {
  // Not smaller: through a window of a few kilobytes the kernels send by timers only, and the reading below takes minutes.
  raw_peer peer = raw_client(served.at(), 64 * 1024);
  const payload request = routed("endless", "1000");
  peer.send(framed(request_frame(frame_type::request_stream, 1, request, number_max)));
  while (served.get().count().stalls == 0) expect_unharmed();
  expect_unharmed();  // turns of the loop in which pulling could go on
  const auto emitted = served.seen().emitted_so_far();
  for (int i = 0; i < 20; ++i) expect_unharmed();
  EXPECT_EQ(served.seen().emitted_so_far(), emitted);
  const auto count = served.get().count();
  EXPECT_EQ(count.stalls, 1U);
  // What was emitted and has not left is what waits in memory.
  EXPECT_LT(emitted * 1000 - std::min(emitted * 1000, count.bytes_out), limits::outgoing_bytes_max + 64 * 1100);
  // It goes on when the peer reads after all, without a gap.
  std::uint64_t expected = 0;
  for (; expected < emitted + 1000; ++expected) {
    const auto octets = peer.receive_frame();
    ASSERT_TRUE(octets.has_value());
    ASSERT_EQ(number_of({to_bytes(parse_frame(*octets)->data), {}}), expected);
  }
}

// Every request for an answer without ever reading one: the bound on what must be answered cuts the peer off.
TEST_F(hostile, a_peer_that_asks_and_never_reads_is_cut_off) {
  raw_peer peer = raw_client(served.at(), 4096);
  frame ping;
  ping.type = frame_type::keepalive;
  ping.flags = flag::respond;
  const bytes data(4096, 'p');
  ping.data = data;
  const bytes octets = framed(ping);
  while (peer.send(octets)) {
  }
  served.wait_for_line("does not read what it makes us send");
  expect_unharmed();
}

TEST_F(hostile, keepalives_are_answered_with_their_data_and_large_ones_refused) {
  raw_peer peer = raw_client(served.at());
  frame ping;
  ping.type = frame_type::keepalive;
  ping.flags = flag::respond;
  ping.data = as_bytes("are you there");
  peer.send(framed(ping));
  const frame pong = next(peer);
  EXPECT_EQ(pong.type, frame_type::keepalive);
  EXPECT_EQ(pong.flags, 0);
  EXPECT_EQ(as_text(pong.data), "are you there");
  const bytes large(4097, 'p');
  ping.data = large;
  peer.send(framed(ping));
  expect_connection_error(peer, error_code::connection_error);
}

TEST_F(hostile, fragments_beyond_the_largest_payload_end_the_connection) {
  raw_peer peer = raw_client(served.at());
  const payload request{bytes(1 * limits::MiB), std::nullopt};
  peer.send(framed(request_frame(frame_type::request_response, 1, request, 0, flag::follows)));
  for (std::size_t i = 0;
       i < 16 && peer.send(framed(request_frame(frame_type::payload, 1, request, 0, flag::follows | flag::next)));
       ++i) {
  }
  expect_connection_error(peer, error_code::connection_error);
  served.wait_for_line("16777216");
}

TEST_F(hostile, a_fragmented_request_is_put_together_and_its_credit_added) {
  raw_peer peer = raw_client(served.at());
  const payload first = routed("count", ""), rest = text("7");
  peer.send(framed(request_frame(frame_type::request_stream, 1, first, 2, flag::follows)));
  frame more;
  more.type = frame_type::request_n;
  more.stream = 1;
  more.number = 3;
  peer.send(framed(more));
  peer.send(framed(request_frame(frame_type::payload, 1, rest, 0, flag::next)));
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(number_of({to_bytes(next(peer).data), {}}), i);
  peer.send(framed(more));
  next(peer);
  next(peer);
  EXPECT_EQ(next(peer).flags, flag::complete);
}

TEST_F(hostile, whoever_sends_no_setup_in_time_is_closed) {
  server::options how;
  how.setup_ms_max = 20;
  service hasty("127.0.0.1:0", how);
  raw_peer peer(hasty.at());
  expect_connection_error(peer, error_code::invalid_setup);
  hasty.wait_for_line("sent no SETUP within 20 ms");
}

TEST_F(hostile, a_client_that_falls_silent_is_closed_after_its_lifetime) {
  raw_peer peer(served.at());
  frame hello = setup_frame();
  hello.keepalive_ms = 10;
  hello.lifetime_ms = 40;
  peer.send(framed(hello));
  expect_connection_error(peer, error_code::connection_error);
  served.wait_for_line("was silent for 40 ms");
}

// The server here is a raw socket that accepts and says nothing; the client must send keepalives and then give up.
TEST_F(hostile, a_server_that_falls_silent_fails_the_streams) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), 0);
  endpoint to;
  to.host = "127.0.0.1";
  to.port = ntohs(at.sin_port);
  setup hello;
  hello.keepalive_ms = 10;
  hello.lifetime_ms = 60;
  const auto asked = requester::connect(client, to, hello);
  ASSERT_TRUE(asked.ok());
  const auto answer = flow::first(asked->request_response(routed("echo")));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, errc::disconnected);
  EXPECT_NE(answer.error().message.find("was silent for 60 ms"), std::string::npos) << answer.error().message;
  EXPECT_GE(asked->count().frames_out, 3U) << "SETUP, the request and at least one KEEPALIVE";
  ::close(listener);
}

}  // namespace
}  // namespace weir::net::rsocket
