#pragma once

// A short history of pushes and pops by several threads, and whether some order of them in time explains it: the items
// are all different, so a queue's mistakes show in a few patterns, and no search is needed.
//
//   - an item came out that was not put in, or twice, or never
//   - a was put in before b, and b was taken out before a
//   - `empty` while at every moment of the call some item must have been in
//   - `full` while at no moment of the call so many items can have been in as the queue holds
//   - more items must have been in at a time than the queue holds

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/outcomes.h>

namespace weir::queue::testing {

///   Threads  each has its own number; expect_linear() when all are done.
class history {
 public:
  history(std::size_t capacity, int threads) : capacity_(capacity), logs_(static_cast<std::size_t>(threads)) {}

  /// Does a push of an item and keeps when and with what outcome. Whether it was pushed.
  template <class Push>
  bool push(int thread, int item, Push&& push) {
    const int called = now();
    const push_outcome outcome = push();
    const call when{called, now()};
    log& mine = logs_[static_cast<std::size_t>(thread)];
    if (outcome == push_outcome::pushed) mine.pushes.push_back({item, when});
    if (outcome == push_outcome::full) mine.fulls.push_back(when);
    return outcome == push_outcome::pushed;
  }

  template <class Pop, class Item>
  pop_outcome pop(int thread, Pop&& pop, Item&& item) {
    const int called = now();
    const pop_outcome outcome = pop();
    const call when{called, now()};
    log& mine = logs_[static_cast<std::size_t>(thread)];
    if (outcome == pop_outcome::popped) mine.pops.push_back({item(), when});
    if (outcome == pop_outcome::empty) mine.empties.push_back(when);
    return outcome;
  }

  void expect_linear() {
    pair_up();
    expect_order();
    for (const log& one : logs_) {
      for (const call& at : one.empties) EXPECT_EQ(fewest_in(at), 0) << "empty with an item in";
      for (const call& at : one.fulls) EXPECT_GE(most_in(at), static_cast<int>(capacity_)) << "full with room";
    }
    for (int moment = 0; moment < clock_.load(); ++moment) {
      ASSERT_LE(fewest_in({moment, moment}), static_cast<int>(capacity_)) << "more items in than it holds";
    }
  }

 private:
  struct call {
    int called;
    int returned;
  };
  struct of_item {
    int item;
    call when;
  };
  struct log {
    std::vector<of_item> pushes;
    std::vector<of_item> pops;
    std::vector<call> fulls;
    std::vector<call> empties;
  };
  struct life {
    call push;
    call pop;
  };

  int now() { return clock_.fetch_add(1); }

  void pair_up() {
    std::map<int, call> popped;
    for (const log& one : logs_) {
      for (const of_item& pop : one.pops) {
        EXPECT_TRUE(popped.emplace(pop.item, pop.when).second) << "item " << pop.item << " came out twice";
      }
    }
    for (const log& one : logs_) {
      for (const of_item& push : one.pushes) {
        const auto pop = popped.find(push.item);
        if (pop == popped.end()) {
          ADD_FAILURE() << "item " << push.item << " never came out";
          continue;
        }
        EXPECT_LT(push.when.called, pop->second.returned) << "item " << push.item << " came out before it was put in";
        lives_.push_back({push.when, pop->second});
        popped.erase(pop);
      }
    }
    EXPECT_TRUE(popped.empty()) << "items came out that nobody has put in";
  }

  void expect_order() const {
    for (const life& a : lives_) {
      for (const life& b : lives_) {
        EXPECT_FALSE(a.push.returned < b.push.called && b.pop.returned < a.pop.called)
            << "put in first and taken out second";
      }
    }
  }

  /// The fewest items that can have been in at the best moment of a call: those whose push had returned and whose pop
  /// had not yet been called.
  [[nodiscard]] int fewest_in(const call& at) const {
    int fewest = std::numeric_limits<int>::max();
    for (int moment = at.called; moment <= at.returned; ++moment) {
      fewest = std::min(fewest, static_cast<int>(std::count_if(lives_.begin(), lives_.end(), [&](const life& one) {
                          return one.push.returned < moment && moment < one.pop.called;
                        })));
    }
    return fewest;
  }
  /// The most that can have been in at one moment of a call.
  [[nodiscard]] int most_in(const call& at) const {
    int most = 0;
    for (int moment = at.called; moment <= at.returned; ++moment) {
      most = std::max(most, static_cast<int>(std::count_if(lives_.begin(), lives_.end(), [&](const life& one) {
                        return one.push.called <= moment && moment <= one.pop.returned;
                      })));
    }
    return most;
  }

  const std::size_t capacity_;
  std::atomic<int> clock_{0};
  std::vector<log> logs_;
  std::vector<life> lives_;
};

}  // namespace weir::queue::testing
