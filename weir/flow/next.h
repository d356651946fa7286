#pragma once

// Flows as coroutines see them: one item, or as many as fit, or a function for each. What g++ 12 cannot do is in
// async.h.

#include <cassert>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <weir/core/limits.h>
#include <weir/core/result.h>
#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/internal/coroutine_run.h>

namespace weir::flow {

/// A flow that is read bit by bit. It remembers that the flow has ended: a flow may say so together with its last item,
/// and is not pulled again then.
///   Owns     the flow. Keep the reader in the coroutine that reads from it, so that the flow goes with the coroutine
///            (R7).
///   Threads  confined; moved only before the first read (R5).
template <flow Source>
class reader {
 public:
  using value_type = value_of<Source>;

  // A template, so that nobody asks whether an any_flow can be made of a reader while a reader is being moved.
  template <std::same_as<Source> From>
  explicit reader(From source) : source_(std::move(source)) {}
  reader(reader&&) = default;
  reader& operator=(reader&&) = delete;

  /// Whether there will be no more items.
  [[nodiscard]] bool ended() const noexcept { return is_final(why_); }

  // --- for what is below -----------------------------------------------------------------------------------------

  /// Pulls once, if the flow has not ended. An exception is a failure.
  template <class Emit>
  void pull(std::size_t demand, Emit&& emit, const waker& wake) noexcept {
    if (ended()) return;
    try {
      context cx(wake, failure_);
      why_ = source_.pull(demand, emit, cx);
    } catch (...) {
      failure_ = caught();
      why_ = step::failed;
    }
  }
  [[nodiscard]] bool pending() const noexcept { return why_ == step::pending; }
  /// Success if the flow is done, else why it ended.
  [[nodiscard]] result<void> outcome() const {
    switch (why_) {
      case step::failed:
        return failure_;
      case step::cancelled:
        return weir::fail(errc::cancelled, "the flow was cancelled");
      default:
        return {};
    }
  }

 private:
  Source source_;
  error failure_;
  step why_ = step::more;
};

template <flow Source>
reader(Source) -> reader<Source>;

namespace detail {

template <flow Source>
class next_item final : public internal::awaited {
  using T = value_of<Source>;

 public:
  explicit next_item(reader<Source>& from) noexcept : from_(from) {}

  result<std::optional<T>> await_resume() {
    if (item_) return std::move(item_);
    if (auto end = from_.outcome(); !end) return std::move(end).error();
    return std::optional<T>();
  }

  bool poll(const waker& wake) noexcept override {
    if (!item_) {
      from_.pull(
          1, [this](T&& item) { item_.emplace(std::move(item)); }, wake);
    }
    return item_ || from_.ended();
  }

 private:
  reader<Source>& from_;
  std::optional<T> item_;
};

template <flow Source>
class next_items final : public internal::awaited {
  using T = value_of<Source>;

 public:
  next_items(reader<Source>& from, std::span<T> into) noexcept : from_(from), into_(into) { assert(!into.empty()); }

  result<std::size_t> await_resume() {
    if (count_ != 0) return count_;
    if (auto end = from_.outcome(); !end) return std::move(end).error();
    return std::size_t{0};
  }

  bool poll(const waker& wake) noexcept override {
    if (count_ == 0) {
      from_.pull(
          into_.size(),
          [this](T&& item) {
            into_[count_] = std::move(item);
            ++count_;
          },
          wake);
    }
    return count_ != 0 || from_.ended();
  }

 private:
  reader<Source>& from_;
  const std::span<T> into_;
  std::size_t count_ = 0;
};

template <flow Source, class Function>
class every_item final : public internal::awaited {
  using T = value_of<Source>;
  using answer = std::invoke_result_t<Function&, T&&>;
  static_assert(std::is_void_v<answer> || std::same_as<answer, result<void>>,
                "the function of for_each_await gives nothing, or a result<void>");

 public:
  every_item(Source from, Function consume) : from_(std::move(from)), consume_(std::move(consume)) {}

  result<void> await_resume() { return outcome_ ? from_.outcome() : std::move(outcome_); }

  bool poll(const waker& wake) noexcept override {
    for (std::size_t given = 0; outcome_ && !from_.ended(); given += limits::hop_quantum) {
      if (given >= limits::run_items) {
        wake();
        return false;
      }
      from_.pull(
          limits::hop_quantum,
          [this](T&& item) {
            if constexpr (std::is_void_v<answer>) {
              consume_(std::move(item));
            } else if (outcome_) {
              outcome_ = consume_(std::move(item));
            }
          },
          wake);
      if (from_.pending()) return !outcome_;
    }
    return true;
  }

 private:
  reader<Source> from_;
  Function consume_;
  result<void> outcome_;
};

}  // namespace detail

/// `co_await next(in)`: the next item as `result<std::optional<T>>`; none when the flow is done; its error if it
/// failed; `cancelled`; `threw` if a function in it threw. After an end it says the same again.
///   Demand  one item.
///   Cost    one pull, some 15 ns where it costs nothing itself; next_batch of 256 takes 2 ns an item. An item that is
///           ready suspends nothing.
template <flow Source>
detail::next_item<Source> next(reader<Source>& in) noexcept {
  return detail::next_item<Source>(in);
}

/// `co_await next_batch(in, into)`: as many items as are ready, at least one, moved to the front of `into`; how many,
/// as `result<std::size_t>`; 0 when the flow is done. A failure comes after the items before it.
///   into    not empty; its items are assigned to
///   Demand  into.size()
template <flow Source>
  requires std::is_move_assignable_v<value_of<Source>>
detail::next_items<Source> next_batch(reader<Source>& in, std::span<value_of<Source>> into) noexcept {
  return detail::next_items<Source>(in, into);
}

/// `co_await for_each_await(flow, consume)`: gives every item to `consume` and then says how the flow ended, as
/// for_each does: `result<void>`. The coroutine is resumed once, at the end.
///   consume  `void(T)`, or `result<void>(T)`: its first error ends the flow, and the items that were asked for
///            together with that one, at most limits::hop_quantum, are destroyed. An exception from it is the failure
///            `threw`.
template <flow Source, class Function>
  requires std::invocable<Function&, value_of<Source>&&>
detail::every_item<Source, Function> for_each_await(Source from, Function consume) {
  return detail::every_item<Source, Function>(std::move(from), std::move(consume));
}

}  // namespace weir::flow
