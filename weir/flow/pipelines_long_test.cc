// The soak: as many pipelines as keep two cores busy for some ten minutes.

#include <cstdint>

#include <gtest/gtest.h>

#include <weir/flow/testing/internal/random_pipelines.h>
#include <weir/flow/worker.h>

namespace weir::flow {
namespace {

TEST(pipelines_long, built_at_random_give_what_a_model_says) {
  worker one, other;
  for (std::uint64_t seed = 1'000'000; seed < 21'000'000; ++seed) {
    testing::pipeline_builder builder(seed, one, other);
    testing::pipeline made = builder.build();
    const std::string text = made.text;
    ASSERT_EQ(builder.run(std::move(made)), "") << "seed " << seed << ": " << text;
  }
}

}  // namespace
}  // namespace weir::flow
