// Merging between two stores over a real connection: what comes over, what does not, and what is left when it breaks.

#include <weir/merge/merge.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include <weir/core/file_faults.h>
#include <weir/core/limits.h>
#include <weir/core/testing/temporary_directory.h>
#include <weir/core/thread.h>
#include <weir/flow/for_each.h>
#include <weir/flow/sources.h>
#include <weir/flow/worker.h>
#include <weir/merge/protocol.h>
#include <weir/merge/source.h>
#include <weir/merge/testing/samples.h>

namespace weir::merge {
namespace {

using net::rsocket::handlers;
using net::rsocket::payload;
using net::rsocket::reply;
using net::rsocket::requester;
using net::rsocket::server;
using testing::query;
using testing::records;
using testing::sealed;

// A store in a directory of its own.
struct peer_store {
  weir::testing::temporary_directory directory;
  std::unique_ptr<store::statement_store> held = store::statement_store::open(directory.path()).value();

  void write(const store::verified_batch& batch) { ASSERT_TRUE(held->write({&batch, 1})); }
  store::totals count() const { return held->count().value(); }
};

// A peer that has taken a request and says nothing more.
struct silence {
  using value_type = payload;
  template <class Emit>
  flow::step pull(std::size_t&, Emit&&, flow::context&) {
    return flow::step::pending;
  }
};

handlers streams(std::function<reply(payload)> answer) {
  handlers how;
  how.request_stream = std::move(answer);
  return how;
}

// Serves a store as a node does, and counts what it is asked for.
class serving {
 public:
  explicit serving(const store::statement_store& from) : source_(from, reader_) {
    server_ = server::listen(loop_, net::endpoint::parse("127.0.0.1:0").value(),
                             [this](const net::rsocket::setup&, const std::string&) -> result<handlers> {
                               return streams([this](payload request) { return answer(std::move(request)); });
                             })
                  .value();
  }

  requester connect(net::loop& on) const { return requester::connect(on, server_->address()).value(); }
  void stop() { server_.reset(); }

  std::atomic<int> fetches{0};
  std::atomic<std::size_t> statements_asked{0};
  int silent_from = std::numeric_limits<int>::max();  // this fetch and those after it get no answer
  std::promise<void> fell_silent;

 private:
  reply answer(payload request) {
    const std::string route = net::rsocket::route_of(*request.metadata).value();
    if (route == list_route) return source_.list(request.data);
    const int number = ++fetches;
    statements_asked += decode_fetch_request(request.data).value().statements.size();
    if (number == silent_from) fell_silent.set_value();
    if (number >= silent_from) return silence{};
    return source_.fetch(request.data);
  }

  flow::worker reader_{"test-reader"};
  net::loop loop_{"test-peer"};
  source source_;
  std::unique_ptr<server> server_;
};

outcome pull(const serving& from, peer_store& into, const store::query& asked = query(), options how = {}) {
  net::loop loop("test-merge");
  return merge_from(from.connect(loop), asked, *into.held, how);
}

void expect_whole(const peer_store& held) {
  const auto found = held.held->check();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->none()) << (found->first.empty() ? "" : found->first.front());
}

void expect_same(const peer_store& a, const peer_store& b) {
  EXPECT_EQ(a.count().statements, b.count().statements);
  EXPECT_EQ(a.count().objects, b.count().objects);
  EXPECT_EQ(a.count().statement_set, b.count().statement_set);
  EXPECT_EQ(a.count().object_set, b.count().object_set);
}

TEST(merge, everything_the_query_selects_comes_over) {
  peer_store a, b;
  for (std::size_t i = 0; i < 5; ++i) a.write(sealed(records(i * 1500, 1500)));
  const serving from(*a.held);
  const auto end = pull(from, b);
  ASSERT_FALSE(end.failure) << end.failure->message;
  EXPECT_EQ(end.done.listed, 7500U);
  EXPECT_EQ(end.done.statements, 7500U);
  EXPECT_EQ(end.done.objects, 7500U);
  EXPECT_EQ(end.done.fraction, 1.0);
  expect_same(a, b);
  expect_whole(b);
}

TEST(merge, an_empty_peer_gives_nothing) {
  peer_store a, b;
  const serving from(*a.held);
  const auto end = pull(from, b);
  ASSERT_FALSE(end.failure) << end.failure->message;
  EXPECT_EQ(end.done.listed, 0U);
  EXPECT_EQ(b.count().statements, 0U);
}

TEST(merge, a_second_merge_fetches_nothing) {
  peer_store a, b;
  a.write(sealed(records(0, 3000)));
  const serving from(*a.held);
  ASSERT_FALSE(pull(from, b).failure);
  const int fetches = from.fetches;
  const auto again = pull(from, b);
  ASSERT_FALSE(again.failure);
  EXPECT_EQ(again.done.listed, 3000U);
  EXPECT_EQ(again.done.statements, 0U);
  EXPECT_EQ(from.fetches, fetches);
}

TEST(merge, only_what_is_missing_is_asked_for) {
  peer_store a, b;
  const auto both = sealed(records(0, 1000)), only_a = sealed(records(1000, 1000));
  a.write(both);
  a.write(only_a);
  b.write(both);
  const serving from(*a.held);
  const auto end = pull(from, b);
  ASSERT_FALSE(end.failure);
  EXPECT_EQ(end.done.statements, 1000U);
  EXPECT_EQ(from.statements_asked, 1000U);
  expect_same(a, b);
}

TEST(merge, dependencies_travel_with_their_statements) {
  peer_store a, b;
  auto schema = records(0, 1);
  auto user = records(1, 1);
  const cid dep = cid::of(codec::raw, schema[0].object);
  user[0].deps = {dep};
  a.write(sealed(std::move(schema), "test.schemas"));
  a.write(sealed(std::move(user), "test.things"));
  const serving from(*a.held);
  ASSERT_FALSE(pull(from, b, query("SELECT * FROM test.things")).failure);
  EXPECT_EQ(b.count().statements, 1U);
  EXPECT_TRUE(b.held->read_object(dep));
  expect_whole(b);
}

TEST(merge, what_the_query_does_not_select_stays_where_it_is) {
  peer_store a, b;
  a.write(sealed(records(0, 10), "test.things"));
  a.write(sealed(records(10, 20), "other.things"));
  const serving from(*a.held);
  ASSERT_FALSE(pull(from, b, query("SELECT * FROM test.*")).failure);
  EXPECT_EQ(b.count().statements, 10U);
  EXPECT_EQ(b.count().objects, 10U);
  ASSERT_FALSE(pull(from, b, query("SELECT * FROM * WHERE ref = 'test:15' OR ref = 'test:3'")).failure);
  EXPECT_EQ(b.count().statements, 11U);
  ASSERT_FALSE(pull(from, b, query("SELECT * FROM other.things LIMIT 7")).failure);
  expect_whole(b);
}

TEST(merge, objects_larger_than_a_fetch_may_hold_come_over) {
  peer_store a, b;
  a.write(sealed(records(0, 12, 1 << 20)));
  const serving from(*a.held);
  const auto end = pull(from, b);
  ASSERT_FALSE(end.failure) << end.failure->message;
  expect_same(a, b);
}

// Merging is a union: any order, any grouping, any repetition gives the same store.
TEST(merge, the_order_of_merging_does_not_matter) {
  peer_store a, b, c, x, y;
  a.write(sealed(records(0, 300), "test.a", 1));
  b.write(sealed(records(200, 300), "test.b", 2));
  c.write(sealed(records(400, 300), "test.c", 3));
  c.write(sealed(records(0, 300), "test.a", 1));  // the very statements of a
  const serving from_a(*a.held), from_b(*b.held), from_c(*c.held), from_x(*x.held);
  for (const serving* from : {&from_a, &from_b, &from_c}) ASSERT_FALSE(pull(*from, x).failure);
  for (const serving* from : {&from_c, &from_b, &from_b, &from_a, &from_x}) ASSERT_FALSE(pull(*from, y).failure);
  EXPECT_EQ(x.count().statements, 900U);
  EXPECT_EQ(x.count().objects, 700U);
  expect_same(x, y);
  expect_whole(y);
}

TEST(merge, a_connection_lost_in_the_middle_keeps_what_was_written_and_the_next_merge_finishes) {
  peer_store a, b;
  for (std::size_t i = 0; i < 12; ++i) a.write(sealed(records(i * 1024, 1024)));
  auto from = std::make_unique<serving>(*a.held);
  from->silent_from = 9;
  outcome cut;
  {
    thread merging("test-cut", [&] { cut = pull(*from, b); });
    from->fell_silent.get_future().wait();
    from->stop();
  }
  ASSERT_TRUE(cut.failure);
  EXPECT_EQ(cut.failure->code, errc::disconnected) << cut.failure->message;
  EXPECT_EQ(b.count().statements, cut.done.statements);
  EXPECT_LE(cut.done.statements, 8U * 1024);
  expect_whole(b);

  from = std::make_unique<serving>(*a.held);
  const auto rest = pull(*from, b);
  ASSERT_FALSE(rest.failure) << rest.failure->message;
  EXPECT_EQ(rest.done.statements, 12 * 1024 - cut.done.statements);
  expect_same(a, b);
}

TEST(merge, a_stop_ends_it_as_cancelled_and_keeps_what_was_written) {
  peer_store a, b;
  for (std::size_t i = 0; i < 12; ++i) a.write(sealed(records(i * 1024, 1024)));
  const serving from(*a.held);
  std::stop_source stop;
  options how;
  how.stop = stop.get_token();
  std::uint64_t told = 0;
  how.on_progress = [&](const progress& so_far) {
    told = so_far.statements;
    stop.request_stop();
  };
  how.lanes = 1;
  const auto end = pull(from, b, query(), how);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, errc::cancelled);
  EXPECT_EQ(end.done.statements, told);
  EXPECT_EQ(b.count().statements, told);
  expect_whole(b);
  ASSERT_FALSE(pull(from, b).failure);
  expect_same(a, b);
}

// A disk that is full for one store only: the others' files are somewhere else.
class full_disk final : public file_faults {
 public:
  explicit full_disk(std::filesystem::path below) : below_(std::move(below)) {}
  answer before(file_step step, const std::filesystem::path& path, std::uint64_t) override {
    if (step == file_step::append && path.string().starts_with(below_.string())) return {ENOSPC, 100};
    return {};
  }

 private:
  std::filesystem::path below_;
};

TEST(merge, a_full_disk_is_told_and_nothing_is_half_written) {
  peer_store a, b;
  a.write(sealed(records(0, 2000)));
  const serving from(*a.held);
  {
    full_disk faults(b.directory.path());
    const scoped_file_faults installed(faults);
    const auto end = pull(from, b);
    ASSERT_TRUE(end.failure);
    EXPECT_EQ(end.failure->code, errc::disk_full) << end.failure->message;
    EXPECT_EQ(end.done.statements, 0U);
    EXPECT_EQ(b.count().statements, 0U);
  }
  ASSERT_FALSE(pull(from, b).failure);
  expect_same(a, b);
  expect_whole(b);
}

// What a peer claims in its list is not believed: here it lists statements and leaves out their objects.
TEST(merge, a_statement_whose_objects_the_peer_hides_is_not_stored) {
  const auto batch = sealed(records(0, 3));
  net::loop loop("test-peer");
  listing list;
  list.at = list.of = 3;
  list.groups.push_back({batch.bundles()[0].id.hash(), {}, {}});
  bytes blocks;
  append_section(blocks, batch.bundles()[0].id, batch.bundles()[0].data);
  for (const auto& said : batch.statements()) {
    list.groups[0].statements.push_back(said.id.hash());
    append_section(blocks, said.id, said.encoded);
  }
  auto peer = server::listen(loop, net::endpoint::parse("127.0.0.1:0").value(),
                             [&](const net::rsocket::setup&, const std::string&) -> result<handlers> {
                               return streams([&](const payload& request) -> reply {
                                 const bool lists = *net::rsocket::route_of(*request.metadata) == list_route;
                                 return flow::just(payload{lists ? encode(list) : blocks, {}});
                               });
                             })
                  .value();
  peer_store b;
  net::loop merging("test-merge");
  const auto end = merge_from(requester::connect(merging, peer->address()).value(), query(), *b.held);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, errc::not_found) << end.failure->message;
  EXPECT_EQ(b.count().statements, 0U);
  expect_whole(b);
}

TEST(merge, more_statements_than_the_limit_of_the_query_are_refused) {
  listing list;
  list.at = list.of = 3;
  list.groups.push_back({digest{}, std::vector<digest>(3), {}});
  net::loop loop("test-peer");
  auto peer =
      server::listen(loop, net::endpoint::parse("127.0.0.1:0").value(),
                     [&](const net::rsocket::setup&, const std::string&) -> result<handlers> {
                       return streams([&](const payload&) -> reply { return flow::just(payload{encode(list), {}}); });
                     })
          .value();
  peer_store b;
  net::loop merging("test-merge");
  const auto end =
      merge_from(requester::connect(merging, peer->address()).value(), query("SELECT * FROM test.* LIMIT 2"), *b.held);
  ASSERT_TRUE(end.failure);
  EXPECT_EQ(end.failure->code, errc::unexpected) << end.failure->message;
}

// A peer that lists the same for ever would keep a merge busy for ever.
TEST(merge, a_list_that_does_not_go_forward_is_refused) {
  const auto batch = sealed(records(0, 2));
  const auto listed = [&](std::uint64_t at, std::uint64_t of) {
    listing list;
    list.at = at;
    list.of = of;
    list.groups.push_back({batch.bundles()[0].id.hash(), {batch.statements()[0].id.hash()}, {}});
    return payload{encode(list), {}};
  };
  listing nothing;
  nothing.at = nothing.of = 3;
  const std::vector<std::vector<payload>> lists = {{listed(2, 9), listed(2, 9)},
                                                   {listed(3, 9), listed(2, 9)},
                                                   {listed(7, 5)},
                                                   {listed(1, 5), listed(2, 6)},
                                                   {payload{encode(nothing), {}}}};
  for (const auto& list : lists) {
    net::loop loop("test-peer");
    auto peer = server::listen(loop, net::endpoint::parse("127.0.0.1:0").value(),
                               [&](const net::rsocket::setup&, const std::string&) -> result<handlers> {
                                 return streams([&](const payload&) -> reply { return flow::from_range(list); });
                               })
                    .value();
    peer_store b;
    b.write(batch);  // so that nothing has to be fetched
    net::loop merging("test-merge");
    const auto end = merge_from(requester::connect(merging, peer->address()).value(), query(), *b.held);
    ASSERT_TRUE(end.failure);
    EXPECT_EQ(end.failure->code, errc::unexpected) << end.failure->message;
  }
}

TEST(merge, a_query_that_the_peer_cannot_read_is_told_in_its_words) {
  peer_store a;
  const serving from(*a.held);
  net::loop loop("test-merge");
  auto answer = from.connect(loop).request_stream(
      {encode(list_request{"SELECT nothing", 0}), net::rsocket::route_metadata(list_route)});
  const auto end = flow::first(std::move(answer));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, errc::invalid_argument);
  EXPECT_NE(end.error().message.find('^'), std::string::npos) << end.error().message;
}

TEST(merge, a_connection_cannot_hold_more_replies_open_than_its_limit) {
  peer_store a;
  a.write(sealed(records(0, 10)));
  flow::worker reader("test-reader");
  source from(*a.held, reader);
  const bytes request = encode(list_request{"SELECT * FROM *", 0});
  std::vector<reply> open;
  for (std::size_t i = 0; i < limits::fetches_max; ++i) open.push_back(from.list(request));
  const auto refused = flow::first(from.list(request));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::refused);
  open.pop_back();
  EXPECT_TRUE(flow::first(from.list(request)));
}

}  // namespace
}  // namespace weir::merge
