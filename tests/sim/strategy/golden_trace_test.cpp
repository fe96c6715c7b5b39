#include <gtest/gtest.h>

#include "scenarios.h"
#include "support/golden.h"

namespace tidemark {
namespace {

// Two tokens of a three-layer model through two slots: small enough to be read beside the picture
// in double_buffer_loader.cpp.
TEST(GoldenTraceTest, DoubleBufferOfThreeLayers) {
  Scenario scenario = testing::layer_scenario({{"embedding", Bytes::of(800'000), Bytes::of(64'000)},
                                               {"layer", Bytes::of(600'000), Bytes::of(128'000)},
                                               {"output", Bytes::of(200'000), Bytes::of(32'000)}},
                                              StrategyKind::kDoubleBuffer);
  scenario.generate = Tokens(2);
  scenario.device.flash_latency = Duration::us(100);
  const SimResult result = testing::run(scenario, {.trace = true});
  EXPECT_TRUE(
      testing::matches_golden("simulate_double_buffer_trace.json", to_perfetto(result.trace)));
}

}  // namespace
}  // namespace tidemark
