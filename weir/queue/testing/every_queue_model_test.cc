// Whatever is done to a queue by one thread, it does what a std::deque with a bound would do. Several reservations or
// batches at a time are in mpsc_ring_test.cc and spmc_ring_test.cc.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <weir/queue/testing/queue_kinds.h>

namespace weir::queue::testing {
namespace {

enum class operation : std::uint8_t {
  push,
  emplace,
  push_n,
  write_spans,
  pop,
  pop_n,
  consume,
  read_spans,
  look,
  throw_at_push,
  throw_at_pop,
  close
};

template <class Kind>
class run {
  using item = typename Kind::item;
  using queue = typename Kind::template of<item>;

 public:
  run(std::size_t asked, std::uint64_t start)
      : room_(Kind::room(asked)), queue_(Kind::template make<item>(asked, start_position{start})) {}

  void step(operation what, std::size_t count) {
    switch (what) {
      case operation::push:
        return push();
      case operation::emplace:
        return emplace();
      case operation::push_n:
        return push_n(count);
      case operation::write_spans:
        return write_spans(count);
      case operation::pop:
        return pop();
      case operation::pop_n:
        return pop_n(count);
      case operation::consume:
        return consume(count);
      case operation::read_spans:
        return read_spans(count);
      case operation::look:
        return look();
      case operation::throw_at_push:
        return throw_at_push(count);
      case operation::throw_at_pop:
        return throw_at_pop(count);
      case operation::close:
        queue_.close();
        closed_ = true;
        return;
    }
  }

  [[nodiscard]] long items() const { return static_cast<long>(in_.size()); }

  void look() {
    RC_ASSERT(queue_.size() == in_.size());
    RC_ASSERT(queue_.has_items() == !in_.empty());
    RC_ASSERT(queue_.ended() == (closed_ && in_.empty()));
    if constexpr (requires { queue_.free_places(1); }) RC_ASSERT(queue_.free_places(room_) == room_ - in_.size());
  }

 private:
  // A chain hands out spans of two chunks at most; a ring, all there is.
  static constexpr bool is_chain = requires { queue::inline_items; };
  // Items that are claimed can not be put back; and a claimed place that is given up stays taken for a while, which
  // this model does not know.
  static constexpr bool may_throw = std::is_same_v<item, counted> && (has_write_spans<queue> && has_read_spans<queue>);

  [[nodiscard]] std::size_t free() const { return closed_ ? 0 : room_ - in_.size(); }
  [[nodiscard]] push_outcome expected_push() const {
    return closed_ ? push_outcome::closed : in_.size() == room_ ? push_outcome::full : push_outcome::pushed;
  }

  std::vector<item> offered(std::size_t count) const {
    std::vector<item> items;
    for (std::size_t i = 0; i < count; ++i) items.emplace_back(next_ + static_cast<int>(i));
    return items;
  }
  void came(std::size_t count) {
    for (; count != 0; --count) in_.push_back(next_++);
  }
  std::vector<int> gone(std::size_t count) {
    const auto end = in_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<int> numbers(in_.begin(), end);
    in_.erase(in_.begin(), end);
    return numbers;
  }
  static std::size_t some_of(std::size_t count) { return (count + 1) / 2; }

  void push() {
    item one(next_);
    const push_outcome expected = expected_push();
    RC_ASSERT(queue_.try_push(std::move(one)) == expected);
    if (expected == push_outcome::pushed) {
      came(1);
    } else {
      RC_ASSERT(one.number() == next_);
    }
  }

  void emplace() {
    if constexpr (requires { queue_.try_emplace(1); }) {
      const push_outcome expected = expected_push();
      RC_ASSERT(queue_.try_emplace(next_) == expected);
      if (expected == push_outcome::pushed) came(1);
    } else {
      push();
    }
  }

  void push_n(std::size_t count) {
    std::vector<item> items = offered(count);
    const std::size_t pushed = std::min(count, free());
    RC_ASSERT(queue_.try_push_n(items) == pushed);
    expect_left(items, pushed);
    came(pushed);
  }
  /// Those before `from` are moved away, the others are not.
  void expect_left(const std::vector<item>& items, std::size_t from) const {
    for (std::size_t i = 0; i < items.size(); ++i) {
      RC_ASSERT(items[i].number() == (i < from ? counted::taken : next_ + static_cast<int>(i)));
    }
  }

  /// Publishes about half of the places it is given: the others must be offered again.
  void write_spans(std::size_t count) {
    if constexpr (has_write_spans<queue>) {
      if (closed_) return;
      const ring_spans<item> places = queue_.prepare(count);
      expect_size(places.size(), std::min(count, free()));
      const std::size_t used = some_of(places.size());
      construct(places.up_to(used));
      queue_.commit(used);
      came(used);
    } else if constexpr (has_reservations<queue>) {
      auto places = queue_.reserve(count);
      RC_ASSERT(places.size() == std::min(count, free()));
      construct(places.spans());
      places.publish(places.size());
      came(places.size());
    }
  }
  void construct(const ring_spans<item>& places) const {
    int number = next_;
    for (item& place : places) std::construct_at(&place, number++);
  }
  static void expect_size(std::size_t got, std::size_t expected) {
    if constexpr (is_chain) {
      RC_ASSERT(got <= expected);
      RC_ASSERT((got == 0) == (expected == 0));
    } else {
      RC_ASSERT(got == expected);
    }
  }

  void pop() {
    item out(-7);
    const pop_outcome expected = !in_.empty() ? pop_outcome::popped : closed_ ? pop_outcome::ended : pop_outcome::empty;
    RC_ASSERT(queue_.try_pop(out) == expected);
    RC_ASSERT(out.number() == (expected == pop_outcome::popped ? gone(1)[0] : -7));
  }

  void pop_n(std::size_t count) {
    if constexpr (requires(std::span<item> into) { queue_.try_pop_n(into); }) {
      std::vector<item> out;
      for (std::size_t i = 0; i < count; ++i) out.emplace_back(-7);
      const std::size_t popped = std::min(count, in_.size());
      RC_ASSERT(queue_.try_pop_n(out) == popped);
      const std::vector<int> expected = gone(popped);
      for (std::size_t i = 0; i < count; ++i) RC_ASSERT(out[i].number() == (i < popped ? expected[i] : -7));
    }
  }

  void consume(std::size_t count) {
    std::vector<int> given;
    const std::size_t expected = std::min(count, in_.size());
    RC_ASSERT(queue_.consume(count, [&](item&& one) noexcept { given.push_back(one.number()); }) == expected);
    RC_ASSERT(given == gone(expected));
  }

  /// Releases about half of what it reads: the others must be there again.
  void read_spans(std::size_t count) {
    if constexpr (has_read_spans<queue>) {
      const ring_spans<item> items = queue_.readable(count);
      expect_size(items.size(), std::min(count, in_.size()));
      expect_numbers(items);
      const std::size_t released = some_of(items.size());
      queue_.release(released);
      gone(released);
    } else if constexpr (has_batches<queue>) {
      const auto items = queue_.claim(count);
      RC_ASSERT(items.size() == std::min(count, in_.size()));
      expect_numbers(items.spans());
      gone(items.size());
    }
  }
  void expect_numbers(const ring_spans<item>& items) const {
    RC_ASSERT(std::equal(items.begin(), items.end(), in_.begin(),
                         [](const item& one, int number) { return one.number() == number; }));
  }

  void throw_at_push(std::size_t count) {
    if constexpr (may_throw) {
      std::vector<item> items = offered(count + 1);
      const std::size_t at = count / 2;
      counted::moves_until_throw() = static_cast<long>(at) + 1;
      bool thrown = false;
      try {
        (void)queue_.try_push_n(items);
      } catch (const counted::thrown&) {
        thrown = true;
      }
      counted::moves_until_throw() = 0;
      RC_ASSERT(thrown == (at < free()));
      const std::size_t pushed = std::min(at, free());
      expect_left(items, thrown ? at : std::min(items.size(), free()));
      came(pushed);
    }
  }

  void throw_at_pop(std::size_t count) {
    if constexpr (may_throw) {
      std::vector<item> out;
      for (std::size_t i = 0; i <= count; ++i) out.emplace_back(-7);
      const std::size_t at = count / 2;
      counted::moves_until_throw() = static_cast<long>(at) + 1;
      bool thrown = false;
      try {
        (void)queue_.try_pop_n(out);
      } catch (const counted::thrown&) {
        thrown = true;
      }
      counted::moves_until_throw() = 0;
      RC_ASSERT(thrown == (at < in_.size()));
      const std::vector<int> expected = gone(std::min(at, in_.size()));
      for (std::size_t i = 0; i < expected.size(); ++i) RC_ASSERT(out[i].number() == expected[i]);
      for (std::size_t i = expected.size(); i < out.size(); ++i) RC_ASSERT(out[i].number() == -7);
    }
  }

  const std::size_t room_;
  queue queue_;
  std::deque<int> in_;
  int next_ = 0;
  bool closed_ = false;
};

template <class Kind>
class every_queue_model : public ::testing::Test {};
TYPED_TEST_SUITE(every_queue_model, every_kind, kind_names);

TYPED_TEST(every_queue_model, behaves_as_a_bounded_deque_whatever_is_done_to_it) {
  const auto operations = rc::gen::weightedElement<operation>({{6, operation::push},
                                                               {3, operation::emplace},
                                                               {6, operation::push_n},
                                                               {6, operation::write_spans},
                                                               {6, operation::pop},
                                                               {6, operation::pop_n},
                                                               {6, operation::consume},
                                                               {6, operation::read_spans},
                                                               {3, operation::look},
                                                               {3, operation::throw_at_push},
                                                               {3, operation::throw_at_pop},
                                                               {1, operation::close}});
  const auto starts = rc::gen::element<std::uint64_t>(0, (1ULL << 31) - 5, (1ULL << 32) - 5, (1ULL << 63) - 5,
                                                      std::numeric_limits<std::uint64_t>::max() - 7,
                                                      std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(rc::check([&] {
    const life_balance lives;
    {
      run<TypeParam> run(*rc::gen::inRange<std::size_t>(1, 18), *starts);
      const auto steps = *rc::gen::scale(4, rc::gen::container<std::vector<std::pair<operation, std::size_t>>>(
                                                rc::gen::pair(operations, rc::gen::inRange<std::size_t>(0, 20))));
      for (const auto& [what, count] : steps) {
        run.step(what, count);
        RC_ASSERT(lives.surplus() == run.items());
      }
      run.look();
    }
    RC_ASSERT(lives.surplus() == 0);
  }));
}

}  // namespace
}  // namespace weir::queue::testing
