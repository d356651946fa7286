#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <weir/core/result.h>
#include <weir/flow/flow.h>

// Flows that begin somewhere else than in another flow. None of them but `never` is ever pending, and no pull allocates.

namespace weir::flow {

namespace detail {

template <class Range>
concept iterable = requires(Range& r) {
  { std::begin(r) } -> std::input_iterator;
  { std::begin(r) != std::end(r) } -> std::convertible_to<bool>;
};

/// Whether the range only borrows its items, so that they must be copied, not moved, out of it.
template <class Range>
inline constexpr bool borrows = std::ranges::enable_view<Range> || std::ranges::enable_borrowed_range<Range>;

template <class Range>
class range_flow {
  using iterator = decltype(std::begin(std::declval<Range&>()));

 public:
  using value_type = std::iter_value_t<iterator>;
  static constexpr bool never_pending = true;

  explicit range_flow(Range range) : range_(std::move(range)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    // The range may have been moved until now (R5), and its iterators with it.
    if (!at_) at_.emplace(std::begin(range_));
    iterator& at = *at_;
    const auto end = std::end(range_);
    if constexpr (std::contiguous_iterator<iterator> && !borrows<Range> &&
                  std::same_as<std::iter_reference_t<iterator>, value_type&>) {
      const std::size_t count = std::min(demand, static_cast<std::size_t>(end - at));
      const std::span<value_type> run(at, count);
      at += static_cast<std::iter_difference_t<iterator>>(count);
      demand -= count;
      emit_run(emit, run);
      return at == end ? step::done : step::more;
    } else {
      for (; at != end; --demand) {
        if (demand == 0) return step::more;
        decltype(auto) item = *at;
        if constexpr (borrows<Range>) {
          value_type copy(item);
          ++at;
          emit(std::move(copy));
        } else {
          value_type taken(std::move(item));
          ++at;
          emit(std::move(taken));
        }
      }
      return step::done;
    }
  }

 private:
  Range range_;
  std::optional<iterator> at_;
};

template <class Iterator, class Sentinel>
class iterator_flow {
 public:
  using value_type = std::iter_value_t<Iterator>;
  static constexpr bool never_pending = true;

  iterator_flow(Iterator first, Sentinel last) : at_(std::move(first)), last_(std::move(last)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    for (; at_ != last_; --demand) {
      if (demand == 0) return step::more;
      value_type item(*at_);
      ++at_;
      emit(std::move(item));
    }
    return step::done;
  }

 private:
  Iterator at_;
  Sentinel last_;
};

template <std::integral T>
class counting_flow {
 public:
  using value_type = T;
  static constexpr bool never_pending = true;

  counting_flow(T first, T last) : at_(first), last_(last) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    // Unsigned, so that the whole width of T can be counted.
    using width = std::make_unsigned_t<T>;
    const auto left = static_cast<width>(static_cast<width>(last_) - static_cast<width>(at_));
    const std::size_t count = left < demand ? static_cast<std::size_t>(left) : demand;
    const T from = at_;
    const T to = static_cast<T>(static_cast<width>(from) + static_cast<width>(count));
    at_ = to;
    demand -= count;
    for (T value = from; value != to; ++value) emit(T(value));
    return to == last_ ? step::done : step::more;
  }

 private:
  T at_;
  T last_;
};

template <class T>
class empty_flow {
 public:
  using value_type = T;
  static constexpr bool never_pending = true;
  template <class Emit>
  step pull(std::size_t&, Emit&&, context&) {
    return step::done;
  }
};

template <class T>
class just_flow {
 public:
  using value_type = T;
  static constexpr bool never_pending = true;

  explicit just_flow(T item) : item_(std::move(item)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    if (given_) return step::done;
    if (demand == 0) return step::more;
    --demand;
    given_ = true;
    emit(std::move(item_));
    return step::done;
  }

 private:
  T item_;
  bool given_ = false;
};

template <class T>
class failed_flow {
 public:
  using value_type = T;
  static constexpr bool never_pending = true;

  explicit failed_flow(error why) : why_(std::move(why)) {}

  template <class Emit>
  step pull(std::size_t&, Emit&&, context& cx) {
    return cx.fail(std::move(why_));
  }

 private:
  error why_;
};

template <class T>
class throwing_flow {
 public:
  using value_type = T;
  static constexpr bool never_pending = true;

  explicit throwing_flow(std::exception_ptr thrown) : thrown_(std::move(thrown)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&&, context&) {
    if (demand == 0) return step::more;
    std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

template <class T>
class never_flow {
 public:
  using value_type = T;

  template <class Emit>
  step pull(std::size_t&, Emit&&, context&) {
    return step::pending;
  }
};

template <class Function>
class callable_flow {
  using answer = std::remove_cvref_t<std::invoke_result_t<Function&>>;
  template <class T>
  struct item_in {
    using type = T;
    static constexpr bool fallible = false;
  };
  template <class T>
  struct item_in<result<T>> {
    using type = T;
    static constexpr bool fallible = true;
  };

 public:
  using value_type = typename item_in<answer>::type;
  static constexpr bool never_pending = true;

  explicit callable_flow(Function call) : call_(std::move(call)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    if (called_) return step::done;
    if (demand == 0) return step::more;
    called_ = true;
    answer given = call_();
    if constexpr (item_in<answer>::fallible) {
      if (!given) return cx.fail(std::move(given).error());
      --demand;
      emit(*std::move(given));
    } else {
      --demand;
      emit(std::move(given));
    }
    return step::done;
  }

 private:
  Function call_;
  bool called_ = false;
};

template <class T, class Function>
class iterated_flow {
 public:
  using value_type = T;
  static constexpr bool never_pending = true;

  iterated_flow(T first, Function next) : at_(std::move(first)), next_(std::move(next)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context&) {
    for (; demand != 0; --demand) {
      if (begun_) at_ = next_(std::move(at_));
      begun_ = true;
      emit(T(std::as_const(at_)));
    }
    return step::more;
  }

 private:
  T at_;
  Function next_;
  bool begun_ = false;
};

/// What a generator's answer is made of: the item, and whether the answer can be an error.
template <class Answer>
struct generated;
template <class T>
struct generated<std::optional<T>> {
  using item = T;
  static constexpr bool fallible = false;
};
template <class T>
struct generated<result<std::optional<T>>> {
  using item = T;
  static constexpr bool fallible = true;
};

template <class Function>
class generator_flow {
  using answer = generated<std::invoke_result_t<Function&>>;

 public:
  using value_type = typename answer::item;
  static constexpr bool never_pending = true;

  explicit generator_flow(Function next) : next_(std::move(next)) {}

  template <class Emit>
  step pull(std::size_t& demand, Emit&& emit, context& cx) {
    for (; demand != 0; --demand) {
      auto next = next_();
      if constexpr (answer::fallible) {
        if (!next) return cx.fail(std::move(next).error());
        if (!*next) return step::done;
        emit(std::move(**next));
      } else {
        if (!next) return step::done;
        emit(std::move(*next));
      }
    }
    return step::more;
  }

 private:
  Function next_;
};

}  // namespace detail

/// The items of a container, which the flow owns and moves them out of; or copies of the items of a view (std::span,
/// std::string_view, …), whose items must outlive the flow.
template <class Range>
  requires detail::iterable<Range>
detail::range_flow<Range> from_range(Range range) {
  return detail::range_flow<Range>(std::move(range));
}

/// `from_range({1, 2, 3})`.
template <class T>
detail::range_flow<std::vector<T>> from_range(std::initializer_list<T> items) {
  return detail::range_flow<std::vector<T>>(std::vector<T>(items));
}

/// Copies of the items between two iterators; what they point into must outlive the flow.
template <std::input_iterator Iterator, std::sentinel_for<Iterator> Sentinel>
detail::iterator_flow<Iterator, Sentinel> from_range(Iterator first, Sentinel last) {
  return {std::move(first), std::move(last)};
}

/// The integers first, first + 1, … up to and without last; `first <= last`.
template <std::integral T>
detail::counting_flow<T> range(T first, T last) {
  return {first, last};
}

/// No items.
template <class T>
detail::empty_flow<T> empty() {
  return {};
}

/// One item.
template <class T>
detail::just_flow<T> just(T item) {
  return detail::just_flow<T>(std::move(item));
}

/// The items named, in order; their types are the same.
template <class T, std::same_as<T>... More>
  requires(sizeof...(More) > 0)
auto just(T first, More... more) {
  return from_range(std::array<T, 1 + sizeof...(More)>{std::move(first), std::move(more)...});
}

/// No items and no end: pending for as long as it is there, and it never wakes anybody.
template <class T>
detail::never_flow<T> never() {
  return {};
}

/// No items, and a failure.
template <class T>
detail::failed_flow<T> fail(error why) {
  return detail::failed_flow<T>(std::move(why));
}

/// No items, and an exception, thrown when the first item is asked for:
/// `fail_by_exception<int>(std::runtime_error("x"))`.
template <class T, class Exception>
detail::throwing_flow<T> fail_by_exception(Exception thrown) {
  return detail::throwing_flow<T>(std::make_exception_ptr(std::move(thrown)));
}

/// One item, what the function gives, which is called when it is asked for: a T or, where it can fail, a `result<T>`.
template <class Function>
  requires std::invocable<Function&>
detail::callable_flow<Function> from_callable(Function call) {
  return detail::callable_flow<Function>(std::move(call));
}

/// Without end: the seed, `next(seed)`, `next(next(seed))`, …, each one made when it is asked for. Each is given as a
/// copy.
///   next  `T(T)`
template <std::copyable T, class Function>
  requires std::convertible_to<std::invoke_result_t<Function&, T&&>, T>
detail::iterated_flow<T, Function> iterate(T seed, Function next) {
  return {std::move(seed), std::move(next)};
}

/// What the function answers, call by call, only when it is asked for: `std::optional<T>` or, where it can fail,
/// `result<std::optional<T>>`. No item is the end, and the function is not called again.
template <class Function>
  requires requires(Function& f) { typename detail::generated<decltype(f())>::item; }
detail::generator_flow<Function> generate(Function next) {
  return detail::generator_flow<Function>(std::move(next));
}

}  // namespace weir::flow
