#include "sim/quant/integer_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <vector>

#include "plain.h"
#include "planner/base/check.h"
#include "sim/kernels/half.h"

namespace tidemark {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr IntegerFormat kInt8{.bits = 8};
constexpr IntegerFormat kInt4{.bits = 4};
constexpr IntegerFormat kInt8Zero{.bits = 8, .asymmetric = true};
constexpr IntegerFormat kInt4Zero{.bits = 4, .asymmetric = true};

TEST(IntegerFormatTest, RangesOfTheIntegers) {
  EXPECT_EQ(lowest_integer(kInt8), -127);
  EXPECT_EQ(highest_integer(kInt8), 127);
  EXPECT_EQ(lowest_integer(kInt8Zero), -128);
  EXPECT_EQ(lowest_integer(kInt4), -7);
  EXPECT_EQ(lowest_integer(kInt4Zero), -8);
  EXPECT_EQ(highest_integer(kInt4Zero), 7);
}

// 1.27 / 127 = 0.01 -> 0x211F = 0.0100021; -0.5 / 0.0100021 = -49.99.
TEST(IntegerFormatTest, SymmetricByHand) {
  const AffineScale scale = affine_scale({.low = -0.5F, .high = 1.27F}, kInt8);
  EXPECT_EQ(scale, (AffineScale{.scale = half_to_float(0x211F)}));
  EXPECT_EQ(quantized(1.27F, scale, kInt8), 127);
  EXPECT_EQ(quantized(-0.5F, scale, kInt8), -50);
  EXPECT_EQ(quantized(-9.0F, scale, kInt8), -127);
  EXPECT_EQ(quantized(NAN, scale, kInt8), 0);
  // 0.7 / 7 = 0.1 -> 0x2E66 = 0.0999756; 0.05 is 0.5001 steps.
  const AffineScale four = affine_scale({.low = -0.3F, .high = 0.7F}, kInt4);
  EXPECT_EQ(four.scale, half_to_float(0x2E66));
  EXPECT_EQ(quantized(-0.3F, four, kInt4), -3);
  EXPECT_EQ(quantized(0.05F, four, kInt4), 1);
}

// The example of the header: 2^-6 x (1 + 4 / 1024) = 0x2404.
TEST(IntegerFormatTest, AsymmetricByHand) {
  const AffineScale scale = affine_scale({.low = -1.0F, .high = 3.0F}, kInt8Zero);
  EXPECT_EQ(scale, (AffineScale{.scale = half_to_float(0x2404), .zero_point = -64}));
  EXPECT_EQ(quantized(0.0F, scale, kInt8Zero), -64);
  EXPECT_EQ(dequantized(-64, scale), 0.0F);
  EXPECT_EQ(quantized(3.0F, scale, kInt8Zero), 127);
  EXPECT_FLOAT_EQ(dequantized(127, scale), 2.9960327F);
  EXPECT_EQ(quantized(-1.0F, scale, kInt8Zero), -128);  // 63.75 steps, 64
}

// [0, 1.5] in 4 bits: 15 steps of 0.1. What lies on one side of zero is widened to hold it.
TEST(IntegerFormatTest, OneSidedRangesHoldZeroAtAnEnd) {
  EXPECT_EQ(affine_scale({.low = 0.0F, .high = 1.5F}, kInt4Zero),
            (AffineScale{.scale = half_to_float(0x2E66), .zero_point = -8}));
  EXPECT_EQ(affine_scale({.low = 2.0F, .high = 3.0F}, kInt8Zero).zero_point, -128);
  // 3 / 255 -> 2^-7 x (1 + 518 / 1024) = 0.0117645; -128 + 255.003.
  EXPECT_EQ(affine_scale({.low = -3.0F, .high = -2.0F}, kInt8Zero),
            (AffineScale{.scale = half_to_float(0x2206), .zero_point = 127}));
}

TEST(IntegerFormatTest, ScalesStayWithinFp16) {
  constexpr float kHuge = std::numeric_limits<float>::max();
  for (const IntegerFormat format : {kInt8, kInt8Zero, kInt4, kInt4Zero}) {
    EXPECT_EQ(affine_scale({.low = -kHuge, .high = kHuge}, format).scale, 65504.0F);
    EXPECT_EQ(affine_scale({.low = -1e-40F, .high = 1e-42F}, format), AffineScale{});
    EXPECT_EQ(affine_scale({}, format), AffineScale{});
  }
}

TEST(IntegerFormatTest, AScaleOfZeroGivesZeros) {
  std::vector<float> restored(3, 9.0F);
  round_trip(std::vector<float>{1.0F, -1e-9F, NAN}, {}, kInt8, restored);
  EXPECT_THAT(restored, Each(0.0F));
  EXPECT_EQ(squared_error(std::vector<float>{3.0F, 4.0F}, {}, kInt8), 25.0);
}

TEST(IntegerFormatTest, RefusesWhatIsNoRange) {
  EXPECT_THROW(affine_scale({.low = 1.0F, .high = 0.0F}, kInt8), InternalError);
  EXPECT_THROW(affine_scale({.low = 0.0F, .high = INFINITY}, kInt8), InternalError);
  EXPECT_THROW(affine_scale({}, {.bits = 9}), InternalError);
}

// Steps of 1: halves go away from zero, also with a zero point.
TEST(IntegerFormatTest, TiesGoAwayFromZero) {
  std::vector<float> restored(4);
  const std::vector<float> values{0.5F, -0.5F, 2.5F, 0.49999997F};
  round_trip(values, {.scale = 1.0F}, kInt8, restored);
  EXPECT_THAT(restored, ElementsAre(1.0F, -1.0F, 3.0F, 0.0F));
  round_trip(values, {.scale = 1.0F, .zero_point = -64}, kInt8Zero, restored);
  EXPECT_THAT(restored, ElementsAre(1.0F, -1.0F, 3.0F, 0.0F));
}

struct Drawn {
  std::vector<float> values{};
  IntegerFormat format{};
  AffineScale scale{};
  std::vector<float> restored{};
};

Drawn drawn(uint64_t seed, int bits, bool asymmetric) {
  Drawn made{.values = testing::random_values(seed, 1 + static_cast<int64_t>(seed % 97), 3.0F),
             .format = {.bits = bits, .asymmetric = asymmetric}};
  if (seed % 5 == 0) {  // one-sided
    for (float& value : made.values) value = std::abs(value) + 0.1F;
  }
  const auto [low, high] = std::ranges::minmax(made.values);
  made.scale = affine_scale({.low = low, .high = high}, made.format);
  made.restored.resize(made.values.size());
  round_trip(made.values, made.scale, made.format, made.restored);
  return made;
}

// Within the range of the integers a value is at most half a step away.
TEST(IntegerFormatTest, LawValuesInRangeComeBackWithinHalfAStep) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    for (const int bits : {2, 4, 8}) {
      const Drawn made = drawn(seed, bits, asymmetric);
      const double step = made.scale.scale;
      const double low = step * (lowest_integer(made.format) - made.scale.zero_point);
      const double high = step * (highest_integer(made.format) - made.scale.zero_point);
      for (size_t i = 0; i < made.values.size(); ++i) {
        const double x = made.values[i];
        const double kept = std::clamp(x, low, high);
        RC_ASSERT(std::abs(kept - made.restored[i]) <= 0.5 * step * (1 + 1e-6));
        // The scale's rounding cuts off less than half a unit of fp16's last place at the ends;
        // rounding the zero point shifts them by half a step more.
        RC_ASSERT(std::abs(x - kept) <= step * ((1 << bits) / 2048.0 + (asymmetric ? 0.5 : 0.0)));
      }
    }
  }));
}

TEST(IntegerFormatTest, LawZeroIsExact) {
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    for (const int bits : {2, 4, 8}) {
      const Drawn made = drawn(seed, bits, true);
      const int32_t zero = quantized(0.0F, made.scale, made.format);
      RC_ASSERT(zero == made.scale.zero_point);
      RC_ASSERT(zero >= lowest_integer(made.format));
      RC_ASSERT(zero <= highest_integer(made.format));
      RC_ASSERT(dequantized(zero, made.scale) == 0.0F);
    }
  }));
}

TEST(IntegerFormatTest, LawEqualsThePlainOne) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    for (const int bits : {4, 8}) {
      const Drawn made = drawn(seed, bits, asymmetric);
      const std::vector<double> values(made.values.begin(), made.values.end());
      const std::vector<double> plain =
          testing::plain_round_trip(values, testing::plain_integers(bits, asymmetric));
      for (size_t i = 0; i < values.size(); ++i) {
        // Where a quotient is a tie but for its rounding, the two are one step apart and as far
        // off.
        RC_ASSERT(std::abs(std::abs(values[i] - made.restored[i]) -
                           std::abs(values[i] - plain[i])) <= 1e-5 * made.scale.scale);
      }
    }
  }));
}

TEST(IntegerFormatTest, LawTheWholeAndTheSinglesAgree) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const Drawn made = drawn(seed, 8, asymmetric);
    double error = 0;
    for (size_t i = 0; i < made.values.size(); ++i) {
      const int32_t q = quantized(made.values[i], made.scale, made.format);
      RC_ASSERT(made.restored[i] == dequantized(q, made.scale));
      error += std::pow(double{made.values[i]} - double{made.restored[i]}, 2);
    }
    RC_ASSERT(std::abs(squared_error(made.values, made.scale, made.format) - error) <=
              1e-12 * error);
  }));
}

}  // namespace
}  // namespace tidemark
