// From a 32-bit accumulator to int8, in integers only. TFLite's INT8 rule with gemmlowp's double
// rounding: the product with the multiplier is rounded once to 32 bits, the shift once more; each
// time to nearest, ties away from zero (the first step's negative ties go up, as gemmlowp's nudge
// makes them). The newer single rounding of some TFLite kernels differs by 1 in rare cases and is
// not used anywhere here.
//
//   real factor M = s_in x s_w / s_out = multiplier / 2^31 x 2^shift,  multiplier in [2^30, 2^31)
//
//   M = 0.0125 = 0.8 x 2^-6 -> multiplier round(0.8 x 2^31) = 1,717,986,918, shift -6.
//   1,000 x M: high product round(1,000 x 0.8) = 800; 800 / 64 = 12.5 -> 13 (tie, away from zero).
//   Checked by RequantizeTest.WorkedExample.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tidemark {

// Scales of an op with one int8 input and one int8 output: real value = scale x stored value, zero
// point 0.
struct Scales {
  float in = 1.0F;
  float out = 1.0F;
};

struct QuantizedMultiplier {
  int32_t multiplier = 0;
  int shift = 0;  // -31 to 30; negative divides
  bool operator==(const QuantizedMultiplier&) const = default;
};

// `real` is finite and not negative. Below 2^-32 it becomes 0; from 2^30 up the largest multiplier
// there is.
QuantizedMultiplier quantize_multiplier(double real);

// round(a x b / 2^31); only INT32_MIN squared does not fit and becomes INT32_MAX.
constexpr int32_t saturating_rounding_doubling_high_mul(int32_t a, int32_t b) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  if (a == kMin && b == kMin) return std::numeric_limits<int32_t>::max();
  const int64_t product = int64_t{a} * int64_t{b};
  const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

// round(x / 2^exponent), ties away from zero; 0 <= exponent <= 31.
constexpr int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  const int64_t mask = (int64_t{1} << exponent) - 1;
  const int64_t remainder = int64_t{x} & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return static_cast<int32_t>((int64_t{x} >> exponent) + (remainder > threshold ? 1 : 0));
}

// x times the factor. A positive shift multiplies first and saturates where TFLite's would wrap.
constexpr int32_t scale_by(int32_t x, QuantizedMultiplier factor) {
  const int left = std::max(factor.shift, 0);
  const int64_t wide = int64_t{x} * (int64_t{1} << left);
  const int64_t shifted = std::clamp<int64_t>(wide, std::numeric_limits<int32_t>::min(),
                                              std::numeric_limits<int32_t>::max());
  const int32_t high =
      saturating_rounding_doubling_high_mul(static_cast<int32_t>(shifted), factor.multiplier);
  return rounding_divide_by_pot(high, left - factor.shift);
}

constexpr int8_t clamp_to_s8(int32_t x) { return static_cast<int8_t>(std::clamp(x, -128, 127)); }

constexpr int8_t requantize(int32_t accumulator, QuantizedMultiplier factor) {
  return clamp_to_s8(scale_by(accumulator, factor));
}

// A float already divided by its scale: to nearest, ties away from zero, clamped to [-128, 127];
// NaN is 0. In double the sum with 0.5 is exact for every float in range, so 0.49999997 does not
// become 1.
constexpr int8_t round_to_s8(float x) {
  // Selections and no branches: which way a value goes cannot be foretold.
  const float number = x == x ? x : 0.0F;
  const float above = number > -128.0F ? number : -128.0F;
  const double clamped = above < 127.0F ? above : 127.0F;
  return static_cast<int8_t>(static_cast<int>(clamped + __builtin_copysign(0.5, clamped)));
}

}  // namespace tidemark
