// Pipelines built at random, beside a plain model; a short form of pipelines_long_test.cc.

#include <cstdint>

#include <gtest/gtest.h>

#include <weir/flow/testing/internal/random_pipelines.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

TEST(pipelines, built_at_random_give_what_a_model_says) {
  worker one, other;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    testing::pipeline_builder builder(seed, one, other);
    testing::pipeline made = builder.build();
    const std::string text = made.text;
    ASSERT_EQ(builder.run(std::move(made)), "") << "seed " << seed << ": " << text;
  }
}

}  // namespace
}  // namespace weir::flow
