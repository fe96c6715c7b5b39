#include "sim/kernels/requantize.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kHalf = 1 << 30;  // as a multiplier: 1/2

TEST(RequantizeTest, WorkedExample) {
  const QuantizedMultiplier factor = quantize_multiplier(0.0125);
  EXPECT_EQ(factor, (QuantizedMultiplier{1'717'986'918, -6}));
  EXPECT_EQ(saturating_rounding_doubling_high_mul(1'000, factor.multiplier), 800);
  EXPECT_EQ(scale_by(1'000, factor), 13);
  EXPECT_EQ(scale_by(-1'000, factor), -13);
}

TEST(RequantizeTest, HighProductRoundsToNearestAndTiesUp) {
  EXPECT_EQ(saturating_rounding_doubling_high_mul(1, kHalf), 1);    // 0.5
  EXPECT_EQ(saturating_rounding_doubling_high_mul(-1, kHalf), 0);   // -0.5
  EXPECT_EQ(saturating_rounding_doubling_high_mul(3, kHalf), 2);    // 1.5
  EXPECT_EQ(saturating_rounding_doubling_high_mul(-3, kHalf), -1);  // -1.5
  EXPECT_EQ(saturating_rounding_doubling_high_mul(1, kHalf - 1), 0);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(-1, kHalf + 1), -1);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(kMin, kHalf), -kHalf);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(kMin, kMax), -kMax);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(kMax, kMax), kMax - 1);
  EXPECT_EQ(saturating_rounding_doubling_high_mul(kMin, kMin), kMax);
}

TEST(RequantizeTest, DivisionRoundsToNearestAndTiesAwayFromZero) {
  struct Row {
    int32_t x = 0;
    int exponent = 0;
    int32_t expected = 0;
  };
  const Row rows[] = {{5, 1, 3},        {-5, 1, -3},     {7, 2, 2},         {6, 2, 2},
                      {-6, 2, -2},      {5, 2, 1},       {-5, 2, -1},       {17, 0, 17},
                      {kMin, 0, kMin},  {kMax, 0, kMax}, {kMin, 31, -1},    {kMax, 31, 1},
                      {-kHalf, 31, -1}, {kHalf, 31, 1},  {kHalf - 1, 31, 0}};
  for (const Row& row : rows) {
    EXPECT_EQ(rounding_divide_by_pot(row.x, row.exponent), row.expected)
        << row.x << " / 2^" << row.exponent;
  }
}

TEST(RequantizeTest, MultipliersAreNormalizedFractions) {
  EXPECT_EQ(quantize_multiplier(0.0), (QuantizedMultiplier{0, 0}));
  EXPECT_EQ(quantize_multiplier(0.5), (QuantizedMultiplier{kHalf, 0}));
  EXPECT_EQ(quantize_multiplier(0.75), (QuantizedMultiplier{3 << 29, 0}));
  EXPECT_EQ(quantize_multiplier(1.0), (QuantizedMultiplier{kHalf, 1}));
  EXPECT_EQ(quantize_multiplier(3.0), (QuantizedMultiplier{3 << 29, 2}));
  // 1 - 2^-53 rounds up to 2^31, which does not fit: halved, shift + 1.
  EXPECT_EQ(quantize_multiplier(std::nextafter(1.0, 0.0)), (QuantizedMultiplier{kHalf, 1}));
  EXPECT_EQ(quantize_multiplier(0x1p-32), (QuantizedMultiplier{kHalf, -31}));
  EXPECT_EQ(quantize_multiplier(0x1p-33), (QuantizedMultiplier{0, 0}));
  EXPECT_EQ(quantize_multiplier(0x1p29), (QuantizedMultiplier{kHalf, 30}));
  EXPECT_EQ(quantize_multiplier(0x1p30), (QuantizedMultiplier{kMax, 30}));
  EXPECT_THROW(quantize_multiplier(-1.0), InternalError);
  EXPECT_THROW(quantize_multiplier(std::nan("")), InternalError);
  EXPECT_THROW(quantize_multiplier(INFINITY), InternalError);
}

TEST(RequantizeTest, ExtremeAccumulatorsSaturate) {
  EXPECT_EQ(requantize(kMin, quantize_multiplier(0.5)), -128);
  EXPECT_EQ(requantize(kMax, quantize_multiplier(1000.0)), 127);
  EXPECT_EQ(requantize(kMin, quantize_multiplier(1000.0)), -128);
  EXPECT_EQ(requantize(kMin, quantize_multiplier(0x1p-25)), -64);
  EXPECT_EQ(requantize(kMin, quantize_multiplier(0.0)), 0);
}

TEST(RequantizeTest, FloatsRoundAwayFromZeroAndClamp) {
  struct Row {
    float x = 0.0F;
    int expected = 0;
  };
  const Row rows[] = {{0.5F, 1},       {-0.5F, -1},    {0.49999997F, 0}, {-0.49999997F, 0},
                      {1.5F, 2},       {126.5F, 127},  {127.5F, 127},    {1e30F, 127},
                      {-128.4F, -128}, {-1e30F, -128}, {INFINITY, 127},  {-INFINITY, -128},
                      {NAN, 0},        {-0.0F, 0}};
  for (const Row& row : rows) EXPECT_EQ(round_to_s8(row.x), row.expected) << row.x;
}

TEST(RequantizeTest, LawEqualsTheRuleInPlainWords) {
  EXPECT_TRUE(rc::check([](int32_t x, int32_t fraction) {
    const int shift = *rc::gen::inRange(-31, 31);
    const QuantizedMultiplier factor{kHalf + std::abs(fraction % kHalf), shift};
    const int64_t expected = testing::scale_by_definition(x, factor.multiplier, shift);
    RC_ASSERT(scale_by(x, factor) == expected);
    RC_ASSERT(requantize(x, factor) == testing::round_and_clamp(static_cast<double>(expected)));
  }));
}

TEST(RequantizeTest, LawIsWithinOneOfTheRealProduct) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const double factor = double{inputs.scale()} / 16;
    const auto x = static_cast<int32_t>(inputs.between(-1'000'000, 1'000'000));
    RC_ASSERT(std::abs(scale_by(x, quantize_multiplier(factor)) - x * factor) <= 1.0);
  }));
}

}  // namespace
}  // namespace tidemark
