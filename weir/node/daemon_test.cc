// A running node from its two doors, and the same questions to a directory without a node.

#include <weir/node/daemon.h>

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <weir/core/limits.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/flow/for_each.h>
#include <weir/merge/testing/samples.h>
#include <weir/node/engine.h>
#include <weir/node/messages.h>
#include <weir/node/remote.h>

namespace weir::node {
namespace {

using merge::testing::query;
using merge::testing::records;
using net::rsocket::requester;
using weir::testing::temporary_directory;

std::unique_ptr<daemon> run(const temporary_directory& in) {
  auto started = daemon::start({in.path(), net::endpoint::parse("127.0.0.1:0").value(), {}});
  EXPECT_TRUE(started) << started.error().message;
  return *std::move(started);
}

std::unique_ptr<remote> control(const temporary_directory& of) { return remote::connect(of.path()).value(); }

TEST(node, the_owner_publishes_and_queries_through_the_control_socket) {
  const temporary_directory directory;
  const auto node = run(directory);
  const auto owner = control(directory);
  ASSERT_TRUE(owner);
  const auto done = owner->publish({"test.things", records(0, 5), false});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->wrote.statements, 5U);
  EXPECT_EQ(done->ids.size(), 5U);
  const auto rows = flow::to_vector(owner->query(query()));
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(rows->at(i).id.hash(), done->ids[i]);
  const auto now = owner->get_status();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->holds.statements, 5U);
  EXPECT_EQ(now->listen, node->address().text());
  EXPECT_EQ(now->who.publisher.text(), node->publisher());
  EXPECT_TRUE(owner->check().value().none());
}

TEST(node, what_was_said_before_is_left_out_unless_it_is_asked_for_again) {
  const temporary_directory directory;
  const auto node = run(directory);
  const auto owner = control(directory);
  ASSERT_TRUE(owner->publish({"test.things", records(0, 5), false}));
  const auto repeated = owner->publish({"test.things", records(3, 5), false});
  ASSERT_TRUE(repeated);
  EXPECT_EQ(repeated->said_before, 2U);
  EXPECT_EQ(repeated->wrote.statements, 3U);
  const auto elsewhere = owner->publish({"test.others", records(0, 5), false});
  ASSERT_TRUE(elsewhere);
  EXPECT_EQ(elsewhere->wrote.statements, 5U);
  EXPECT_EQ(elsewhere->wrote.objects, 0U);
}

TEST(node, merges_from_a_peer_and_tells_its_progress) {
  const temporary_directory a, b;
  const auto node_a = run(a), node_b = run(b);
  ASSERT_TRUE(control(a)->publish({"test.things", records(0, 3000), false}));
  std::uint64_t last_told = 0;
  merge::options how;
  how.on_progress = [&](const merge::progress& so_far) {
    EXPECT_GE(so_far.statements, last_told);
    last_told = so_far.statements;
  };
  const auto end = control(b)->merge(node_a->address(), query(), how);
  ASSERT_FALSE(end.failure) << end.failure->message;
  EXPECT_EQ(end.done.statements, 3000U);
  EXPECT_EQ(last_told, 3000U);
  EXPECT_EQ(control(a)->get_status()->holds.statement_set, control(b)->get_status()->holds.statement_set);
}

TEST(node, a_merge_from_nobody_is_unreachable_and_says_whom) {
  const temporary_directory directory;
  const auto node = run(directory);
  const auto nobody = net::endpoint::parse("127.0.0.1:1").value();
  const auto end = control(directory)->merge(nobody, query(), {});
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, errc::unreachable);
  EXPECT_NE(end.failure->message.find("127.0.0.1:1"), std::string::npos) << end.failure->message;
}

TEST(node, a_peer_may_read_but_not_act_as_the_owner) {
  const temporary_directory directory;
  const auto node = run(directory);
  const auto said = control(directory)->publish({"test.things", records(0, 1), false}).value();
  net::loop loop("test-peer");
  const auto somebody = peer::connect(loop, node->address());
  ASSERT_TRUE(somebody);
  EXPECT_EQ(somebody->id()->publisher.text(), node->publisher());
  EXPECT_EQ(flow::to_vector(somebody->query(query()))->size(), 1U);
  EXPECT_TRUE(somebody->get(cid(codec::dag_cbor, said.ids[0])));

  const auto raw = requester::connect(loop, node->address()).value();
  for (const auto route : {publish_route, status_route, check_route}) {
    const auto refused = flow::first(raw.request_response({{}, net::rsocket::route_metadata(route)}));
    ASSERT_FALSE(refused) << route;
    EXPECT_EQ(refused.error().code, errc::not_found) << refused.error().message;
  }
  const auto refused = flow::first(raw.request_stream({{}, net::rsocket::route_metadata(merge_route)}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::not_found);
}

TEST(node, rows_are_json_for_a_peer_that_asks_for_json) {
  const temporary_directory directory;
  const auto node = run(directory);
  ASSERT_TRUE(control(directory)->publish({"test.things", records(0, 1), false}));
  net::loop loop("test-peer");
  net::rsocket::setup hello;
  hello.data_mime = "application/json";
  const auto peer = requester::connect(loop, node->address(), hello).value();
  const auto item =
      flow::first(peer.request_stream({to_bytes("SELECT * FROM test.*"), net::rsocket::route_metadata(query_route)}));
  ASSERT_TRUE(item && *item);
  EXPECT_EQ(nlohmann::json::parse(as_text((*item)->data)).at("namespace"), "test.things");
}

TEST(node, a_bad_query_is_answered_with_a_caret_under_the_fault) {
  const temporary_directory directory;
  const auto node = run(directory);
  net::loop loop("test-peer");
  const auto peer = requester::connect(loop, node->address()).value();
  const auto refused =
      flow::first(peer.request_stream({to_bytes("SELECT * FORM test"), net::rsocket::route_metadata(query_route)}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("^"), std::string::npos) << refused.error().message;
}

TEST(node, a_second_owner_of_a_directory_is_told_who_holds_it) {
  const temporary_directory directory;
  const auto node = run(directory);
  const auto second = daemon::start({directory.path(), net::endpoint::parse("127.0.0.1:0").value(), {}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::locked);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos) << second.error().message;
}

TEST(node, a_taken_port_is_named) {
  const temporary_directory a, b;
  const auto node = run(a);
  const auto second = daemon::start({b.path(), node->address(), {}});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::address_in_use);
  EXPECT_NE(second.error().message.find(node->address().text()), std::string::npos) << second.error().message;
}

TEST(node, an_address_that_others_could_reach_is_refused) {
  const temporary_directory directory;
  const auto open = daemon::start({directory.path(), net::endpoint::parse("0.0.0.0:0").value(), {}});
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, errc::unsupported);
}

TEST(node, says_where_it_is_in_a_file_for_as_long_as_it_runs) {
  const temporary_directory directory;
  {
    const auto node = run(directory);
    std::ifstream file(directory / "node.json");
    const auto about = nlohmann::json::parse(file);
    EXPECT_EQ(about.at("listen"), node->address().text());
    EXPECT_EQ(about.at("pid"), ::getpid());
    struct stat socket {};
    ASSERT_EQ(::stat((directory / "control.sock").c_str(), &socket), 0);
    EXPECT_EQ(socket.st_mode & 0777, 0600U);
  }
  EXPECT_FALSE(std::filesystem::exists(directory / "node.json"));
}

TEST(node, a_directory_without_a_node_is_no_remote_and_an_engine_answers_the_same) {
  const temporary_directory directory;
  {
    const auto node = run(directory);
    ASSERT_TRUE(control(directory)->publish({"test.things", records(0, 5), false}));
  }
  EXPECT_FALSE(control(directory));
  auto here = engine::open(directory.path());
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_EQ((*here)->get_status()->holds.statements, 5U);
  EXPECT_EQ(flow::to_vector((*here)->query(query()))->size(), 5U);
}

TEST(node, too_many_records_at_once_are_refused) {
  const temporary_directory directory;
  auto here = engine::open(directory.path()).value();
  const auto refused = here->publish({"test.things", records(0, limits::batch_statements_max + 1, 1), false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_large);
}

TEST(node, a_bad_namespace_is_refused_before_anything_is_stored) {
  const temporary_directory directory;
  auto here = engine::open(directory.path()).value();
  const auto refused = here->publish({"no spaces", records(0, 1), false});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_EQ(here->get_status()->holds.objects, 0U);
}

}  // namespace
}  // namespace weir::node
