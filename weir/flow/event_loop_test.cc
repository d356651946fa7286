#include <weir/flow/event_loop.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/sources.h>
#include <weir/flow/start.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

struct noting : task {
  std::vector<int>* story = nullptr;
  int number = 0;
  executor* again = nullptr;  // posts itself once more

  noting(std::vector<int>& to, int of) : story(&to), number(of) {
    run = [](task* self) noexcept {
      auto& me = *static_cast<noting*>(self);
      me.story->push_back(me.number);
      if (executor* const on = std::exchange(me.again, nullptr)) on->post(me);
    };
  }
};

TEST(event_loop, runs_tasks_in_the_order_in_which_they_were_posted_and_never_inside_post) {
  event_loop loop;
  std::vector<int> story;
  noting one(story, 1), two(story, 2);
  loop.post(one);
  loop.post(two);
  EXPECT_TRUE(story.empty());
  EXPECT_EQ(loop.run_ready(), 2u);
  EXPECT_EQ(story, (std::vector<int>{1, 2}));
  EXPECT_EQ(loop.run_ready(), 0u);
}

TEST(event_loop, leaves_what_a_task_posts_for_the_next_time) {
  event_loop loop;
  std::vector<int> story;
  noting one(story, 1);
  one.again = &loop;
  loop.post(one);
  EXPECT_EQ(loop.run_ready(), 1u);
  EXPECT_EQ(story.size(), 1u);
  EXPECT_EQ(loop.run_ready(), 1u);
  EXPECT_EQ(story.size(), 2u);
}

TEST(event_loop, that_is_stopped_runs_what_was_posted_before_and_can_be_run_again) {
  event_loop loop;
  std::vector<int> story;
  noting one(story, 1), two(story, 2);
  loop.post(one);
  loop.stop();
  loop.run();
  EXPECT_EQ(story, std::vector<int>{1});
  std::thread other([&] {
    loop.post(two);
    loop.stop();
  });
  loop.run();
  other.join();
  EXPECT_EQ(story, (std::vector<int>{1, 2}));
}

TEST(event_loop, loses_no_post_and_no_stop_however_they_meet_its_sleep) {
  for (int round = 0; round < 2'000; ++round) {
    event_loop loop;
    std::vector<int> story;
    noting one(story, round);
    std::thread other([&] {
      loop.post(one);
      loop.stop();
    });
    loop.run();
    other.join();
    ASSERT_EQ(story, std::vector<int>{round});
  }
}

TEST(event_loop, drives_a_flow_whose_source_is_on_another_thread) {
  worker other;
  event_loop loop;
  long sum = 0;
  struct summing {
    long* sum;
    event_loop* loop;
    void on_item(int item) { *sum += item; }
    void on_end(step end, error) {
      EXPECT_EQ(end, step::done);
      loop->stop();
    }
  };
  const auto running = start(range(0, 100'000) | observe_on(other), loop, summing{&sum, &loop});
  loop.run();
  EXPECT_EQ(sum, 100'000L * 99'999 / 2);
}

TEST(event_loop, that_goes_runs_what_is_left) {
  std::vector<int> story;
  noting one(story, 1);
  {
    event_loop loop;
    one.again = &loop;
    loop.post(one);
  }
  EXPECT_EQ(story, (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace weir::flow
