#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/caught.h>
#include <weir/flow/flow.h>
#include <weir/flow/testing/script.h>

namespace weir::flow::testing {

/// A consumer whose demand a test writes down: each request is one pull, and what comes of it is kept.
///
///     test_consumer seen(source | map(f));
///     seen.request(2);                     // step::more, with the items in seen.items
///     seen.leave();                        // destroys the flow
///     EXPECT_EQ(seen.complaint(), "");
///
/// It watches the contract: what a flow does against it is a complaint, which is a sentence, so that any test framework can
/// look at it. An exception from the flow is its end as failed, with the error that a driver would make of it.
///   Threads  confined; wakes are counted where they come, so they must come on the test's thread.
template <flow Flow>
class test_consumer {
 public:
  using value_type = value_of<Flow>;

  explicit test_consumer(Flow from) : flow_(std::move(from)) {}
  test_consumer(test_consumer&&) = delete;
  test_consumer& operator=(test_consumer&&) = delete;

  /// Pulls once for at most so many items, and gives what the flow answered. After an end, or after leave(), it does
  /// nothing and gives the last answer again.
  step request(std::size_t count) {
    if (!flow_ || is_final(last_)) return last_;
    std::size_t demand = count;
    std::size_t given = 0;
    inside_ = true;
    context cx(waker(&test_consumer::woken, this), failure);
    try {
      last_ = flow_->pull(
          demand,
          [&](value_type&& item) {
            if (!inside_) complain("an item came outside of pull (R1)");
            ++given;
            items.push_back(std::move(item));
          },
          cx);
      if (count - demand != given) complain("the demand was not lowered by what was given");
    } catch (...) {
      failure = caught();
      last_ = step::failed;
    }
    inside_ = false;
    if (given > count) complain("more items than were asked for");
    if (last_ == step::more && given < count) complain("`more` with demand left");
    steps.push_back(last_);
    return last_;
  }

  /// Requests again and again, until the flow is pending or has ended.
  step request_all() {
    step why = request(unbounded);
    while (why == step::more && flow_) why = request(unbounded);
    return why;
  }

  /// Destroys the flow; a wake after that is a complaint (R7).
  void leave() { flow_.reset(); }

  /// How the flow ended, if it has.
  [[nodiscard]] std::optional<step> end() const { return is_final(last_) ? std::optional(last_) : std::nullopt; }

  /// What the flow did that the contract forbids, the first time; empty if it did nothing of the kind.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

  /// Compares all that has come with what was expected; empty if it is that, or else a sentence.
  std::string came(const std::vector<value_type>& expected, std::optional<step> how = std::nullopt) const {
    if (!complaint_.empty()) return complaint_;
    if (items.size() != expected.size()) {
      return std::to_string(items.size()) + " items came, not " + std::to_string(expected.size());
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!(items[i] == expected[i])) return "item " + std::to_string(i) + " is another one";
    }
    if (end() != how) {
      return std::string("the flow is ") + name_of(last_) + ", not " + (how ? name_of(*how) : "without an end");
    }
    return {};
  }

  std::vector<value_type> items;  ///< all that have come
  std::vector<step> steps;        ///< what each request was answered
  std::size_t wakes = 0;          ///< how often the waker was called
  error failure;                  ///< after step::failed

 private:
  static void woken(void* target) noexcept {
    auto& self = *static_cast<test_consumer*>(target);
    ++self.wakes;
    if (!self.flow_ && self.complaint_.empty()) self.complaint_ = "a waker was called after the flow was gone (R7)";
  }
  void complain(const char* what) {
    if (complaint_.empty()) complaint_ = what;
  }

  step last_ = step::more;
  bool inside_ = false;
  std::string complaint_;
  std::optional<Flow> flow_;  // last, so that it goes before what its wakes write to
};

}  // namespace weir::flow::testing
