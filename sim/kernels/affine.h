// Activations with a zero point, by TFLite's INT8 specification.
//
//   real = scale x (q - zero_point), q in [-128, 127];  out = clamp(zero_point + round(real /
//   scale))
//
//   scale 0.5, zero point -10: 3.0 is q = 6 - 10 = -4; -3.25 is -6.5 -> -7 - 10 = -17, the tie away
//   from real zero.  Checked by AffineTest.ByHand.
//
// Real zero is a stored value exactly, so that padding and ReLU cost no error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tidemark {

struct Affine {
  float scale = 1.0F;
  int32_t zero_point = 0;
  bool operator==(const Affine&) const = default;
};

// CHECKs that the scale is positive and finite and that the zero point is an int8.
void check_affine(const Affine& affine);

// The stored values a fused activation leaves.
struct ByteRange {
  int32_t low = -128;
  int32_t high = 127;
  bool operator==(const ByteRange&) const = default;
};

enum class FusedActivation { kNone, kRelu, kRelu6, kReluN1To1 };

// The range of stored values of an output with these parameters. `high` is never below `low`.
ByteRange activation_range(FusedActivation activation, const Affine& out);

// A value brought to the output's scale, and its zero point. A saturated value may be near 2^31, so
// the sum is taken in 64 bits.
constexpr int8_t add_zero_point(int32_t value, int32_t zero_point, ByteRange range) {
  const int64_t sum = int64_t{value} + zero_point;
  return static_cast<int8_t>(std::clamp<int64_t>(sum, range.low, range.high));
}

// A real value already divided by the scale: to nearest, ties away from zero, then the zero point,
// clamped; NaN is real zero.
inline int8_t round_to_affine(double x, int32_t zero_point) {
  if (std::isnan(x)) x = 0.0;
  const double clamped = std::clamp(x, -512.0, 512.0);
  const auto whole = static_cast<int32_t>(clamped);  // toward zero
  const double rest = clamped - whole;               // exact
  const int32_t rounded = whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
  return static_cast<int8_t>(std::clamp(rounded + zero_point, -128, 127));
}

}  // namespace tidemark
