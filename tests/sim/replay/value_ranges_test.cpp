#include "sim/replay/value_ranges.h"

#include <gtest/gtest.h>

#include "alive.h"

namespace tidemark {
namespace {

using testing::expect_alive;
using testing::tiny_scenario;

TEST(ValueRangesTest, NoTensorDiesAndNoneSaturates) {
  Scenario scenario = tiny_scenario();
  scenario.n_ctx = Tokens(48);
  scenario.prompt = Tokens(40);
  expect_alive(scenario);
}

TEST(ValueRangesTest, ADeepModelLivesAsWell) {
  testing::Dimensions deep = testing::kTiny;
  deep.n_layer = 48;
  expect_alive(tiny_scenario(StrategyKind::kResident, deep));
}

TEST(ValueRangesTest, PlainAttentionLivesAsWell) {
  Scenario scenario = tiny_scenario();
  scenario.flash_attention = false;
  expect_alive(scenario);
}

TEST(ValueRangesTest, ResidualBranchesTogetherAreAsLargeAsTheEmbedding) {
  EXPECT_DOUBLE_EQ(branch_size(2), 0.5);  // 4 sums of variance 1/4
  EXPECT_DOUBLE_EQ(branch_size(50), 0.1);
  EXPECT_DOUBLE_EQ(branch_size(1000), 0.05);
}

TEST(GeneratorTest, GivesTheSameNumbersEverywhere) {
  // splitmix64 from state 0, as published with it.
  Generator generator(0);
  EXPECT_EQ(generator.next(), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(generator.next(), 0x6E789E6AA1B965F4U);
}

TEST(GeneratorTest, PromptsFollowTheirSeed) {
  const auto prompt = [](uint64_t seed) { return made_up_prompt(seed, 50, 300); };
  EXPECT_EQ(prompt(1), prompt(1));
  EXPECT_NE(prompt(1), prompt(2));
  for (const int32_t token : prompt(3)) EXPECT_TRUE(token >= 0 && token < 300);
}

}  // namespace
}  // namespace tidemark
