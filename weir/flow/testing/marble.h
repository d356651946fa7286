#pragma once

// Marbles: what a flow does over time, as a line of text.
//
//     -a-bc--|      nothing at first, then a, then b and c at the same time, and done two ticks later
//
//     -       a tick of time: the flow is pending, and goes on at the next tick
//     a  7    an item: a letter stands for its code, a digit for its value
//     <12>    an item whose number is neither
//     |       done        #   failed        !   cancelled        *   throws (in sources)
//     [ab]    an item that is made of several (in results)
//     ' '     nothing at all: to write lines below each other
//
// Only ticks take time. All sources of one stage share it: a tick is when nothing is left to do but to wait, and it wakes
// all that sleep. So what an operator does with several sources can be read off. A source that nobody asks for an item does
// not sleep, and goes on where it was when it is asked again.
//
//     stage on;
//     EXPECT_EQ(marbles_of(merge(marbles("-a--c|", on), marbles("--b--d|", on)), on), "-a-b-c-d|");
//
// Where the text ends without an end, the source is pending for good: its `pending` comes at each tick again.

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weir/flow/flow.h>
#include <weir/flow/testing/conformance.h>
#include <weir/flow/testing/script.h>
#include <weir/flow/testing/test_consumer.h>

namespace weir::flow::testing {

namespace detail {

constexpr bool is_letter(int code) noexcept { return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'); }
constexpr bool is_digit(int code) noexcept { return code >= '0' && code <= '9'; }

inline std::string marble(int number) {
  if (is_letter(number)) return std::string(1, static_cast<char>(number));
  if (number >= 0 && number <= 9) return std::string(1, static_cast<char>('0' + number));
  return '<' + std::to_string(number) + '>';
}

inline std::string marble(const std::vector<int>& numbers) {
  if (numbers.size() == 1) return marble(numbers.front());
  std::string text = "[";
  for (const int number : numbers) text += marble(number);
  return text + ']';
}

constexpr const char* marble(step end) noexcept { return end == step::done ? "|" : end == step::cancelled ? "!" : "#"; }

}  // namespace detail

/// Ticks that a source without an end is pending for, and more than marbles_of() looks at.
inline constexpr std::size_t marble_ticks_max = 200;

/// What a script does that is written as marbles. Text that is none is a bug in the test, and throws std::invalid_argument.
inline std::vector<event> events_of(std::string_view text) {
  using kind = event::kind;
  std::vector<event> events;
  bool ended = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char now = text[at];
    if (now == ' ') continue;
    if (ended) throw std::invalid_argument("marbles behind the end: " + std::string(text));
    if (now == '-') {
      events.push_back(pending());
    } else if (detail::is_letter(now)) {
      events.push_back(item(now));
    } else if (detail::is_digit(now)) {
      events.push_back(item(now - '0'));
    } else if (now == '<') {
      std::size_t length = 0;
      events.push_back(item(std::stoi(std::string(text.substr(at + 1)), &length)));
      at += length + 1;
      if (at >= text.size() || text[at] != '>') throw std::invalid_argument("a number without its '>'");
    } else if (const std::size_t which = std::string_view("|#!*").find(now); which != std::string_view::npos) {
      constexpr kind ends[] = {kind::done, kind::failed, kind::cancelled, kind::throws};
      events.push_back({ends[which], 0});
      ended = true;
    } else {
      throw std::invalid_argument("not a marble: " + std::string(1, now));
    }
  }
  if (!ended) events.insert(events.end(), marble_ticks_max, pending());
  return events;
}

/// A source that does what its marbles say. It watches how it is pulled, as every script; the stage has its complaint.
inline script marbles(std::string_view text, stage& on) { return {events_of(text), on}; }

/// Pulls a flow for `demand` items again and again, lets time go on whenever it waits, and writes what came as marbles. What
/// goes against the contract, in the flow or in how it pulls its sources, is given in place of them, as a sentence; a flow
/// that waits and is never woken ends with '?', and one without an end after marble_ticks_max / 2 ticks with the last of them.
template <flow Flow>
std::string marbles_of(Flow from, stage& on, std::size_t demand = unbounded) {
  test_consumer seen(std::move(from));
  std::string text;
  std::size_t written = 0;
  for (std::size_t ticks = 0;;) {
    seen.wakes = 0;
    const step why = seen.request(demand);
    for (; written != seen.items.size(); ++written) text += detail::marble(numbers_in(seen.items[written]));
    if (!seen.complaint().empty()) return seen.complaint();
    if (!on.complaint().empty()) return on.complaint();
    if (is_final(why)) return text + detail::marble(why);
    // Who is pending and has woken its consumer at once only gives up its turn: that takes no time.
    if (why != step::pending || seen.wakes != 0) continue;
    if (++ticks == marble_ticks_max / 2) return text;
    text += '-';
    on.fire();
    if (seen.wakes == 0) return text + '?';
  }
}

/// What came of a run (conformance.h), which knows of no time, as marbles.
inline std::string marbles_of(const outcome& seen) {
  std::string text;
  for (const int number : seen.numbers) text += detail::marble(number);
  return seen.end ? text + detail::marble(*seen.end) : text;
}

}  // namespace weir::flow::testing
