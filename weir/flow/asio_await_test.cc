#include <weir/flow/asio_await.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>

#include <weir/flow/any_flow.h>
#include <weir/flow/inbox.h>
#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/script.h>
#include <weir/flow/worker.h>

#ifdef ASIO_HAS_CO_AWAIT

namespace weir::flow {
namespace {

using queue::testing::life_balance;
using testing::counted;
using testing::event;
using testing::item;
using testing::pending;
using testing::script;

/// What a coroutine has read, and how it ended.
struct reading {
  std::vector<int> numbers;
  std::optional<error> why;
  bool over = false;
};

template <flow Source, class Number>
asio::awaitable<void> read_all(asio_reader<Source> in, reading& seen, Number number) {
  for (;;) {
    auto now = co_await in.next();
    if (!now) seen.why = now.error();
    if (!now || !*now) break;
    seen.numbers.push_back(number(**now));
  }
  seen.over = true;
}
constexpr auto itself = [](int i) { return i; };
constexpr auto number_of = [](const counted& of) { return of.number(); };

TEST(asio_reader, gives_each_item_and_the_end_whatever_is_pending_between) {
  const life_balance lives;
  for (const auto end : {event::kind::done, event::kind::failed, event::kind::cancelled, event::kind::throws}) {
    for (unsigned pendings = 0; pendings < 8; ++pendings) {
      std::vector<event> events;
      for (int i = 0; i < 3; ++i) {
        if (pendings >> i & 1) events.push_back(pending());
        events.push_back(i < 2 ? item(i) : event{end, 0});
      }
      testing::stage on;
      reading seen;
      asio::io_context io;
      asio::co_spawn(io, read_all(asio_reader(io.get_executor(), script(events, on)), seen, number_of), asio::detached);
      for (int round = 0; round < 5; ++round) {
        io.poll();
        io.restart();
        on.fire();
      }
      io.poll();
      EXPECT_EQ(on.complaint(), "");
      EXPECT_TRUE(seen.over);
      EXPECT_EQ(seen.numbers, (std::vector<int>{0, 1}));
      EXPECT_EQ(seen.why.has_value(), end != event::kind::done);
    }
  }
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(asio_reader, reads_from_another_thread) {
  worker there;
  asio::io_context io;
  reading seen;
  asio::co_spawn(io, read_all(asio_reader(io.get_executor(), range(0, 20'000) | observe_on(there, {16})), seen, itself),
                 asio::detached);
  io.run();
  EXPECT_TRUE(seen.over);
  ASSERT_EQ(seen.numbers.size(), 20'000u);
  EXPECT_EQ(seen.numbers.back(), 19'999);
}

TEST(asio_reader, gives_batches_of_what_is_ready) {
  const auto look = [](asio_reader<any_flow<int>> in, std::vector<std::size_t>& sizes) -> asio::awaitable<void> {
    std::array<int, 4> into{};
    for (;;) {
      const auto count = co_await in.next_batch(std::span<int>(into));
      sizes.push_back(*count);
      if (*count == 0) break;
    }
  };
  asio::io_context io;
  std::vector<std::size_t> sizes;
  asio::co_spawn(io, look({io.get_executor(), any_flow<int>(range(0, 10))}, sizes), asio::detached);
  io.run();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 4, 2, 0}));
}

TEST(asio_reader, that_waits_goes_with_its_io_context) {
  const life_balance lives;
  testing::stage on;
  reading seen;
  {
    asio::io_context io;
    asio::co_spawn(io, read_all(asio_reader(io.get_executor(), script({item(1), pending()}, on)), seen, number_of),
                   asio::detached);
    io.poll();
    EXPECT_TRUE(on.someone_sleeps());
  }
  EXPECT_FALSE(on.someone_sleeps());
  EXPECT_FALSE(seen.over);
  EXPECT_EQ(lives.surplus(), 0);
}

TEST(asio_reader, answers_cancelled_when_asio_cancels_it) {
  testing::stage on;
  reading seen;
  asio::io_context io;
  asio::cancellation_signal signal;
  asio::co_spawn(io, read_all(asio_reader(io.get_executor(), script({item(1), pending()}, on)), seen, number_of),
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  io.poll();
  signal.emit(asio::cancellation_type::terminal);
  io.restart();
  io.poll();
  ASSERT_TRUE(seen.why);
  EXPECT_EQ(seen.why->code, errc::cancelled);
  EXPECT_EQ(seen.numbers, (std::vector<int>{1}));
  EXPECT_FALSE(on.someone_sleeps());
}

// The coroutine leaves at many moments while another thread rings.
TEST(asio_reader, may_be_destroyed_at_any_moment) {
  const auto look = [](asio_reader<detail::inbox_flow<int>> in, int count) -> asio::awaitable<void> {
    while (count-- != 0) (void)co_await in.next();
  };
  for (int round = 0; round < 60; ++round) {
    inbox<int> box({4, overflow::drop_newest});
    asio::io_context io;
    asio::co_spawn(io, look({io.get_executor(), box.items()}, round), asio::detached);
    std::thread producer([&] {
      while (box.push(1) != inbox_push::cancelled) {
      }
    });
    io.run();
    producer.join();
  }
}

}  // namespace
}  // namespace weir::flow

#endif  // ASIO_HAS_CO_AWAIT
