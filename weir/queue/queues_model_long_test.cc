// The cases that would take the model checker days in every schedule: more items, more threads that wait for each other. Here, in
// every schedule in which each thread is interrupted up to twice where it could go on.

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/model.h>
#include <weir/queue/testing/scenarios.h>

namespace weir::queue {
namespace {

namespace model = testing::model;
using testing::scenarios::named_scenario;

std::vector<named_scenario> long_ones() {
  std::vector<named_scenario> all = testing::scenarios::all();
  std::erase_if(all, [](const named_scenario& each) { return !each.is_long; });
  return all;
}

class queues_model_long : public ::testing::TestWithParam<named_scenario> {};

TEST_P(queues_model_long, holds_in_every_schedule) {
  model::options how;
  how.executions_max = 500'000'000;
  how.preemptions_max = 2;
  const model::report report = model::explore(GetParam().run, how);
  EXPECT_TRUE(report.holds()) << report.text();
}

INSTANTIATE_TEST_SUITE_P(, queues_model_long, ::testing::ValuesIn(long_ones()),
                         [](const auto& each) { return testing::scenarios::as_test_name(each.param.name); });

}  // namespace
}  // namespace weir::queue
