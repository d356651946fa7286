#pragma once

// The suite that every operator passes: it is run over every small script of its source, with every schedule of demands,
// and destroyed after every number of pulls, while the kit checks that
//
//   - no more is given than was asked for, and `more` is only said when all that was asked for has come;
//   - a consumer that was told `pending` is woken once its sources are;
//   - the flow ends once, in the way and after the items that a model says;
//   - sources are pulled as the contract demands (script.h);
//   - no waker is called after the flow is gone (R7), and every item is destroyed once.
//
// It uses no test framework: a check gives the first complaint, with the case that leads to it, or an empty text.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/testing/script.h>
#include <weir/queue/testing/counted.h>

namespace weir::flow::testing {

/// What came out of a flow: the numbers of its items in order, and how it ended, if it did. An exception counts as failed.
struct outcome {
  std::vector<int> numbers;
  std::optional<step> end;
  bool operator==(const outcome&) const = default;
};

inline std::string describe(const outcome& what) {
  std::ostringstream text;
  text << '[';
  for (const int number : what.numbers) text << ' ' << number;
  text << " ] ";
  text << (what.end ? name_of(*what.end) : "no end");
  return text.str();
}

/// Whether this is what was expected; or, in part, the same end after some of the first numbers.
inline bool matches(const outcome& seen, const outcome& expected, bool in_part) {
  if (!in_part) return seen == expected;
  return seen.end == expected.end && seen.numbers.size() <= expected.numbers.size() &&
         std::equal(seen.numbers.begin(), seen.numbers.end(), expected.numbers.begin());
}

/// The numbers in an item: of a number, of a `counted`, or of a container of them. For items of a type of your own, declare one
/// beside the type.
inline std::vector<int> numbers_in(int item) { return {item}; }
inline std::vector<int> numbers_in(const counted& item) { return {item.number()}; }
inline std::vector<int> numbers_in(const std::vector<counted>& items) {
  std::vector<int> numbers;
  for (const counted& item : items) numbers.push_back(item.number());
  return numbers;
}

/// How a flow is pulled.
struct schedule {
  std::vector<std::size_t> demands;  ///< one for each pull; then unbounded
  std::size_t pulls_max = 1000;      ///< after so many the consumer leaves
  bool impatient = false;            ///< pulls once more before it lets sleeping sources be woken
};

/// Pulls a flow as the schedule says and checks what can be seen from outside. `settle` makes what the flow waits for happen:
/// wakes sources, runs executors.
template <flow Flow>
outcome observe(Flow from, const schedule& how, stage& on, const std::function<void()>& settle) {
  struct consumer {
    std::size_t wakes = 0;
    bool gone = false;
    stage* on;
    static void wake(void* target) noexcept {
      auto& self = *static_cast<consumer*>(target);
      ++self.wakes;
      if (self.gone) self.on->complain("a waker was called after the flow's destruction (R7)");
    }
  } me{.on = &on};
  outcome seen;
  {
    std::optional<Flow> source(std::in_place, std::move(from));
    error failure;
    context cx(waker(&consumer::wake, &me), failure);
    bool was_impatient = false;
    for (std::size_t pulls = 0; pulls < how.pulls_max && !seen.end; ++pulls) {
      const std::size_t asked = pulls < how.demands.size() ? how.demands[pulls] : unbounded;
      std::size_t demand = asked;
      std::size_t given = 0;
      bool inside = true;
      step why;
      try {
        why = source->pull(
            demand,
            [&](value_of<Flow>&& item) {
              if (!inside) on.complain("an item came outside of pull (R1)");
              ++given;
              for (const int number : numbers_in(item)) seen.numbers.push_back(number);
              // Takes the item over, as a real consumer does.
              [[maybe_unused]] const value_of<Flow> taken(std::move(item));
            },
            cx);
        if (asked - demand != given) on.complain("the demand was not lowered by what was given");
      } catch (const std::runtime_error&) {
        why = step::failed;
        if (given == asked) on.complain("an exception came after the last item that was asked for (R6)");
      }
      inside = false;
      if (given > asked) on.complain("more items than were asked for");
      if (why == step::more && demand != 0) on.complain("`more` with demand left");
      if (is_final(why)) seen.end = why;
      if (why == step::pending) {
        if (how.impatient && !was_impatient) {
          was_impatient = true;
          continue;
        }
        was_impatient = false;
        settle();
        if (me.wakes == 0) {
          on.complain("a wake was lost");
          break;
        }
        me.wakes = 0;
      }
    }
  }
  me.gone = true;
  settle();
  if (!seen.end && how.pulls_max == 1000) on.complain("the flow did not end");
  return seen;
}

namespace detail {

/// All ways to write `total` as a sum of demands, in order; the last demand of each is followed by unbounded ones.
inline std::vector<std::vector<std::size_t>> compositions(std::size_t total) {
  if (total == 0) return {{}};
  std::vector<std::vector<std::size_t>> all;
  for (std::size_t first = 1; first <= total; ++first) {
    for (std::vector<std::size_t>& rest : compositions(total - first)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

}  // namespace detail

/// What is different about an operator under test.
struct conformance_options {
  /// Makes what the flow waits for happen; by default its sources are woken.
  std::function<void(stage&)> settle = [](stage& on) { on.fire(); };
  /// Whether a failure may overtake items that came before it, so that only some of the first are given.
  bool fails_at_once = false;
  /// Numbers in the longest script. The work grows tenfold with each.
  std::size_t items_max = 3;
};

/// Runs the suite on an operator; gives the first complaint, or nothing.
///   apply  the operator: `script` to flow, whose items `numbers_in` understands. May keep what the flow needs to live outside of it
///   model  what comes out (an `outcome`) of the numbers that the source gives and the way it ends
///
///     EXPECT_EQ(conforms([](script from) { return std::move(from) | take(2); }, model_of_take_2), "");
template <class Apply, class Model>
std::string conforms(Apply apply, Model model, conformance_options options = {}) {
  using kind = event::kind;
  const auto run = [&](const std::vector<event>& events, const schedule& how,
                       const std::optional<outcome>& expected) -> std::string {
    const queue::testing::life_balance lives;
    stage on;
    const std::function<void()> settle = [&] { options.settle(on); };
    const outcome seen = observe(apply(script(events, on)), how, on, settle);
    std::string complaint = on.complaint();
    const bool in_part = options.fails_at_once && expected && expected->end != step::done;
    if (complaint.empty() && expected && !matches(seen, *expected, in_part)) {
      complaint = "expected " + describe(*expected) + ", came " + describe(seen);
    }
    if (complaint.empty() && lives.surplus() != 0) {
      complaint = std::to_string(lives.surplus()) + " items too many are alive";
    }
    if (complaint.empty()) return {};
    std::ostringstream text;
    text << complaint << "; script:";
    for (const event& now : events) {
      text << ' ' << name_of(now.what);
      if (now.what == kind::item) text << '(' << now.number << ')';
    }
    text << "; demands:";
    for (const std::size_t demand : how.demands) text << ' ' << demand;
    text << "; pulls at most " << how.pulls_max << (how.impatient ? "; impatient" : "");
    return text.str();
  };

  for (std::size_t count = 0; count <= options.items_max; ++count) {
    std::vector<int> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<int>(i) + 1);
    for (const kind end : {kind::done, kind::failed, kind::cancelled, kind::throws}) {
      const step source_end = end == kind::done ? step::done : end == kind::cancelled ? step::cancelled : step::failed;
      const outcome expected = model(numbers, source_end);
      // One bit for each place where the source can be pending: before each item, and before the end.
      for (unsigned pendings = 0; pendings < 1u << (count + 1); ++pendings) {
        std::vector<event> events;
        for (std::size_t i = 0; i <= count; ++i) {
          if (pendings >> i & 1) events.push_back(pending());
          events.push_back(i < count ? item(numbers[i]) : event{end, 0});
        }
        for (const bool impatient : {false, true}) {
          for (std::vector<std::size_t>& demands : detail::compositions(count + 1)) {
            schedule how{demands, 1000, impatient};
            if (auto wrong = run(events, how, expected); !wrong.empty()) return wrong;
            // A demand of nothing changes nothing.
            how.demands.insert(how.demands.begin(), 0);
            if (auto wrong = run(events, how, expected); !wrong.empty()) return wrong;
            // The consumer leaves after each number of pulls.
            for (how.pulls_max = 0; how.pulls_max < 2 * count + 4; ++how.pulls_max) {
              if (auto wrong = run(events, how, std::nullopt); !wrong.empty()) return wrong;
            }
          }
        }
      }
    }
  }
  return {};
}

}  // namespace weir::flow::testing
