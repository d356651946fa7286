#pragma once

// Tries every interleaving of a few small threads over a memory with store buffers (TSO, what x86 does and what a fence is
// needed against), and says what can go wrong.
//
// A thread is a short program of the steps below. A plain store goes into the thread's buffer and reaches memory at some
// later time of the explorer's choosing; a load looks into the own buffer first; a read-modify-write and a fence wait until
// the buffer is empty. States are remembered, so loops that come back to a state they were in end by themselves.
//
// What it does not model: orders weaker than TSO. What those would allow is argued in the design note and watched by the
// thread sanitizer on the real code.

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::queue::testing {

enum class op : std::uint8_t {
  store,     // memory[at] = value, through the buffer
  load,      // reg = memory[at]
  exchange,  // reg = memory[at]; memory[at] = value           at once, with an empty buffer
  swap_if,   // reg = memory[at]; if it was `expected`, value   at once, with an empty buffer
  fence,     // waits for an empty buffer
  await,     // waits until memory[at] == value, then makes it 0
  demand,    // it is an error if memory[at] != value
  if_eq,     // goes on at `to` if reg == value
  if_ne,     // goes on at `to` if reg != value
  jump       // goes on at `to`
};

struct instruction {
  op what;
  std::uint8_t at = 0;
  std::uint8_t value = 0;
  std::uint8_t expected = 0;
  std::size_t to = 0;
};

/// A thread's program, written down with labels: a label is the number of the instruction that comes next.
class program {
 public:
  [[nodiscard]] std::size_t here() const noexcept { return code_.size(); }
  /// Adds a step and gives its number, so that a forward jump can be aimed later.
  std::size_t add(instruction step) {
    code_.push_back(step);
    return code_.size() - 1;
  }
  void aim(std::size_t jump, std::size_t to) { code_[jump].to = to; }
  [[nodiscard]] const std::vector<instruction>& code() const noexcept { return code_; }

 private:
  std::vector<instruction> code_;
};

struct exploration {
  std::size_t states = 0;
  std::size_t stuck = 0;   ///< ends in which some thread still waits
  std::size_t errors = 0;  ///< demands that were not met
};

class explorer {
 public:
  static constexpr std::size_t cells = 8;

  explicit explorer(std::vector<program> threads) : threads_(std::move(threads)) {}

  exploration run(const std::array<std::uint8_t, cells>& memory) {
    state first;
    first.memory = memory;
    first.threads.resize(threads_.size());
    std::vector<state> open{first};
    std::set<std::string> seen{key(first)};
    exploration found;
    while (!open.empty()) {
      const state now = std::move(open.back());
      open.pop_back();
      ++found.states;
      bool moved = false;
      bool finished = true;
      const auto visit = [&](state&& next) {
        moved = true;
        if (seen.insert(key(next)).second) open.push_back(std::move(next));
      };
      for (std::size_t i = 0; i < threads_.size(); ++i) {
        if (now.threads[i].at != threads_[i].code().size()) finished = false;
        if (!now.threads[i].buffer.empty()) {
          state next = now;
          auto& buffer = next.threads[i].buffer;
          next.memory[buffer.front().first] = buffer.front().second;
          buffer.erase(buffer.begin());
          visit(std::move(next));
        }
        state next = now;
        switch (advance(next, i)) {
          case progress::moved:
            visit(std::move(next));
            break;
          case progress::error:
            ++found.errors;
            break;
          case progress::blocked:
            break;
        }
      }
      if (!moved && !finished) ++found.stuck;
    }
    return found;
  }

 private:
  struct thread_state {
    std::size_t at = 0;
    std::uint8_t reg = 0;
    std::vector<std::pair<std::uint8_t, std::uint8_t>> buffer;  // oldest first
  };
  struct state {
    std::array<std::uint8_t, cells> memory{};
    std::vector<thread_state> threads;
  };
  enum class progress : std::uint8_t { moved, blocked, error };

  progress advance(state& in, std::size_t which) const {
    thread_state& self = in.threads[which];
    const auto& code = threads_[which].code();
    if (self.at == code.size()) return progress::blocked;
    const instruction& step = code[self.at];
    const std::size_t next = self.at + 1;
    std::uint8_t& cell = in.memory[step.at];
    const bool needs_empty_buffer =
        step.what == op::exchange || step.what == op::swap_if || step.what == op::fence || step.what == op::await;
    if (needs_empty_buffer && !self.buffer.empty()) return progress::blocked;
    self.at = next;
    switch (step.what) {
      case op::store:
        self.buffer.emplace_back(step.at, step.value);
        break;
      case op::load:
        self.reg = cell;
        for (const auto& [at, value] : self.buffer) {
          if (at == step.at) self.reg = value;
        }
        break;
      case op::exchange:
        self.reg = std::exchange(cell, step.value);
        break;
      case op::swap_if:
        self.reg = cell;
        if (cell == step.expected) cell = step.value;
        break;
      case op::fence:
        break;
      case op::await:
        if (cell != step.value) return progress::blocked;
        cell = 0;
        break;
      case op::demand:
        if (cell != step.value) return progress::error;
        break;
      case op::if_eq:
        if (self.reg == step.value) self.at = step.to;
        break;
      case op::if_ne:
        if (self.reg != step.value) self.at = step.to;
        break;
      case op::jump:
        self.at = step.to;
        break;
    }
    return progress::moved;
  }

  static std::string key(const state& of) {
    std::string text(of.memory.begin(), of.memory.end());
    for (const thread_state& thread : of.threads) {
      text += static_cast<char>(thread.at);
      text += static_cast<char>(thread.reg);
      text += static_cast<char>(thread.buffer.size());
      for (const auto& [at, value] : thread.buffer) {
        text += static_cast<char>(at);
        text += static_cast<char>(value);
      }
    }
    return text;
  }

  std::vector<program> threads_;
};

}  // namespace weir::queue::testing
