#include <weir/net/internal/connection.h>

#include <functional>
#include <future>
#include <optional>

#include <gtest/gtest.h>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include <weir/net/loop.h>

namespace weir::net::internal {
namespace {

/// A connection whose other end is a socket of the test, and what it reported.
struct end final : connection_events {
  end(loop& on, stream_socket socket) : wire(on, std::move(socket), "the other end", *this, counters) {}

  taken on_octets(bytes_view octets) override { return read ? read(octets) : taken{octets.size(), 0}; }
  void on_writable() override { writable.set_value(); }
  void on_closed(const error& why) override { closed.set_value(why); }

  live_counters counters;
  connection wire;
  std::function<taken(bytes_view)> read;
  std::promise<void> writable;
  std::promise<error> closed;
};

struct connection_under_test : ::testing::Test {
  connection_under_test() {
    asio::local::stream_protocol::socket ours(l.inside().io), theirs(io);
    asio::local::connect_pair(ours, theirs);
    other = std::move(theirs);
    e = std::make_shared<end>(l, stream_socket(std::move(ours)));
  }
  ~connection_under_test() override {
    on([this] { e->wire.abort(fail(errc::cancelled, "the test is over")); });
    e.reset();
  }

  void on(const std::function<void()>& work) {
    const auto done = std::make_shared<std::promise<void>>();
    l.post([&work, done] {
      work();
      done->set_value();
    });
    done->get_future().wait();
  }
  void start() {
    on([this] { e->wire.start(e); });
  }
  /// Appends so many octets as one frame.
  void append_frame_of(std::size_t size) {
    e->wire.append([size](bytes& out) { out.insert(out.end(), size, 'x'); });
  }
  /// Takes so many octets, and comes back when the loop has counted them too.
  std::size_t receive(std::size_t size) {
    std::vector<char> octets(size);
    const std::size_t count = asio::read(*other, asio::buffer(octets));
    on([] {});
    return count;
  }

  asio::io_context io;
  std::optional<asio::local::stream_protocol::socket> other;
  loop l;
  std::shared_ptr<end> e;
};

TEST_F(connection_under_test, a_thousand_small_frames_of_one_turn_leave_in_one_write) {
  start();
  on([this] {
    for (int i = 0; i < 1000; ++i) append_frame_of(20);
  });
  EXPECT_EQ(receive(20'000), 20'000U);
  EXPECT_EQ(e->counters.frames_out.get(), 1000U);
  EXPECT_EQ(e->counters.writes.get(), 1U);
  EXPECT_EQ(e->counters.bundle_bytes_largest.get(), 20'000U);
}

TEST_F(connection_under_test, a_lone_frame_leaves_with_its_turn) {
  start();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    on([this] { append_frame_of(20); });
    EXPECT_EQ(receive(20), 20U) << "without anything else happening on the loop";
    EXPECT_EQ(e->counters.writes.get(), i);
  }
}

TEST_F(connection_under_test, a_full_bundle_leaves_before_the_turn_ends) {
  start();
  on([this] {
    for (int i = 0; i < 4; ++i) append_frame_of(limits::bundle_bytes / 4);
    EXPECT_EQ(e->counters.writes.get(), 1U);
    append_frame_of(1);
    EXPECT_EQ(e->counters.writes.get(), 1U);
  });
  EXPECT_EQ(receive(limits::bundle_bytes + 1), limits::bundle_bytes + 1);
  EXPECT_EQ(e->counters.writes.get(), 2U);
}

TEST_F(connection_under_test, is_full_at_its_high_mark_and_writable_again_at_half_of_it) {
  start();
  std::size_t appended = 0;
  on([&] {
    while (e->wire.writable()) {
      append_frame_of(10'000);
      appended += 10'000;
      ASSERT_LT(appended, 100 * limits::MiB) << "no bound";
    }
    EXPECT_EQ(e->wire.room(), 0U);
  });
  EXPECT_EQ(e->counters.stalls.get(), 1U);
  const std::size_t queued = appended - e->counters.bytes_out.get();
  EXPECT_GE(queued, limits::outgoing_bytes_max);
  EXPECT_LT(queued, limits::outgoing_bytes_max + 10'000);
  EXPECT_EQ(receive(appended), appended);
  e->writable.get_future().wait();
  on([this] { EXPECT_TRUE(e->wire.writable()); });
}

TEST_F(connection_under_test, a_peer_that_makes_us_owe_too_much_is_cut_off) {
  start();
  std::size_t appended = 0;
  on([&] {
    // Control frames do not ask whether there is room.
    while (appended - e->counters.bytes_out.get() < limits::outgoing_bytes_max + control_bytes_max - 1000 &&
           appended < 100 * limits::MiB) {
      append_frame_of(1000);
      appended += 1000;
    }
    append_frame_of(1000);
  });
  const auto why = e->closed.get_future().get();
  EXPECT_EQ(why.code, errc::unexpected);
  EXPECT_NE(why.message.find("the other end"), std::string::npos) << why.message;
}

TEST_F(connection_under_test, finish_sends_what_is_queued_and_then_says_goodbye) {
  start();
  on([this] {
    append_frame_of(100);
    e->wire.finish();
    append_frame_of(5);
  });
  std::vector<char> octets(200);
  asio::error_code end_of_stream;
  EXPECT_EQ(asio::read(*other, asio::buffer(octets), end_of_stream), 105U);
  EXPECT_EQ(end_of_stream, asio::error::eof);
  other.reset();
  EXPECT_EQ(e->closed.get_future().get().code, errc::disconnected);
}

TEST_F(connection_under_test, a_closed_peer_is_reported_once_as_disconnected) {
  start();
  other.reset();
  const auto why = e->closed.get_future().get();  // a second report would throw
  EXPECT_EQ(why.code, errc::disconnected);
  EXPECT_EQ(why.message, "the other end closed the connection");
  on([this] { append_frame_of(10); });
}

TEST_F(connection_under_test, octets_that_are_not_taken_are_offered_again_when_enough_are_there) {
  std::vector<std::size_t> offers;
  std::promise<void> whole;
  e->read = [&](bytes_view octets) -> connection_events::taken {
    offers.push_back(octets.size());
    if (octets.size() < 300'000) return {0, 300'000};
    EXPECT_EQ(octets.front(), 'a');
    EXPECT_EQ(octets[299'999], 'z');
    whole.set_value();
    return {300'000, 0};
  };
  start();
  std::string sent(300'000, 'm');
  sent.front() = 'a';
  sent.back() = 'z';
  asio::write(*other, asio::buffer(sent));
  whole.get_future().wait();
  on([&] { EXPECT_EQ(offers.size(), 2U) << "it waits for as much as it asked for"; });
}

}  // namespace
}  // namespace weir::net::internal
