#include "planner/capacity/scenario.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(ScenarioTest, StrategiesAreReadAsTheyAreWritten) {
  for (const StrategyKind kind : {StrategyKind::kResident, StrategyKind::kLayerwise,
                                  StrategyKind::kDoubleBuffer, StrategyKind::kBlockCache}) {
    EXPECT_EQ(parse_strategy(name_of(kind)), kind);
  }
  EXPECT_EQ(name_of(StrategyKind::kDoubleBuffer), "double-buffer");
  EXPECT_EQ(parse_strategy("Resident"), std::nullopt);
  EXPECT_EQ(parse_strategy(""), std::nullopt);
}

TEST(ScenarioTest, CachePoliciesAreReadAsTheyAreWritten) {
  for (const CachePolicy policy :
       {CachePolicy::kLru, CachePolicy::kMru, CachePolicy::kPinned, CachePolicy::kNextUse,
        CachePolicy::kFifo, CachePolicy::kClock, CachePolicy::kLfu, CachePolicy::kRandom}) {
    EXPECT_EQ(parse_cache_policy(name_of(policy)), policy);
  }
  EXPECT_EQ(name_of(CachePolicy::kNextUse), "next-use");
  EXPECT_EQ(parse_cache_policy("arc"), std::nullopt);
}

TEST(ScenarioTest, TheContextIsSharedOutAmongSequencesRoundedUp) {
  Scenario scenario;
  scenario.n_ctx = Tokens(4096);
  EXPECT_EQ(scenario.cells_per_sequence(), 4096);
  scenario.n_seq = 4;
  EXPECT_EQ(scenario.cells_per_sequence(), 1024);
  scenario.n_seq = 3;
  EXPECT_EQ(scenario.cells_per_sequence(), 1366);
}

}  // namespace
}  // namespace tidemark
