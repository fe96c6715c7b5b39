// Which range the integers cover. Cutting off a few far values makes all the steps smaller.
//
//   min-max      the smallest and the largest value
//   percentile   at most 100 - P percent of the values lie outside; symmetric formats look at
//                magnitudes, asymmetric ones leave out half as many values at each end
//   mse          both ends times one factor of at most 1 that makes the sum of squared errors
//                least: 1, 0.95 ... 0.2, then steps of 0.0125 about the best; never worse than
//                min-max
//
//   {0.1, -0.2, 0.3, -4}, symmetric: min-max 4; percentile 75 leaves out one value: 0.3.
//   A hundred values of 1 or -1 and one 8, 4 bits: min-max has steps of 8/7 and an error of 100 x
//   0.0203 = 2.03. The factor 0.9125 has steps of 1.043 and an error of 0.18 + 0.49, at the 8.
//   Checked by RangeRuleTest.
#pragma once

#include <span>
#include <vector>

#include "sim/quant/integer_format.h"

namespace tidemark {

enum class RangeKind { kMinMax, kPercentile, kMse };

struct RangeRule {
  RangeKind kind = RangeKind::kMinMax;
  double percentile = 99.9;  // of kPercentile: above 50, at most 100
  bool operator==(const RangeRule&) const = default;
};

// The factors that kMse tries first, and the distance of those about the best.
inline constexpr int kCoarseFactors = 17;
inline constexpr double kCoarseStep = 0.05;
inline constexpr double kFineStep = 0.0125;

// How many of `count` values the percentile lets lie outside: floor(count x (100 - P) / 100).
int64_t left_outside(int64_t count, double percentile);

// The range times a factor.
ValueRange shrunk(ValueRange range, double factor);

// The factor of kMse for any measure of the error of a range; `error` is called about 23 times.
// 1 unless another is strictly better.
template <typename ErrorOf>
double best_factor(ValueRange range, const ErrorOf& error) {
  double best = 1.0;
  double least = error(range);
  const auto attempt = [&](double factor) {
    if (factor <= 0.0 || factor >= 1.0) return;
    const double got = error(shrunk(range, factor));
    if (got < least) {
      least = got;
      best = factor;
    }
  };
  for (int k = 1; k < kCoarseFactors; ++k) attempt(1.0 - kCoarseStep * k);
  const double coarse = best;
  for (int k = 1; k <= 3; ++k) {
    attempt(coarse - kFineStep * k);
    attempt(coarse + kFineStep * k);
  }
  return best;
}

// Of all values at once, exactly. `scratch` is kept between calls to save allocations; the largest
// use is a copy of the values. No values: {0, 0}. The values are finite.
ValueRange range_of(std::span<const float> values, RangeRule rule, IntegerFormat format,
                    std::vector<float>& scratch);

}  // namespace tidemark
