#include "sim/kernels/affine_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "inputs.h"
#include "planner/base/check.h"
#include "sim/kernels/elementwise.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;

Affine random_affine(testing::Inputs& inputs) {
  return {.scale = inputs.scale(), .zero_point = static_cast<int32_t>(inputs.between(-128, 127))};
}

ByteRange random_range(testing::Inputs& inputs) {
  const auto low = static_cast<int32_t>(inputs.between(-128, 127));
  return {.low = low, .high = static_cast<int32_t>(inputs.between(low, 127))};
}

int clamp_by_definition(int64_t value, ByteRange range) {
  if (value < range.low) return range.low;
  return value > range.high ? range.high : static_cast<int>(value);
}

TEST(AffineTest, ByHand) {
  EXPECT_EQ(round_to_affine(3.0 / 0.5, -10), -4);
  EXPECT_EQ(round_to_affine(-3.25 / 0.5, -10), -17);
  EXPECT_EQ(round_to_affine(NAN, -10), -10);
  EXPECT_EQ(round_to_affine(INFINITY, -10), 127);
  EXPECT_EQ(round_to_affine(-1e300, 127), -128);
  EXPECT_EQ(round_to_affine(0.49999999999999994, 0), 0);  // plus a half it would be 1
}

TEST(AffineTest, RangesOfFusedActivations) {
  const Affine out{.scale = 0.05F, .zero_point = -20};
  EXPECT_EQ(activation_range(FusedActivation::kNone, out), (ByteRange{-128, 127}));
  EXPECT_EQ(activation_range(FusedActivation::kRelu, out), (ByteRange{-20, 127}));
  EXPECT_EQ(activation_range(FusedActivation::kRelu6, out), (ByteRange{-20, 100}));  // 6 / 0.05
  EXPECT_EQ(activation_range(FusedActivation::kReluN1To1, out), (ByteRange{-40, 0}));
  // 6 is 600 steps, beyond the type.
  EXPECT_EQ(activation_range(FusedActivation::kRelu6, {.scale = 0.01F}), (ByteRange{0, 127}));
}

TEST(AffineTest, ParametersNoModelHasAreABug) {
  EXPECT_THROW(check_affine({.scale = 0.0F}), InternalError);
  EXPECT_THROW(check_affine({.scale = NAN}), InternalError);
  EXPECT_THROW(check_affine({.zero_point = 128}), InternalError);
}

TEST(AffineOpsTest, ByHand) {
  const BinaryAffine affine{.a = {0.5F, -4}, .b = {0.25F, 2}, .out = {0.5F, 10}};
  std::vector<int8_t> out(1);
  add_affine(std::vector<int8_t>{6}, std::vector<int8_t>{-2}, affine, out);
  EXPECT_THAT(out, ElementsAre(18));
  multiply_affine(std::vector<int8_t>{6}, std::vector<int8_t>{-2}, affine, out);
  EXPECT_THAT(out, ElementsAre(0));
  // From scale 0.5, zero point -4 to 0.25 and 100: 2 x 10 + 100 = 120; 2 x 131 + 100 saturates.
  std::vector<int8_t> both{6, 127};
  rescale(both, {0.5F, -4}, {0.25F, 100}, both);
  EXPECT_THAT(both, ElementsAre(120, 127));
}

TEST(AffineOpsTest, AFusedRangeCuts) {
  const Affine same{1.0F, 5};
  const ByteRange relu = activation_range(FusedActivation::kRelu, same);
  std::vector<int8_t> out(3);
  add_affine(std::vector<int8_t>{5, 0, 10}, std::vector<int8_t>{6, 5, 5},
             {.a = same, .b = same, .out = same, .range = relu}, out);
  EXPECT_THAT(out, ElementsAre(6, 5, 10));  // -5 is cut to real zero
}

TEST(AffineOpsTest, LawEqualsTheRuleInPlainWordsAndWorksInPlace) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const int64_t count = inputs.between(0, 70);
    const auto a = inputs.values(count);
    const auto b = inputs.values(count);
    const BinaryAffine affine{.a = random_affine(inputs),
                              .b = random_affine(inputs),
                              .out = random_affine(inputs),
                              .range = random_range(inputs)};
    auto sum = a;
    auto product = b;
    auto rescaled = a;
    add_affine(sum, b, affine, sum);
    multiply_affine(a, product, affine, product);
    rescale(rescaled, affine.a, affine.out, rescaled);
    const double s_a = affine.a.scale;
    const double s_b = affine.b.scale;
    const double s_out = affine.out.scale;
    const double common = std::fmax(s_a, s_b) * 2;
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t x = a[i] - affine.a.zero_point;
      const int64_t y = b[i] - affine.b.zero_point;
      const int64_t terms = testing::scale_by_real(x * 1'048'576, s_a / common) +
                            testing::scale_by_real(y * 1'048'576, s_b / common);
      const int64_t steps = testing::scale_by_real(terms, common / (1'048'576 * s_out));
      RC_ASSERT(sum[i] == clamp_by_definition(steps + affine.out.zero_point, affine.range));
      const int64_t multiplied = testing::scale_by_real(x * y, s_a * s_b / s_out);
      RC_ASSERT(product[i] ==
                clamp_by_definition(multiplied + affine.out.zero_point, affine.range));
      const int64_t moved = testing::scale_by_real(x, s_a / s_out);
      RC_ASSERT(rescaled[i] == clamp_by_definition(moved + affine.out.zero_point, {}));
    }
  }));
}

TEST(AffineOpsTest, LawWithoutZeroPointsEqualsTheSymmetricOps) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    testing::Inputs inputs(seed);
    const auto a = inputs.values(50);
    const auto b = inputs.values(50);
    const BinaryScales scales{inputs.scale(), inputs.scale(), inputs.scale()};
    const BinaryAffine affine{.a = {scales.a}, .b = {scales.b}, .out = {scales.out}};
    std::vector<int8_t> symmetric(50);
    std::vector<int8_t> out(50);
    add_s8(a, b, scales, symmetric);
    add_affine(a, b, affine, out);
    RC_ASSERT(out == symmetric);
    multiply_s8(a, b, scales, symmetric);
    multiply_affine(a, b, affine, out);
    RC_ASSERT(out == symmetric);
  }));
}

TEST(AffineOpsTest, UnequalLengthsAreABug) {
  std::vector<int8_t> a(3);
  std::vector<int8_t> b(2);
  EXPECT_THROW(add_affine(a, b, {}, a), InternalError);
  EXPECT_THROW(multiply_affine(a, b, {}, a), InternalError);
  EXPECT_THROW(rescale(a, {}, {}, b), InternalError);
}

}  // namespace
}  // namespace tidemark
