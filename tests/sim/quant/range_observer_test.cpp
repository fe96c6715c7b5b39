#include "sim/quant/range_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plain.h"

namespace tidemark {
namespace {

constexpr RangeRule kMse{.kind = RangeKind::kMse};

RangeRule percentile(double p) { return {.kind = RangeKind::kPercentile, .percentile = p}; }

RangeObserver observed(std::span<const float> values, size_t batch) {
  RangeObserver observer;
  for (size_t first = 0; first < values.size(); first += batch) {
    observer.add(values.subspan(first, std::min(batch, values.size() - first)));
  }
  return observer;
}

TEST(RangeObserverTest, TheExampleOfTheHeader) {
  RangeObserver observer;
  observer.add(std::vector<float>{0.5F, -0.25F});
  observer.add(std::vector<float>{3.0F});
  EXPECT_EQ(observer.count(), 3);
  EXPECT_EQ(observer.range({}, {}), (ValueRange{.low = -0.25F, .high = 3.0F}));
}

TEST(RangeObserverTest, NothingSeenIsZero) {
  RangeObserver observer;
  for (const RangeRule rule : {RangeRule{}, percentile(99), kMse}) {
    EXPECT_EQ(observer.range(rule, {}), ValueRange{});
  }
  observer.add(std::vector<float>{NAN, INFINITY, -INFINITY});
  observer.add({});
  EXPECT_EQ(observer.count(), 0);
  EXPECT_EQ(observer.not_finite(), 3);
  EXPECT_EQ(observer.range(percentile(99), {}), ValueRange{});
}

// 0.001 to 1: 10 of 1,000 lie outside, so the range ends at 0.990, in bins of 2 / 8192.
TEST(RangeObserverTest, APercentileIsTheOuterEdgeOfItsBin) {
  std::vector<float> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(static_cast<float>(i) / 1000.0F);
  const RangeObserver observer = observed(values, 10);
  const float high = observer.range(percentile(99), {}).high;
  EXPECT_GE(high, 0.990F);
  EXPECT_LE(high, 0.990F + 4.0F / 8192);  // the limit is 2: a value of 1 lies outside [-1, 1)
  const ValueRange ends = observer.range(percentile(99), {.asymmetric = true});
  EXPECT_LE(ends.low, 0.006F);
  EXPECT_GE(ends.low, 0.006F - 4.0F / 8192);
  EXPECT_GE(ends.high, 0.995F);
}

TEST(RangeObserverTest, TheWholeRangeOfFloats) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values{0.0F, kLeast, -kLeast, 1.0F, kMost, -kMost};
  const RangeObserver observer = observed(values, 1);
  EXPECT_EQ(observer.range({}, {}), (ValueRange{.low = -kMost, .high = kMost}));
  EXPECT_EQ(observer.range(percentile(100), {}).high, kMost);
  EXPECT_LE(observer.range(percentile(60), {}).high, kMost);
  EXPECT_TRUE(std::isfinite(observer.range(kMse, {}).high));
  EXPECT_EQ(observed(std::vector<float>(5, 0.0F), 2).range(percentile(60), {}), ValueRange{});
}

TEST(RangeObserverTest, LawBatchesAndTheirOrderDoNotMatter) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    auto values = testing::random_values(seed, 500, 1.0F);
    values.push_back(1000.0F);
    const IntegerFormat format{.bits = 4, .asymmetric = asymmetric};
    const RangeObserver one = observed(values, values.size());
    std::ranges::reverse(values);
    const RangeObserver other = observed(values, 1 + seed % 50);
    for (const RangeRule rule : {RangeRule{}, percentile(99), percentile(60), kMse}) {
      RC_ASSERT(one.range(rule, format) == other.range(rule, format));
    }
  }));
}

TEST(RangeObserverTest, LawAPercentileNeverLeavesOutMoreThanItSays) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const auto values = testing::random_values(seed, 1 + static_cast<int64_t>(seed % 999), 5.0F);
    for (const double p : {60.0, 99.0, 100.0}) {
      const ValueRange range =
          observed(values, 64).range(percentile(p), {.asymmetric = asymmetric});
      const auto outside =
          std::ranges::count_if(values, [&](float x) { return x < range.low || x > range.high; });
      RC_ASSERT(outside <= left_outside(std::ssize(values), p));
    }
  }));
}

// Close to what all values at once give: a bin is a sixteenth of a step of 8 bits at most.
TEST(RangeObserverTest, LawLeastSquaresIsCloseToThatOfTheValues) {
  EXPECT_TRUE(rc::check([](uint64_t seed, bool asymmetric) {
    const auto values = testing::random_values(seed, 400, 2.0F);
    const IntegerFormat format{.bits = 4, .asymmetric = asymmetric};
    std::vector<float> scratch;
    const auto error = [&](ValueRange range) {
      return squared_error(values, affine_scale(range, format), format);
    };
    RC_ASSERT(error(observed(values, 50).range(kMse, format)) <=
              1.05 * error(range_of(values, kMse, format, scratch)));
  }));
}

}  // namespace
}  // namespace tidemark
