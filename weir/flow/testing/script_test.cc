#include <weir/flow/testing/script.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/flow/flow.h>
#include <weir/flow/testing/conformance.h>

namespace weir::flow::testing {
namespace {

/// The commonest mistake in an operator: it goes on until its source has ended.
template <flow Source>
struct never_pending_loop {
  using value_type = value_of<Source>;
  Source source;

  step pull(std::size_t& demand, auto&& emit, context& cx) {
    while (demand != 0) {
      if (const step why = source.pull(demand, emit, cx); is_final(why)) return why;
    }
    return step::more;
  }
};

TEST(script, an_operator_that_pulls_for_ever_is_a_complaint_and_no_hang) {
  const std::string complaint = conforms([](script from) { return never_pending_loop<script>{std::move(from)}; },
                                         [](const std::vector<int>& numbers, step end) {
                                           return outcome{numbers, end};
                                         });
  EXPECT_NE(complaint.find("a source is pulled again and again, though it has nothing to give"), std::string::npos)
      << complaint;
}

}  // namespace
}  // namespace weir::flow::testing
