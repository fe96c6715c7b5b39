#include "sim/quant/range_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "plain.h"
#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr IntegerFormat kInt8{.bits = 8};
constexpr IntegerFormat kInt4{.bits = 4};
constexpr RangeRule kMse{.kind = RangeKind::kMse};

RangeRule percentile(double p) { return {.kind = RangeKind::kPercentile, .percentile = p}; }

ValueRange found(const std::vector<float>& values, RangeRule rule, IntegerFormat format) {
  std::vector<float> scratch;
  return range_of(values, rule, format, scratch);
}

double error(const std::vector<float>& values, ValueRange range, IntegerFormat format) {
  return squared_error(values, affine_scale(range, format), format);
}

TEST(RangeRuleTest, HowManyLieOutside) {
  EXPECT_EQ(left_outside(1000, 99.9), 1);  // 100 - 99.9 is a little less than 0.1
  EXPECT_EQ(left_outside(999, 99.9), 0);
  EXPECT_EQ(left_outside(32, 99.0), 0);
  EXPECT_EQ(left_outside(10, 60.0), 4);
  EXPECT_EQ(left_outside(1'000'000, 100.0), 0);
  EXPECT_THROW(left_outside(10, 50.0), InternalError);
  EXPECT_THROW(left_outside(10, 100.1), InternalError);
}

TEST(RangeRuleTest, MinMaxAndPercentilesByHand) {
  const std::vector<float> values{0.1F, -0.2F, 0.3F, -4.0F};
  EXPECT_EQ(found(values, {}, kInt8), (ValueRange{.low = -4.0F, .high = 0.3F}));
  EXPECT_EQ(found(values, percentile(75), kInt8), (ValueRange{.low = -0.3F, .high = 0.3F}));
  EXPECT_EQ(found(values, percentile(100), kInt8), (ValueRange{.low = -4.0F, .high = 4.0F}));
  // 1 to 10: four lie outside, two at each end.
  const std::vector<float> ten{7, 1, 9, 3, 10, 5, 2, 8, 4, 6};
  EXPECT_EQ(found(ten, percentile(60), {.asymmetric = true}),
            (ValueRange{.low = 3.0F, .high = 8.0F}));
  EXPECT_EQ(found(ten, percentile(60), {}), (ValueRange{.low = -6.0F, .high = 6.0F}));
}

TEST(RangeRuleTest, NoValuesAndOne) {
  for (const RangeRule rule : {RangeRule{}, percentile(99), kMse}) {
    EXPECT_EQ(found({}, rule, kInt8), ValueRange{});
    EXPECT_EQ(found({2.0F}, rule, kInt8).high, 2.0F);
  }
}

// A hundred of 1 and -1, one 8, in 4 bits; s is the scale as stored, the ones come back as s and
// the 8 as 7 s:
//   factor   8 x factor / 7   s (fp16)   100 (s - 1)^2   (8 - 7 s)^2     sum
//   1        1.142857         1.142578   2.0329          0.0000          2.0329
//   0.95     1.085714         1.085938   0.7385          0.1585          0.8970
//   0.9      1.028571         1.028320   0.0802          0.6428          0.7230
//   0.9125   1.042857         1.042969   0.1846          0.4889          0.6735    least
//   0.925    1.057143         1.057617   0.3320          0.3560          0.6880
TEST(RangeRuleTest, LeastSquaresByHand) {
  std::vector<float> values{8.0F};
  for (int i = 0; i < 100; ++i) values.push_back(i % 2 == 0 ? 1.0F : -1.0F);
  const ValueRange range = found(values, kMse, kInt4);
  EXPECT_FLOAT_EQ(range.high, 7.3F);
  EXPECT_FLOAT_EQ(range.low, -0.9125F);
  EXPECT_NEAR(error(values, range, kInt4), 0.6735, 5e-5);
  EXPECT_NEAR(error(values, found(values, {}, kInt4), kInt4), 2.0329, 5e-5);
}

TEST(RangeRuleTest, LawLeastSquaresIsNeverWorseThanMinMax) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const auto values = testing::random_values(seed, 1 + static_cast<int64_t>(seed % 300), 2.0F);
    for (const int bits : {4, 8}) {
      const IntegerFormat format{.bits = bits, .asymmetric = asymmetric};
      RC_ASSERT(error(values, found(values, kMse, format), format) <=
                error(values, found(values, {}, format), format));
    }
  }));
}

// Against every factor of the same grid, tried exactly.
TEST(RangeRuleTest, LawLeastSquaresIsTheBestOfItsCoarseFactorsButForRounding) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const auto values = testing::random_values(seed, 64, 2.0F);
    const IntegerFormat format{.bits = 4, .asymmetric = asymmetric};
    const ValueRange whole = found(values, {}, format);
    const double got = error(values, found(values, kMse, format), format);
    for (int k = 0; k < kCoarseFactors; ++k) {
      RC_ASSERT(got <= 1.0001 * error(values, shrunk(whole, 1 - kCoarseStep * k), format));
    }
  }));
}

TEST(RangeRuleTest, LawPercentilesCountAsSortingDoes) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const auto values = testing::random_values(seed, 1 + static_cast<int64_t>(seed % 200), 1.0F);
    for (const double p : {60.0, 95.0, 99.9}) {
      const ValueRange range = found(values, percentile(p), {.asymmetric = asymmetric});
      const auto outside =
          std::ranges::count_if(values, [&](float x) { return x < range.low || x > range.high; });
      RC_ASSERT(static_cast<double>(outside) <=
                static_cast<double>(values.size()) * (100 - p) / 100 + 1e-6);
      // An end is a value, and the range is no larger than it must be.
      RC_ASSERT(std::ranges::any_of(
          values, [&](float x) { return x == range.high || (!asymmetric && x == range.low); }));
    }
  }));
}

}  // namespace
}  // namespace tidemark
