#pragma once

// Pipelines built at random beside a plain model of what must come out of them: the same seed builds the same pipeline, of
// sources that hesitate and break, operators, hops between threads, and a consumer that asks as it likes.
//
// For the layer's own tests: which operators there are is said here.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/core/result.h>
#include <weir/flow/any_flow.h>
#include <weir/flow/buffer.h>
#include <weir/flow/caught.h>
#include <weir/flow/chunks.h>
#include <weir/flow/concat.h>
#include <weir/flow/default_if_empty.h>
#include <weir/flow/distinct.h>
#include <weir/flow/executor.h>
#include <weir/flow/filter.h>
#include <weir/flow/flat_map.h>
#include <weir/flow/flow.h>
#include <weir/flow/map.h>
#include <weir/flow/merge.h>
#include <weir/flow/observe_on.h>
#include <weir/flow/scan.h>
#include <weir/flow/share.h>
#include <weir/flow/skip.h>
#include <weir/flow/sources.h>
#include <weir/flow/start_with.h>
#include <weir/flow/take.h>
#include <weir/flow/take_last.h>
#include <weir/flow/take_while.h>
#include <weir/queue/park_point.h>

namespace weir::flow::testing {

/// Numbers that look random and are the same for the same seed (SplitMix64).
class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 to sides - 1.
  std::size_t roll(std::size_t sides) noexcept { return static_cast<std::size_t>(next() % sides); }

 private:
  std::uint64_t state_;
};

/// Gives its items, is pending now and then although it has some and wakes at once, and ends as told.
class hesitant {
 public:
  using value_type = int;

  hesitant(std::vector<int> items, step end, bool throws, std::uint64_t seed)
      : items_(std::move(items)), end_(end), throws_(throws), dice_(seed) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    for (;;) {
      if (dice_.roll(5) == 0) {
        cx.wake()();
        return step::pending;
      }
      if (at_ == items_.size()) break;
      if (demand == 0) return step::more;
      --demand;
      emit(int(items_[at_++]));
    }
    if (end_ != step::failed) return end_;
    if (demand == 0) return step::more;
    if (throws_) throw std::runtime_error("broke");
    return cx.fail(weir::fail(errc::io, "broke"));
  }

 private:
  std::vector<int> items_;
  step end_;
  bool throws_;
  dice dice_;
  std::size_t at_ = 0;
};

/// A pipeline, and what must come out of it.
struct pipeline {
  any_flow<int> flow;
  std::vector<int> items;
  step end = step::done;
  bool ordered = true;  ///< or else the items in any order
  std::string text;     ///< how it was built
};

class pipeline_builder {
 public:
  pipeline_builder(std::uint64_t seed, executor& one, executor& other) : dice_(seed), executors_{&one, &other} {}

  pipeline build() {
    pipeline made = source();
    for (std::size_t left = dice_.roll(8); left != 0; --left) add_operator(made);
    return made;
  }

  /// Pulls a pipeline as this seed's consumer does and gives the first thing that is wrong; nothing if all is right.
  std::string run(pipeline under_test) {
    std::vector<int> seen;
    std::optional<step> end;
    {
      queue::park_point sleeper;
      error failure;
      any_flow<int> source(std::move(under_test.flow));  // goes before its waker's target (R7)
      context cx(waker(&queue::park_point::wake_target, &sleeper), failure);
      const std::size_t demand_max = std::size_t{1} << dice_.roll(12);
      while (!end) {
        const std::size_t asked = 1 + dice_.roll(demand_max);
        std::size_t demand = asked;
        const std::size_t before = seen.size();
        step why;
        try {
          why = source.pull(
              demand, [&](int&& item) { seen.push_back(item); }, cx);
          if (asked - demand != seen.size() - before) return "the demand was not lowered by what was given";
          if (why == step::more && demand != 0) return "`more` with demand left";
        } catch (const std::runtime_error&) {
          why = step::failed;
        }
        if (seen.size() - before > asked) return "more items than were asked for";
        if (is_final(why)) end = why;
        if (why == step::pending) sleeper.wait();
      }
    }
    if (*end != under_test.end) return "ended otherwise";
    if (!under_test.ordered) {
      std::sort(seen.begin(), seen.end());
      std::sort(under_test.items.begin(), under_test.items.end());
    }
    if (seen == under_test.items) return {};
    std::ostringstream text;
    text << "expected " << under_test.items.size() << " items, came " << seen.size();
    return text.str();
  }

 private:
  std::vector<int> some_items(std::size_t most) {
    std::vector<int> items;
    for (std::size_t left = dice_.roll(most); left != 0; --left) items.push_back(static_cast<int>(dice_.roll(100)));
    return items;
  }
  std::size_t size() { return std::size_t{1} << dice_.roll(13); }
  executor& any_executor() { return *executors_[dice_.roll(2)]; }

  pipeline source() {
    pipeline made;
    switch (dice_.roll(4)) {
      case 0: {
        const int count = static_cast<int>(dice_.roll(size()));
        for (int i = 0; i < count; ++i) made.items.push_back(i);
        made.flow = range(0, count);
        made.text = "range";
        break;
      }
      case 1:
        made.items = some_items(size());
        made.flow = from_range(std::vector<int>(made.items));
        made.text = "from_range";
        break;
      default:
        made.items = some_items(size());
        made.end = dice_.roll(3) == 0 ? step::failed : dice_.roll(8) == 0 ? step::cancelled : step::done;
        made.flow = hesitant(made.items, made.end, dice_.roll(2) == 0, dice_.next());
        made.text = "hesitant";
    }
    return made;
  }

  void add_operator(pipeline& to) {
    const int number = static_cast<int>(dice_.roll(7)) + 1;
    const std::size_t count = dice_.roll(size());
    std::vector<int>& items = to.items;
    const std::size_t kinds_of_any_order = 4;
    switch (dice_.roll(to.ordered ? 18 : kinds_of_any_order)) {
      case 0:
        for (int& item : items) item += number;
        to.flow = std::move(to.flow) | map([number](int item) { return item + number; });
        to.text += " | map";
        break;
      case 1:
        std::erase_if(items, [number](int item) { return item % number != 0; });
        to.flow = std::move(to.flow) | filter([number](int item) { return item % number == 0; });
        to.text += " | filter";
        break;
      case 2:
        to.flow =
            std::move(to.flow) | observe_on(any_executor(), {.capacity = dice_.roll(3) == 0 ? 0 : 1 + dice_.roll(600)});
        to.text += " | observe_on";
        break;
      case 3: {
        std::vector<int> twice;
        for (const int item : items) {
          twice.push_back(item);
          twice.push_back(-item);
        }
        items = std::move(twice);
        // What flat_map gives before a failure is not said, so in order it is concat_map.
        const auto two = [](int item) { return from_range({item, -item}); };
        if (to.ordered) {
          to.flow = std::move(to.flow) | concat_map(two);
        } else {
          to.flow = std::move(to.flow) | flat_map(two, {.concurrent_max = 1 + dice_.roll(5)});
        }
        to.text += to.ordered ? " | concat_map" : " | flat_map";
        break;
      }
      case 4:
        if (count <= items.size()) {
          items.resize(count);
          to.end = step::done;
        }
        to.flow = std::move(to.flow) | take(count);
        to.text += " | take";
        break;
      case 5:
        items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(count, items.size())));
        to.flow = std::move(to.flow) | skip(count);
        to.text += " | skip";
        break;
      case 6: {
        int sum = 0;
        for (int& item : items) item = sum = (sum + item) % 1000;
        to.flow = std::move(to.flow) | scan(0, [](int before, int item) { return (before + item) % 1000; });
        to.text += " | scan";
        break;
      }
      case 7:
        items.erase(std::unique(items.begin(), items.end()), items.end());
        to.flow = std::move(to.flow) | distinct_until_changed();
        to.text += " | distinct_until_changed";
        break;
      case 8:
        items.insert(items.begin(), number);
        to.flow = std::move(to.flow) | start_with(number);
        to.text += " | start_with";
        break;
      case 9:
        if (items.empty() && to.end == step::done) items.push_back(number);
        to.flow = std::move(to.flow) | default_if_empty(number);
        to.text += " | default_if_empty";
        break;
      case 10:
        to.flow = std::move(to.flow) | chunks(1 + count) |
                  concat_map([](std::vector<int> some) { return from_range(std::move(some)); });
        to.text += " | chunks | concat_map";
        break;
      case 11: {
        pipeline second = source();
        if (to.end == step::done) {
          items.insert(items.end(), second.items.begin(), second.items.end());
          to.end = second.end;
        }
        to.flow = concat(std::move(to.flow), std::move(second.flow));
        to.text = "concat(" + to.text + ", " + second.text + ")";
        break;
      }
      case 12:
        if (to.end != step::done) {
          items.clear();
        } else if (items.size() > count) {
          items.erase(items.begin(), items.end() - static_cast<std::ptrdiff_t>(count));
        }
        to.flow = std::move(to.flow) | take_last(count);
        to.text += " | take_last";
        break;
      case 13: {
        const auto wanted = [number](int item) { return item % 50 != number; };
        const auto stop = std::find_if_not(items.begin(), items.end(), wanted);
        if (stop != items.end()) {
          items.erase(stop, items.end());
          to.end = step::done;
        }
        to.flow = std::move(to.flow) | take_while(wanted);
        to.text += " | take_while";
        break;
      }
      case 14:
        to.flow = share(std::move(to.flow), {.lag_items_max = 1 + dice_.roll(300)}).subscribe();
        to.text += " | share";
        break;
      case 15: {
        // What merge gives before a failure is not said, so only flows that end well.
        pipeline second = source();
        if (to.end != step::done || second.end != step::done) break;
        items.insert(items.end(), second.items.begin(), second.items.end());
        to.flow = merge(std::move(to.flow), std::move(second.flow));
        to.ordered = false;
        to.text = "merge(" + to.text + ", " + second.text + ")";
        break;
      }
      case 16:
        to.flow = std::move(to.flow) | buffer(1 + count) |
                  concat_map([](std::vector<int> some) { return from_range(std::move(some)); });
        to.text += " | buffer | concat_map";
        break;
      default:
        to.flow = any_flow<int>(std::move(to.flow) | map([](int item) { return item; }));
        to.text += " | erase";
    }
  }

  dice dice_;
  executor* executors_[2];
};

}  // namespace weir::flow::testing
