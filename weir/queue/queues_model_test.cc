// Every queue, and every way of sleeping at one, under the model checker: small cases in every schedule and with everything
// that C++'s memory model lets their loads read. Then every memory order is weakened in turn, and some case must notice: an
// order that nobody would miss is either not needed, or not tested.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weir/queue/testing/model.h>
#include <weir/queue/testing/scenarios.h>

namespace weir::queue {
namespace {

namespace model = testing::model;
using testing::scenarios::named_scenario;

std::vector<named_scenario> short_ones() {
  std::vector<named_scenario> all = testing::scenarios::all();
  std::erase_if(all, [](const named_scenario& each) { return each.is_long; });
  return all;
}

class queues_model : public ::testing::TestWithParam<named_scenario> {};

TEST_P(queues_model, holds_in_every_schedule) {
  model::options how;
  // Under a sanitizer, which looks for other things, a part of the schedules will do.
  if (model::is_instrumented) how.executions_max = 2000;
  const model::report report = model::explore(GetParam().run, how);
  EXPECT_FALSE(report.failed()) << report.text();
  EXPECT_TRUE(report.complete || model::is_instrumented) << report.text();
}

INSTANTIATE_TEST_SUITE_P(, queues_model, ::testing::ValuesIn(short_ones()),
                         [](const auto& each) { return testing::scenarios::as_test_name(each.param.name); });

TEST(queues_model_orders, weakening_any_memory_order_is_noticed) {
  if (model::is_instrumented) GTEST_SKIP() << "takes minutes under a sanitizer, and finds the same";
  std::vector<model::scenario> all;
  for (const named_scenario& each : short_ones()) all.push_back(each.run);
  const model::weaken_report report = model::weaken_each(all, ".h");
  EXPECT_TRUE(report.all_needed()) << report.text();
  EXPECT_GE(report.killed, 30U) << "the weakenings were not tried";
}

// So that no order escapes the test above: every line of the layer's headers with an operation on an atomic is run by
// some case.
TEST(queues_model_orders, every_operation_on_an_atomic_is_tried) {
  if (model::is_instrumented) GTEST_SKIP() << "takes minutes under a sanitizer, and finds the same";
  std::set<std::string> tried;
  std::filesystem::path folder;
  for (const named_scenario& each : short_ones()) {
    for (const model::site& met : model::explore(each.run).sites) {
      const std::filesystem::path file(met.file);
      tried.insert(file.filename().string() + ":" + std::to_string(met.line));
      if (file.filename() == "mpsc_ring.h") folder = file.parent_path();
    }
  }
  ASSERT_FALSE(folder.empty());
  if (!std::filesystem::exists(folder / "mpsc_ring.h")) GTEST_SKIP() << "the sources are not at " << folder;

  const std::regex operation(R"((->|\.)(load|store|exchange|compare_exchange_\w+|fetch_\w+)\()");
  std::vector<std::string> missing;
  std::size_t found = 0;
  for (const auto& where : {folder, folder / "internal"}) {
    for (const auto& entry : std::filesystem::directory_iterator(where)) {
      if (entry.path().extension() != ".h") continue;
      std::ifstream lines(entry.path());
      std::string line;
      for (int number = 1; std::getline(lines, line); ++number) {
        const std::string code = line.substr(0, line.find("//"));
        if (!std::regex_search(code, operation)) continue;
        ++found;
        const std::string place = entry.path().filename().string() + ":" + std::to_string(number);
        if (!tried.contains(place)) missing.push_back(place);
      }
    }
  }
  EXPECT_GE(found, 25U);
  EXPECT_EQ(missing, std::vector<std::string>{});
}

}  // namespace
}  // namespace weir::queue
