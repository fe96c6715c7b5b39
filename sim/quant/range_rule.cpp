#include "sim/quant/range_rule.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/base/check.h"

namespace tidemark {
namespace {

constexpr size_t kLanes = 8;
constexpr size_t kBlock = 2048;

ValueRange min_max(std::span<const float> values) {
  std::array<float, kLanes> low{};
  low.fill(values.front());
  std::array<float, kLanes> high = low;
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      low[lane] = std::min(low[lane], values[i + lane]);
      high[lane] = std::max(high[lane], values[i + lane]);
    }
  }
  for (; i < values.size(); ++i) {
    low[0] = std::min(low[0], values[i]);
    high[0] = std::max(high[0], values[i]);
  }
  return {.low = *std::ranges::min_element(low), .high = *std::ranges::max_element(high)};
}

ValueRange percentile_of(std::span<const float> values, double percentile, bool by_magnitude,
                         std::vector<float>& scratch) {
  scratch.assign(values.begin(), values.end());
  const int64_t outside = left_outside(std::ssize(values), percentile);
  if (by_magnitude) {
    for (float& value : scratch) value = std::abs(value);
    const auto last = scratch.end() - 1 - outside;
    std::nth_element(scratch.begin(), last, scratch.end());
    return {.low = -*last, .high = *last};
  }
  const int64_t each = outside / 2;
  const auto low = scratch.begin() + each;
  std::nth_element(scratch.begin(), low, scratch.end());
  const float low_end = *low;  // the next line moves what is above
  const auto high = scratch.end() - 1 - each;
  std::nth_element(low, high, scratch.end());
  return {.low = low_end, .high = *high};
}

// The sum of squared errors in single precision, eight values at a time: good enough to compare
// factors, several times as fast as the exact one. The constant 1.5 x 2^23 rounds to an integer, as
// floats of that size have no fraction.
double quick_error(std::span<const float> values, AffineScale scale, IntegerFormat format) {
  constexpr float kRounder = 0x1.8p23F;
  if (scale.scale == 0.0F) return squared_error(values, scale, format);
  const float inverse = 1.0F / scale.scale;
  const auto low = static_cast<float>(lowest_integer(format) - scale.zero_point);
  const auto high = static_cast<float>(highest_integer(format) - scale.zero_point);
  const auto error_of = [&](float x) {
    const float steps = std::min(std::max(x * inverse, low), high);
    return x - ((steps + kRounder) - kRounder) * scale.scale;
  };
  double sum = 0;
  size_t i = 0;
  while (i + kLanes <= values.size()) {
    std::array<float, kLanes> lanes{};
    const size_t end = std::min(i + kBlock, values.size());
    for (; i + kLanes <= end; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const float error = error_of(values[i + lane]);
        lanes[lane] += error * error;
      }
    }
    for (const float lane : lanes) sum += lane;
  }
  for (; i < values.size(); ++i) sum += double{error_of(values[i])} * error_of(values[i]);
  return sum;
}

ValueRange least_squares(std::span<const float> values, IntegerFormat format) {
  const ValueRange whole = min_max(values);
  const double factor = best_factor(whole, [&](ValueRange range) {
    return quick_error(values, affine_scale(range, format), format);
  });
  if (factor == 1.0) return whole;
  const ValueRange cut = shrunk(whole, factor);
  const double with_cut = squared_error(values, affine_scale(cut, format), format);
  const double without = squared_error(values, affine_scale(whole, format), format);
  return with_cut < without ? cut : whole;
}

}  // namespace

int64_t left_outside(int64_t count, double percentile) {
  check(percentile > 50.0 && percentile <= 100.0, "a percentile is above 50 and at most 100");
  // 100 - 99.9 is a little below 0.1: a thousand values leave out one, not none.
  const double share = (100.0 - percentile) / 100.0;
  return static_cast<int64_t>(static_cast<double>(count) * share + 1e-9);
}

ValueRange shrunk(ValueRange range, double factor) {
  return {.low = static_cast<float>(range.low * factor),
          .high = static_cast<float>(range.high * factor)};
}

ValueRange range_of(std::span<const float> values, RangeRule rule, IntegerFormat format,
                    std::vector<float>& scratch) {
  if (values.empty()) return {};
  switch (rule.kind) {
    case RangeKind::kMinMax:
      return min_max(values);
    case RangeKind::kPercentile:
      return percentile_of(values, rule.percentile, !format.asymmetric, scratch);
    case RangeKind::kMse:
      return least_squares(values, format);
  }
  return {};
}

}  // namespace tidemark
