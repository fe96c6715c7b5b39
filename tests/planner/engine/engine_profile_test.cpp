#include "planner/engine/engine_profile.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// What a profile that says nothing stands for: our own plan and no overhead of anybody's.
TEST(EngineProfileTest, AnEmptyProfileReservesNothingOfItsOwn) {
  const EngineProfile profile;
  EXPECT_EQ(profile.policy, EnginePolicy::kPlanned);
  EXPECT_EQ(profile.activations, ActivationPolicy::kArena);
  EXPECT_EQ(profile.runtime_fixed, Bytes{});
  EXPECT_EQ(profile.runtime_ratio, 0.0);
  EXPECT_EQ(profile.alignment, Alignment::of(1));
}

TEST(EngineProfileTest, CacheDefaultsToHalfAndActivationsToFullPrecision) {
  const EngineProfile profile;
  EXPECT_EQ(profile.type_k, DType::kF16);
  EXPECT_EQ(profile.type_v, DType::kF16);
  EXPECT_EQ(profile.type_act, DType::kF32);
}

}  // namespace
}  // namespace tidemark
