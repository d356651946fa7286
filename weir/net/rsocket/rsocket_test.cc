// The promises of requester and server to each other, over real sockets: interactions, credit, errors, ends.
#include <weir/net/rsocket/rsocket.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <numeric>

#include <gtest/gtest.h>

#include <weir/core/thread.h>
#include <weir/flow/for_each.h>
#include <weir/flow/take.h>
#include <weir/net/rsocket/internal/error_text.h>
#include <weir/net/rsocket/testing/service.h>

namespace weir::net::rsocket {
namespace {

using namespace testing;

struct rsocket : ::testing::Test {
  requester connect(setup hello = {}) {
    auto connected = requester::connect(client, served.at(), std::move(hello));
    EXPECT_TRUE(connected.ok()) << (connected ? "" : connected.error().message);
    return *connected;
  }

  loop client{"client"};
  service served;
};

/// Runs the function on the loop and waits for it.
void on(loop& where, const std::function<void()>& work) {
  const auto done = std::make_shared<std::promise<void>>();
  where.post([&work, done] {
    work();
    done->set_value();
  });
  done->get_future().wait();
}

bytes pattern(std::size_t size) {
  bytes octets(size);
  std::uint32_t x = 1;
  for (auto& octet : octets) octet = static_cast<std::uint8_t>((x = x * 1664525 + 1013904223) >> 24);
  return octets;
}

TEST_F(rsocket, a_response_is_what_the_handler_gave) {
  const auto to = connect();
  const auto answer = flow::first(to.request_response(routed("echo", "hello")));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ(text_of(**answer), "hello");
  EXPECT_EQ((*answer)->metadata, route_metadata("echo"));
}

TEST_F(rsocket, many_responses_at_once_find_their_requests) {
  const auto to = connect();
  // The first pull sends the request; nothing waits for an answer before all requests are out.
  std::vector<reply> open;
  error failure;
  flow::context cx({}, failure);
  std::vector<std::string> seen(200);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    open.push_back(to.request_response(routed("echo", std::to_string(i))));
    std::size_t demand = 1;
    open[i].pull(
        demand, [&](payload&& item) { seen[i] = text_of(item); }, cx);
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].empty()) seen[i] = text_of(flow::first(std::move(open[i])).value().value());
    EXPECT_EQ(seen[i], std::to_string(i));
  }
}

TEST_F(rsocket, a_stream_is_whole_and_in_order_whatever_the_window) {
  const auto to = connect();
  for (const std::uint32_t window : {1U, 2U, 3U, 7U, 64U, 1000U}) {
    const std::uint64_t count = window < 4 ? 5'000 : 100'000;
    std::uint64_t next = 0;
    const auto ended = flow::for_each(to.request_stream(routed("count", std::to_string(count)), window),
                                      [&](const payload& item) { ASSERT_EQ(number_of(item), next++); });
    ASSERT_TRUE(ended.ok()) << ended.error().message;
    EXPECT_EQ(next, count);
  }
}

TEST_F(rsocket, an_empty_stream_is_done) {
  const auto items = flow::to_vector(connect().request_stream(routed("count", "0")));
  ASSERT_TRUE(items.ok());
  EXPECT_TRUE(items->empty());
}

TEST_F(rsocket, two_connections_do_not_mix) {
  const auto one = connect(), other = connect();
  EXPECT_EQ(flow::to_vector(one.request_stream(routed("count", "10")))->size(), 10U);
  EXPECT_EQ(flow::to_vector(other.request_stream(routed("count", "20")))->size(), 20U);
  EXPECT_EQ(served.get().connections(), 2U);
}

TEST_F(rsocket, five_mebibytes_go_and_come_back_in_fragments) {
  const auto to = connect();
  const bytes large = pattern(5 * limits::MiB);
  bytes metadata = route_metadata("echo");
  append(metadata, pattern(200 * limits::KiB));  // further tags; metadata is fragmented too
  const auto answer = flow::first(to.request_response({large, metadata}));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_TRUE((*answer)->data == large);
  EXPECT_TRUE((*answer)->metadata == metadata);
  EXPECT_GT(to.count().frames_out, 80U) << "in frames of 64 KiB at most";
  EXPECT_GT(to.count().frames_in, 80U);
}

TEST_F(rsocket, cancelling_midway_destroys_the_flow_of_the_responder) {
  const auto to = connect();
  const auto items = flow::to_vector(to.request_stream(routed("endless", "100"), 16) | flow::take(50));
  ASSERT_TRUE(items.ok());
  EXPECT_EQ(items->size(), 50U);
  served.seen().wait_for_destroyed(1);
}

TEST_F(rsocket, a_flow_that_was_never_pulled_asks_for_nothing) {
  const auto to = connect();
  { const auto unused = to.request_stream(routed("count", "3")); }
  ASSERT_TRUE(flow::first(to.request_response(routed("echo"))).ok());
  EXPECT_EQ(served.seen().destroyed_so_far(), 0U);
}

TEST_F(rsocket, a_slow_consumer_is_sent_no_more_than_its_window) {
  const auto to = connect();
  auto items = to.request_stream(routed("endless", "100"), 32);
  error failure;
  flow::context cx({}, failure);
  // The first pull sends the request; an item may be there already when it looks.
  std::size_t taken = 0;
  const auto take = [&](payload&&) { ++taken; };
  std::size_t demand = 1;
  items.pull(demand, take, cx);
  served.seen().wait_for_emitted(32);
  // Whatever is going to be sent has been sent once a later request is answered.
  ASSERT_TRUE(flow::first(to.request_response(routed("echo"))).ok());
  EXPECT_EQ(served.seen().emitted_so_far(), 32U);
  // Half the window is taken: as much comes after it.
  demand = 16 - taken;
  EXPECT_EQ(items.pull(demand, take, cx), flow::step::more);
  EXPECT_EQ(taken, 16U);
  served.seen().wait_for_emitted(48);
  ASSERT_TRUE(flow::first(to.request_response(routed("echo"))).ok());
  EXPECT_EQ(served.seen().emitted_so_far(), 48U);
}

TEST_F(rsocket, errors_keep_their_code_and_come_after_the_items) {
  const auto to = connect();
  std::size_t good = 0;
  const auto broken = flow::for_each(to.request_stream(routed("broken")), [&](const payload&) { ++good; });
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(good, 3U);
  EXPECT_EQ(broken.error().code, errc::corrupt);
  EXPECT_NE(broken.error().message.find("the rest is broken"), std::string::npos);
  EXPECT_NE(broken.error().message.find(served.at().text()), std::string::npos) << broken.error().message;

  const auto missing = flow::first(to.request_response(routed("nowhere")));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, errc::not_found);
}

TEST_F(rsocket, exceptions_of_handlers_and_flows_become_errors) {
  const auto to = connect();
  const auto at_once = flow::first(to.request_response(routed("throws")));
  ASSERT_FALSE(at_once.ok());
  EXPECT_EQ(at_once.error().code, errc::threw);
  EXPECT_NE(at_once.error().message.find("thrown by the handler"), std::string::npos);
  const auto later = flow::to_vector(to.request_stream(routed("throws_later")));
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().code, errc::threw);
  EXPECT_NE(later.error().message.find("thrown by the flow"), std::string::npos);
  EXPECT_TRUE(flow::first(to.request_response(routed("echo"))).ok()) << "the connection goes on";
}

TEST_F(rsocket, an_interaction_without_a_handler_is_refused) {
  auto bare = server::listen(client, endpoint::parse("127.0.0.1:0").value(),
                             [](const setup&, const std::string&) -> result<handlers> { return handlers{}; });
  ASSERT_TRUE(bare.ok());
  loop other;
  const auto to = requester::connect(other, (*bare)->address());
  ASSERT_TRUE(to.ok());
  const auto answer = flow::first(to->request_response(text("hello")));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, errc::refused);
}

TEST_F(rsocket, a_server_can_ask_its_client) {
  std::promise<requester> back;
  auto asking = server::listen(served.on(), endpoint::parse("127.0.0.1:0").value(),
                               [&](const setup&, const std::string&) -> result<handlers> {
                                 handlers h;
                                 h.opened = [&](requester r) { back.set_value(std::move(r)); };
                                 return h;
                               });
  ASSERT_TRUE(asking.ok());
  handlers serve;
  serve.request_stream = [](payload) -> reply { return flow::from_range(std::vector{text("a"), text("b")}); };
  const auto open = requester::connect(client, (*asking)->address(), {}, std::chrono::seconds(10), serve);
  ASSERT_TRUE(open.ok());
  const requester server_side = back.get_future().get();
  const auto items = flow::to_vector(server_side.request_stream(text("ask")));
  ASSERT_TRUE(items.ok()) << items.error().message;
  ASSERT_EQ(items->size(), 2U);
  EXPECT_EQ(text_of(items->back()), "b");
  const auto refused = flow::first(server_side.request_response(text("ask")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, errc::refused);
}

TEST_F(rsocket, a_refused_setup_fails_streams_with_refused) {
  setup hello;
  hello.data_mime = "no/thanks";
  const auto to = connect(hello);
  const auto answer = flow::first(to.request_response(routed("echo")));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, errc::refused);
  EXPECT_NE(answer.error().message.find("not for you"), std::string::npos) << answer.error().message;
  served.wait_for_line("not for you");
}

TEST_F(rsocket, connections_beyond_the_limit_are_refused_and_others_go_on) {
  server::options how;
  how.connections_max = 1;
  service small("127.0.0.1:0", how);
  const auto first = requester::connect(client, small.at());
  ASSERT_TRUE(flow::first(first->request_response(routed("echo"))).ok());
  const auto second = requester::connect(client, small.at());
  const auto answer = flow::first(second->request_response(routed("echo")));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, errc::refused) << answer.error().message;
  EXPECT_TRUE(flow::first(first->request_response(routed("echo"))).ok());
}

TEST_F(rsocket, a_server_that_ends_fails_open_streams_as_disconnected) {
  const auto to = connect();
  auto items = to.request_stream(routed("silent"));
  std::promise<result<void>> outcome;
  weir::thread consumer("consumer",
                        [&] { outcome.set_value(flow::for_each(std::move(items), [](const payload&) {})); });
  served.seen().wait_for_began(1);
  const auto name = served.at().text();
  served.stop();
  served.seen().wait_for_destroyed(1);
  const auto ended = outcome.get_future().get();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, errc::disconnected);
  EXPECT_NE(ended.error().message.find(name), std::string::npos) << ended.error().message;
  const auto after = flow::first(to.request_response(routed("echo")));
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().code, errc::disconnected);
}

TEST_F(rsocket, items_that_came_before_the_connection_was_lost_are_given_first) {
  auto to = connect();
  auto items = to.request_stream(routed("endless", "10"), 8);
  std::size_t count = 0;
  const auto ended = flow::for_each(std::move(items), [&](const payload& item) {
    EXPECT_EQ(number_of(item), count);
    if (count++ == 0) {
      served.seen().wait_for_emitted(8);
      to.close();
    }
  });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, errc::disconnected);
  EXPECT_GE(count, 1U);
}

TEST_F(rsocket, a_flow_keeps_its_connection_open_when_the_requester_is_gone) {
  auto items = connect().request_stream(routed("endless", "10"), 8) | flow::take(100);
  const auto got = flow::to_vector(std::move(items));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->size(), 100U);
  // With the last flow gone the connection goes too.
  served.seen().wait_for_destroyed(1);
}

TEST_F(rsocket, flows_outlive_requester_connection_and_loop) {
  auto gone = std::make_unique<loop>("gone");
  std::optional<reply> begun, unused;
  {
    const auto to = requester::connect(*gone, served.at());
    ASSERT_TRUE(to.ok());
    begun = to->request_stream(routed("silent"));
    unused = to->request_stream(routed("silent"));
    error failure;
    flow::context cx({}, failure);
    std::size_t demand = 1;
    EXPECT_EQ(begun->pull(
                  demand, [](payload&&) {}, cx),
              flow::step::pending);
    to->close();
  }
  gone.reset();
  for (auto* items : {&begun, &unused}) {
    const auto ended = flow::to_vector(std::move(**items));
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().code, errc::disconnected);
  }
  served.seen().wait_for_destroyed(1);
}

TEST_F(rsocket, a_flow_can_be_pulled_and_destroyed_on_the_loop_itself) {
  const auto to = connect();
  std::optional<reply> items;
  std::promise<void> ready;
  error failure;
  flow::context cx(flow::waker([](void* p) noexcept { static_cast<std::promise<void>*>(p)->set_value(); }, &ready),
                   failure);
  on(client, [&] {
    items = to.request_stream(routed("count", "5"));
    std::size_t demand = 100;
    EXPECT_EQ(items->pull(
                  demand, [](payload&&) {}, cx),
              flow::step::pending);
  });
  ready.get_future().wait();
  std::size_t count = 0;
  for (bool ended = false; !ended;) {
    on(client, [&] {
      flow::context again({}, failure);
      std::size_t demand = 100;
      ended = flow::is_final(items->pull(
          demand, [&](payload&&) { ++count; }, again));
      if (ended) items.reset();
    });
  }
  EXPECT_EQ(count, 5U);
}

// The consumer sleeps, wakes and gives up in every order with items that arrive; the thread sanitizer watches.
TEST_F(rsocket, streams_may_be_dropped_at_any_moment) {
  const auto to = connect();
  for (std::size_t after = 0; after < 200; ++after) {
    const auto items = flow::to_vector(to.request_stream(routed("endless", "20"), 4) | flow::take(after % 23));
    ASSERT_TRUE(items.ok());
    EXPECT_EQ(items->size(), after % 23);
  }
  EXPECT_TRUE(flow::first(to.request_response(routed("echo"))).ok());
}

TEST_F(rsocket, bundles_many_frames_into_few_writes) {
  const auto to = connect();
  const auto before = served.get().count();
  ASSERT_EQ(flow::to_vector(to.request_stream(routed("count", "20000"), 4096))->size(), 20'000U);
  const auto after = served.get().count();
  const auto frames = after.frames_out - before.frames_out;
  EXPECT_GE(frames, 20'000U);
  EXPECT_LT((after.writes - before.writes) * 10, frames) << "ten frames a write at the very least";
}

TEST_F(rsocket, a_port_in_use_is_named) {
  const auto again = server::listen(client, served.at(),
                                    [](const setup&, const std::string&) -> result<handlers> { return handlers{}; });
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, errc::address_in_use);
  EXPECT_NE(again.error().message.find(served.at().text()), std::string::npos);
}

TEST_F(rsocket, an_address_where_nobody_listens_is_unreachable) {
  const auto at = served.at();
  served.stop();
  const auto to = requester::connect(client, at);
  ASSERT_FALSE(to.ok());
  EXPECT_EQ(to.error().code, errc::unreachable);
  EXPECT_NE(to.error().message.find(at.text()), std::string::npos) << to.error().message;
}

TEST_F(rsocket, a_setup_that_cannot_be_sent_is_refused_here) {
  setup hello;
  hello.keepalive_ms = 0;
  EXPECT_EQ(requester::connect(client, served.at(), hello).error().code, errc::invalid_argument);
  hello = {};
  hello.data_mime = std::string(256, 'x');
  EXPECT_EQ(requester::connect(client, served.at(), hello).error().code, errc::invalid_argument);
  hello = {};
  hello.content.data.resize(64 * limits::KiB);
  EXPECT_EQ(requester::connect(client, served.at(), hello).error().code, errc::too_large);
}

struct unix_socket : ::testing::Test {
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "weir-net-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    path = name + "/socket";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string folder, path;
  loop client;
};

TEST_F(unix_socket, serves_its_owner_only_and_leaves_nothing_behind) {
  {
    service served("unix:" + path);
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    const auto to = requester::connect(client, endpoint::parse("unix:" + path).value());
    ASSERT_TRUE(to.ok()) << to.error().message;
    EXPECT_EQ(text_of(**flow::first(to->request_response(routed("echo", "hello")))), "hello");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(unix_socket, a_living_servers_path_is_in_use_and_a_dead_ones_is_taken) {
  const auto at = endpoint::parse("unix:" + path).value();
  const acceptor nobody = [](const setup&, const std::string&) -> result<handlers> { return handlers{}; };
  {
    service served("unix:" + path);
    const auto second = server::listen(client, at, nobody);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, errc::address_in_use);
    EXPECT_NE(second.error().message.find(path), std::string::npos);
  }
  // What a killed process leaves: a socket file that nobody listens on.
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ::close(left);
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(server::listen(client, at, nobody).ok());
}

TEST_F(unix_socket, a_file_that_is_no_socket_is_left_alone) {
  { std::ofstream(path) << "precious"; }
  const auto listening =
      server::listen(client, endpoint::parse("unix:" + path).value(),
                     [](const setup&, const std::string&) -> result<handlers> { return handlers{}; });
  ASSERT_FALSE(listening.ok());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(routing, the_first_route_comes_back_and_broken_metadata_is_refused) {
  EXPECT_EQ(route_metadata("echo"), (bytes{4, 'e', 'c', 'h', 'o'}));
  EXPECT_EQ(route_of(bytes{2, 'a', 'b', 1, 'c'}).value(), "ab");
  EXPECT_EQ(route_of(bytes{0}).value(), "");
  EXPECT_FALSE(route_of(bytes{}).ok());
  EXPECT_FALSE(route_of(bytes{3, 'a', 'b'}).ok());
}

TEST(error_text, every_code_survives_the_wire_and_foreign_texts_are_refusals) {
  for (auto code = errc::invalid_argument; code <= errc::internal; code = errc(unsigned(code) + 1)) {
    const auto text = internal::error_text(weir::fail(code, "why: so"));
    const auto back = internal::error_of(as_bytes(text), "peer");
    EXPECT_EQ(back.code, code);
    EXPECT_EQ(back.message, "why: so (answered peer)");
  }
  EXPECT_EQ(internal::error_of(as_bytes("Error: boom"), "peer").code, errc::refused);
  EXPECT_EQ(internal::error_of(as_bytes("a\nb\x01"), "peer").message, "a?b? (answered peer)");
  EXPECT_LE(internal::error_text(weir::fail(errc::io, std::string(10'000, 'x'))).size(),
            internal::error_text_bytes_max);
}

}  // namespace
}  // namespace weir::net::rsocket
