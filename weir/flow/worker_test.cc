#include <weir/flow/worker.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/testing/manual_executor.h>
#include <weir/queue/park_point.h>

namespace weir::flow {
namespace {

/// A task that notes its number in a list.
struct noting : task {
  std::vector<int>* seen;
  int number;
  noting(std::vector<int>& to, int which) : seen(&to), number(which) {
    run = [](task* self) noexcept {
      auto& me = *static_cast<noting*>(self);
      me.seen->push_back(me.number);
    };
  }
};

TEST(worker, runs_tasks_in_the_order_of_posting_on_its_own_thread) {
  std::vector<int> seen;  // not atomic: one task after the other, and joined before we look
  std::vector<int> expected;
  std::vector<std::unique_ptr<noting>> tasks;
  struct thread_check : task {
    worker* on;
    bool there = false;
  } check;
  check.run = [](task* self) noexcept {
    auto& me = *static_cast<thread_check*>(self);
    me.there = me.on->is_this_thread();
  };
  {
    worker on("order");
    check.on = &on;
    on.post(check);
    for (int i = 0; i < 10'000; ++i) {
      tasks.push_back(std::make_unique<noting>(seen, i));
      expected.push_back(i);
      on.post(*tasks.back());
    }
    EXPECT_FALSE(on.is_this_thread());
  }
  EXPECT_TRUE(check.there);
  EXPECT_EQ(seen, expected);
}

TEST(worker, runs_before_it_joins_also_what_its_tasks_post) {
  struct repeating : task {
    worker* on;
    int left = 1'000;
  } work;
  work.run = [](task* self) noexcept {
    auto& me = *static_cast<repeating*>(self);
    if (--me.left > 0) me.on->post(me);
  };
  {
    worker on;
    work.on = &on;
    on.post(work);
  }
  EXPECT_EQ(work.left, 0);
}

TEST(worker, takes_tasks_from_many_threads_and_loses_none) {
  constexpr int threads = 4;
  constexpr int each = 5'000;
  struct counting : task {
    long* ran;
  };
  long ran = 0;
  std::vector<std::vector<counting>> tasks(threads);
  for (auto& of_one : tasks) {
    of_one.resize(each);
    for (counting& work : of_one) {
      work.ran = &ran;
      work.run = [](task* self) noexcept { ++*static_cast<counting*>(self)->ran; };
    }
  }
  {
    worker on;
    std::vector<std::thread> posters;
    for (auto& of_one : tasks) {
      posters.emplace_back([&] {
        for (counting& work : of_one) on.post(work);
      });
    }
    for (auto& poster : posters) poster.join();
  }
  EXPECT_EQ(ran, long{threads} * each);
}

// Each task is posted when the one before has run, so the worker is about to sleep, or sleeps, each time.
TEST(worker, wakes_from_every_sleep) {
  queue::park_point done;
  struct answering : task {
    queue::park_point* done;
  } work;
  work.done = &done;
  work.run = [](task* self) noexcept { static_cast<answering*>(self)->done->wake(); };
  worker on;
  for (int i = 0; i < 1'000; ++i) {
    on.post(work);
    done.wait();
    for (int pause = 0; pause < i % 400; ++pause) queue::relax();
  }
}

TEST(manual_executor, runs_one_task_at_a_time_when_told) {
  testing::manual_executor on;
  std::vector<int> seen;
  noting first(seen, 1);
  noting second(seen, 2);
  EXPECT_FALSE(on.run_one());
  on.post(first);
  on.post(second);
  EXPECT_TRUE(seen.empty()) << "never inside post";
  EXPECT_TRUE(on.run_one());
  EXPECT_EQ(seen, (std::vector<int>{1}));
  on.post(first);
  EXPECT_EQ(on.run_all(), 2u);
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 1}));
  EXPECT_TRUE(on.idle());
}

}  // namespace
}  // namespace weir::flow
