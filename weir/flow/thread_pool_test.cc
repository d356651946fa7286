// thread_pool and strand.

#include <weir/flow/thread_pool.h>

#include <array>
#include <atomic>
#include <deque>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/for_each.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/start.h>
#include <weir/flow/strand.h>
#include <weir/flow/testing/manual_executor.h>
#include <weir/queue/spin.h>

namespace weir::flow {
namespace {

struct counting : task {
  std::atomic<int>* count;
  int left;
  executor* on;

  counting(std::atomic<int>& to, int times, executor& where) : count(&to), left(times), on(&where) {
    run = [](task* self) noexcept {
      auto& me = *static_cast<counting*>(self);
      me.count->fetch_add(1, std::memory_order_relaxed);
      if (--me.left > 0) me.on->post(me);
    };
  }
};

TEST(thread_pool, runs_everything_that_was_posted_and_what_that_posts_before_it_goes) {
  std::atomic<int> count{0};
  std::deque<counting> tasks;
  {
    thread_pool pool(3);
    EXPECT_EQ(pool.size(), 3u);
    for (int i = 0; i < 1'000; ++i) pool.post(tasks.emplace_back(count, 5, pool));
  }
  EXPECT_EQ(count, 5'000);
}

// What runs a flow is one task, which never runs twice at a time.
TEST(thread_pool, runs_a_hop_in_order_without_a_strand) {
  thread_pool pool(3);
  std::vector<int> expected(100'000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(*to_vector(range(0, 100'000) | observe_on(pool, {.capacity = 64}) | observe_on(pool, {.capacity = 8})),
            expected);
}

TEST(thread_pool, calls_a_sink_once_at_a_time_without_a_strand) {
  struct sink {
    int* sum;  // guarded by nothing
    std::atomic<bool>* ended;
    void on_item(int item) const { *sum += item; }
    void on_end(step, const error&) const {
      ended->store(true);
      ended->notify_one();
    }
  };
  int sum = 0;
  std::atomic<bool> ended{false};
  thread_pool pool(3);
  const auto running =
      start(merge(range(0, 10'000) | observe_on(pool), range(0, 10'000) | observe_on(pool)), pool, sink{&sum, &ended});
  ended.wait(false);
  EXPECT_EQ(sum, 2 * (9'999 * 10'000 / 2));
}

TEST(thread_pool, that_has_nothing_to_do_goes_at_once) {
  for (int round = 0; round < 200; ++round) thread_pool pool(2);
}

TEST(thread_pool, runs_tasks_at_the_same_time) {
  // Each waits for the other to have begun.
  std::atomic<int> begun{0};
  struct meeting : task {
    std::atomic<int>* begun;
  };
  meeting one, other;
  thread_pool pool(2);
  for (meeting* each : {&one, &other}) {
    each->begun = &begun;
    each->run = [](task* self) noexcept {
      auto& count = *static_cast<meeting*>(self)->begun;
      ++count;
      while (count != 2) queue::relax();
    };
    pool.post(*each);
  }
  while (begun != 2) queue::relax();
}

/// Notes its number in a list that nothing guards: the strand has to.
struct noting : task {
  std::vector<int>* story;
  int number;
  noting(std::vector<int>& to, int of) : story(&to), number(of) {
    run = [](task* self) noexcept {
      const auto& me = *static_cast<noting*>(self);
      me.story->push_back(me.number);
    };
  }
};

TEST(strand, runs_its_tasks_one_after_another_in_order_while_those_of_others_run_beside_them) {
  constexpr int each = 20'000;
  std::array<std::vector<int>, 3> stories;
  std::vector<int> expected(each);
  std::iota(expected.begin(), expected.end(), 0);
  std::array<std::deque<noting>, 3> tasks;
  {
    thread_pool pool(2);
    std::array<strand, 3> strands{strand(pool), strand(pool), strand(pool)};
    for (int i = 0; i < each; ++i) {
      for (std::size_t s = 0; s < 3; ++s) strands[s].post(tasks[s].emplace_back(stories[s], i));
    }
  }
  for (const std::vector<int>& story : stories) EXPECT_EQ(story, expected);
}

TEST(strand, gives_others_their_turn_after_the_tasks_that_were_there) {
  testing::manual_executor below;
  strand mine(below);
  std::vector<int> story;
  struct reposting : noting {
    strand* on;
    reposting(std::vector<int>& to, int of, strand& where) : noting(to, of), on(&where) {
      run = [](task* self) noexcept {
        auto& me = *static_cast<reposting*>(self);
        me.story->push_back(me.number);
        if (me.story->size() < 5) me.on->post(me);
      };
    }
  } again(story, 1, mine);
  noting other(story, 2);
  mine.post(again);
  below.post(other);
  below.run_all();
  EXPECT_EQ(story, (std::vector<int>{1, 2, 1, 1, 1}));
}

TEST(strand, carries_a_hop) {
  thread_pool pool(2);
  std::array<strand, 4> strands{strand(pool), strand(pool), strand(pool), strand(pool)};
  const auto source = [&](std::size_t s) { return range(0, 50'000) | observe_on(strands[s]); };
  long sum = 0;
  ASSERT_TRUE(merge(source(0), source(1), source(2), source(3)) | for_each([&](int item) { sum += item; }));
  EXPECT_EQ(sum, 4 * (50'000L * 49'999 / 2));
}

}  // namespace
}  // namespace weir::flow
