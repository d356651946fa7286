#include <weir/net/loop.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include <gtest/gtest.h>
#include <asio/post.hpp>

#include <weir/core/thread.h>
#include <weir/net/internal/loop_internals.h>
#include <weir/net/internal/task_list.h>

namespace weir::net {
namespace {

/// Runs the function on the loop and waits for it.
void on(loop& where, const std::function<void()>& work) {
  std::promise<void> done;
  where.post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

struct numbered : flow::task {
  int number = 0;
  std::vector<int>* into = nullptr;
  static void append(flow::task* self) noexcept {
    auto* const me = static_cast<numbered*>(self);
    me->into->push_back(me->number);
  }
};

TEST(task_inbox, tells_whoever_finds_it_empty_and_gives_tasks_in_order) {
  internal::task_inbox inbox;
  internal::task_queue queue;
  flow::task a, b, c;
  EXPECT_TRUE(inbox.push(a));
  EXPECT_FALSE(inbox.push(b));
  inbox.take_all(queue);
  EXPECT_TRUE(inbox.push(c));
  inbox.take_all(queue);
  EXPECT_EQ(queue.pop(), &a);
  EXPECT_EQ(queue.pop(), &b);
  EXPECT_EQ(queue.pop(), &c);
  EXPECT_EQ(queue.pop(), nullptr);
  EXPECT_TRUE(queue.empty());
}

TEST(loop, runs_the_tasks_of_one_thread_in_the_order_they_were_posted) {
  constexpr int count = 10'000;
  std::vector<int> seen;
  std::vector<numbered> tasks(count);
  loop l;
  for (int i = 0; i < count; ++i) {
    auto& task = tasks[std::size_t(i)];
    task.number = i;
    task.into = &seen;
    task.run = &numbered::append;
    l.post(task);
  }
  on(l, [] {});
  ASSERT_EQ(seen.size(), std::size_t{count});
  for (int i = 0; i < count; ++i) ASSERT_EQ(seen[std::size_t(i)], i);
}

TEST(loop, runs_every_task_of_many_threads_once) {
  constexpr std::size_t threads = 4, each = 5'000;
  std::vector<int> seen;
  std::vector<std::vector<numbered>> tasks(threads, std::vector<numbered>(each));
  loop l;
  {
    std::vector<weir::thread> posters;
    for (std::size_t t = 0; t < threads; ++t) {
      posters.emplace_back("poster", [&, t] {
        for (std::size_t i = 0; i < each; ++i) {
          tasks[t][i].number = int(t * each + i);
          tasks[t][i].into = &seen;
          tasks[t][i].run = &numbered::append;
          l.post(tasks[t][i]);
        }
      });
    }
    for (auto& poster : posters) poster.join();
  }
  on(l, [] {});
  ASSERT_EQ(seen.size(), threads * each);
  std::vector<bool> there(threads * each);
  for (const int number : seen) there[std::size_t(number)] = true;
  EXPECT_EQ(std::count(there.begin(), there.end(), true), std::ptrdiff_t(threads * each));
}

TEST(loop, a_task_may_post_itself_again_and_never_runs_inside_post) {
  struct again : flow::task {
    loop* where = nullptr;
    int left = 1000;
    bool inside = false, nested = false;
    std::promise<void> done;
  } task;
  loop l;
  task.where = &l;
  task.run = [](flow::task* self) noexcept {
    auto& me = *static_cast<again*>(self);
    me.nested |= me.inside;
    me.inside = true;
    if (--me.left == 0) {
      me.done.set_value();
    } else {
      me.where->post(me);
    }
    me.inside = false;
  };
  l.post(task);
  task.done.get_future().wait();
  EXPECT_FALSE(task.nested);
}

// A task that posts itself for ever must leave room for sockets and timers: here for a handler of the io_context.
TEST(loop, a_busy_task_does_not_starve_handlers) {
  struct busy : flow::task {
    loop* where = nullptr;
    std::atomic<bool> stop = false;
    std::promise<void> stopped;
  } task;
  loop l;
  task.where = &l;
  task.run = [](flow::task* self) noexcept {
    auto& me = *static_cast<busy*>(self);
    if (me.stop.load()) {
      me.stopped.set_value();
    } else {
      me.where->post(me);
    }
  };
  l.post(task);
  std::promise<void> reached;
  asio::post(l.inside().io, [&] { reached.set_value(); });
  reached.get_future().wait();
  task.stop.store(true);
  task.stopped.get_future().wait();
}

TEST(loop, the_end_of_a_turn_comes_once_after_everything_that_was_ready) {
  std::vector<int> seen;
  numbered first, second, ending;
  first.number = 1;
  second.number = 2;
  ending.number = 3;
  for (numbered* task : {&first, &second, &ending}) {
    task->into = &seen;
    task->run = &numbered::append;
  }
  loop l;
  on(l, [&] {
    l.inside().at_turn_end(ending);
    l.post(first);
    l.post(second);
  });
  on(l, [] {});
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST(loop, knows_its_own_thread) {
  loop one, other;
  EXPECT_FALSE(one.is_this_thread());
  on(one, [&] {
    EXPECT_TRUE(one.is_this_thread());
    EXPECT_FALSE(other.is_this_thread());
  });
}

TEST(loop, runs_what_was_posted_before_it_stops) {
  std::atomic<int> ran = 0;
  {
    loop l;
    for (int i = 0; i < 1000; ++i) l.post([&] { ran.fetch_add(1); });
  }
  EXPECT_EQ(ran.load(), 1000);
}

}  // namespace
}  // namespace weir::net
