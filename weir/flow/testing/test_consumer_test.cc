#include <weir/flow/testing/test_consumer.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/map.h>
#include <weir/flow/sources.h>
#include <weir/flow/testing/script.h>

namespace weir::flow::testing {
namespace {

TEST(test_consumer, keeps_what_each_request_brings) {
  test_consumer seen(range(0, 5));
  EXPECT_EQ(seen.request(2), step::more);
  EXPECT_EQ(seen.items, (std::vector<int>{0, 1}));
  EXPECT_EQ(seen.end(), std::nullopt);
  EXPECT_EQ(seen.request_all(), step::done);
  EXPECT_EQ(seen.end(), step::done);
  EXPECT_EQ(seen.steps, (std::vector<step>{step::more, step::done}));
  EXPECT_EQ(seen.came({0, 1, 2, 3, 4}, step::done), "");
}

TEST(test_consumer, says_what_came_in_place_of_what_was_expected) {
  test_consumer seen(range(0, 3));
  EXPECT_EQ(seen.request(2), step::more);
  EXPECT_EQ(seen.came({0}), "2 items came, not 1");
  EXPECT_EQ(seen.came({0, 7}), "item 1 is another one");
  EXPECT_EQ(seen.came({0, 1}, step::done), "the flow is more, not done");
  EXPECT_EQ(seen.request(2), step::done);
  EXPECT_EQ(seen.came({0, 1, 2}), "the flow is done, not without an end");
}

TEST(test_consumer, counts_wakes_and_pulls_nothing_after_the_end) {
  stage on;
  test_consumer seen(script({pending(), item(1)}, on));
  EXPECT_EQ(seen.request(1), step::pending);
  EXPECT_EQ(seen.wakes, 0u);
  on.fire();
  EXPECT_EQ(seen.wakes, 2u) << "wakes may be spurious: a stage calls each twice";
  EXPECT_EQ(seen.request(2), step::done);
  EXPECT_EQ(seen.request(2), step::done);
  EXPECT_EQ(on.complaint(), "");
}

TEST(test_consumer, takes_an_exception_for_a_failure) {
  test_consumer seen(range(0, 5) | map([](int i) {
                       if (i == 2) throw std::runtime_error("two");
                       return i;
                     }));
  EXPECT_EQ(seen.request(unbounded), step::failed);
  EXPECT_EQ(seen.failure.message, "two");
  EXPECT_EQ(seen.came({0, 1}, step::failed), "");
}

/// Does one of the things that the contract forbids.
class wrong {
 public:
  using value_type = int;
  enum class kind { gives_too_much, does_not_count, says_more, wakes_late };
  wrong(kind what, waker* kept = nullptr) : what_(what), kept_(kept) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (kept_) *kept_ = cx.wake();
    switch (what_) {
      case kind::gives_too_much:
        for (std::size_t i = 0; i <= demand; ++i) emit(1);
        demand = static_cast<std::size_t>(-1);
        return step::done;
      case kind::does_not_count:
        emit(1);
        return step::done;
      case kind::says_more:
        return step::more;
      case kind::wakes_late:
        break;
    }
    return step::pending;
  }

 private:
  kind what_;
  waker* kept_;
};

TEST(test_consumer, complains_of_what_the_contract_forbids) {
  const auto complaint_of = [](wrong::kind what) {
    test_consumer seen{wrong(what)};
    (void)seen.request(2);
    return seen.complaint();
  };
  EXPECT_EQ(complaint_of(wrong::kind::gives_too_much), "more items than were asked for");
  EXPECT_EQ(complaint_of(wrong::kind::does_not_count), "the demand was not lowered by what was given");
  EXPECT_EQ(complaint_of(wrong::kind::says_more), "`more` with demand left");
  EXPECT_EQ(complaint_of(wrong::kind::wakes_late), "");
}

TEST(test_consumer, complains_of_a_wake_after_the_flow_is_gone) {
  waker kept;
  test_consumer seen(wrong(wrong::kind::wakes_late, &kept));
  EXPECT_EQ(seen.request(1), step::pending);
  kept();
  EXPECT_EQ(seen.complaint(), "");
  seen.leave();
  kept();
  EXPECT_EQ(seen.complaint(), "a waker was called after the flow was gone (R7)");
}

}  // namespace
}  // namespace weir::flow::testing
