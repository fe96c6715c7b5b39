#include "sim/quant/integer_format.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "planner/base/check.h"
#include "sim/kernels/half.h"

namespace tidemark {
namespace {

// To nearest, ties away from zero, for numbers of a few thousand at most. What is cut off is exact.
template <typename Real>
constexpr int32_t rounded(Real x) {
  const auto whole = static_cast<int32_t>(x);
  const Real rest = x - static_cast<Real>(whole);
  return whole + (rest >= Real{0.5} ? 1 : 0) - (rest <= Real{-0.5} ? 1 : 0);
}

float as_stored(double scale) {
  return half_to_float(std::min(float_to_half(static_cast<float>(scale)), kHalfMax));
}

// The integers less the zero point that there are, as floats: all are exact.
struct Bounds {
  float low = 0.0F;
  float high = 0.0F;
};

Bounds bounds_of(AffineScale scale, IntegerFormat format) {
  return {.low = static_cast<float>(lowest_integer(format) - scale.zero_point),
          .high = static_cast<float>(highest_integer(format) - scale.zero_point)};
}

// The integer less the zero point. The bounds are integers, so it is the same whether they or the
// rounding come first.
int32_t steps_of(float value, float scale, Bounds bounds) {
  const float x = value == value ? value / scale : 0.0F;
  return rounded(std::min(std::max(x, bounds.low), bounds.high));
}

}  // namespace

AffineScale affine_scale(ValueRange range, IntegerFormat format) {
  check(format.bits >= 2 && format.bits <= 8, "an integer has 2 to 8 bits");
  check(std::isfinite(range.low) && std::isfinite(range.high) && range.low <= range.high,
        "a range is finite and not reversed");
  if (!format.asymmetric) {
    const double largest = std::max(std::abs(double{range.low}), std::abs(double{range.high}));
    return {.scale = as_stored(largest / highest_integer(format))};
  }
  const double low = std::min(range.low, 0.0F);
  const double high = std::max(range.high, 0.0F);
  const int32_t lowest = lowest_integer(format);
  const float scale = as_stored((high - low) / (highest_integer(format) - lowest));
  if (scale == 0.0F) return {};
  const double zero = std::clamp(lowest - low / double{scale}, static_cast<double>(lowest),
                                 static_cast<double>(highest_integer(format)));
  return {.scale = scale, .zero_point = rounded(zero)};
}

int32_t quantized(float value, AffineScale scale, IntegerFormat format) {
  if (scale.scale == 0.0F) return scale.zero_point;
  return steps_of(value, scale.scale, bounds_of(scale, format)) + scale.zero_point;
}

void round_trip(std::span<const float> values, AffineScale scale, IntegerFormat format,
                std::span<float> restored) {
  check(values.size() == restored.size(), "one restored value for each value");
  if (scale.scale == 0.0F) {
    std::ranges::fill(restored, 0.0F);
    return;
  }
  const Bounds bounds = bounds_of(scale, format);
  for (size_t i = 0; i < values.size(); ++i) {
    restored[i] = static_cast<float>(steps_of(values[i], scale.scale, bounds)) * scale.scale;
  }
}

double squared_error(std::span<const float> values, AffineScale scale, IntegerFormat format) {
  std::array<float, 256> restored{};
  double sum = 0;
  for (size_t first = 0; first < values.size(); first += restored.size()) {
    const auto part = values.subspan(first, std::min(restored.size(), values.size() - first));
    round_trip(part, scale, format, std::span(restored).first(part.size()));
    for (size_t i = 0; i < part.size(); ++i) {
      const double error = double{part[i]} - double{restored[i]};
      sum += error * error;
    }
  }
  return sum;
}

}  // namespace tidemark
