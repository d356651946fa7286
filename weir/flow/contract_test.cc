#include <weir/flow/flow.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weir::flow {
namespace {

static_assert(!is_final(step::more) && !is_final(step::pending));
static_assert(is_final(step::done) && is_final(step::failed) && is_final(step::cancelled));

TEST(waker, that_wakes_nobody_may_be_called) {
  const waker nobody;
  EXPECT_FALSE(nobody);
  nobody();
  nobody.action()();
}

TEST(waker, calls_its_target) {
  int calls = 0;
  const waker wake([](void* target) noexcept { ++*static_cast<int*>(target); }, &calls);
  EXPECT_TRUE(wake);
  wake();
  wake.action()();
  EXPECT_EQ(calls, 2);
}

TEST(context, with_another_waker_keeps_the_place_for_the_failure) {
  error failure;
  context cx({}, failure);
  context other = cx.with(waker([](void*) noexcept {}, nullptr));
  EXPECT_EQ(other.fail(weir::fail(errc::io, "here")), step::failed);
  EXPECT_EQ(failure.message, "here");
  EXPECT_EQ(cx.failure().code, errc::io);
}

struct run_taker {
  std::vector<std::size_t> runs;
  std::vector<std::string> items;
  void operator()(std::string&& item) { items.push_back(std::move(item)); }
  void run(std::span<std::string> some) {
    runs.push_back(some.size());
    for (std::string& item : some) items.push_back(std::move(item));
  }
};

TEST(emit_run, gives_a_run_at_once_to_who_takes_runs_and_else_one_by_one) {
  std::vector<std::string> words{"a", "b", "c"};
  run_taker taker;
  emit_run(taker, std::span(words));
  EXPECT_EQ(taker.runs, (std::vector<std::size_t>{3}));
  EXPECT_EQ(taker.items, (std::vector<std::string>{"a", "b", "c"}));

  words = {"d", "e"};
  std::vector<std::string> one_by_one;
  emit_run([&](std::string&& item) { one_by_one.push_back(std::move(item)); }, std::span(words));
  EXPECT_EQ(one_by_one, (std::vector<std::string>{"d", "e"}));
}

}  // namespace
}  // namespace weir::flow
