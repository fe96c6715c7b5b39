// Integers and a scale in place of floats, as affine quantization defines them:
//
//   real = scale x (q - zero point)
//   symmetric    scale = max|x| / 127, zero point 0, q in [-127, 127]
//   asymmetric   the range is widened to hold 0; scale = (high - low) / 255,
//                zero point = round(-128 - low / scale), q in [-128, 127]
//   4 bits alike: 7 and [-7, 7]; 15, -8 and [-8, 7].
//
//   x in [-1, 3], asymmetric 8 bits: scale 4 / 255 = 0.0156863 -> fp16 0.0156860, zero point
//   round(-128 + 63.75) = -64. x = 0 is q = -64 and comes back as 0 exactly; x = 3 is
//   q = 191 - 64 = 127 and comes back as 2.9960.
//   Checked by IntegerFormatTest.
//
// Scales are stored in fp16, as the planner counts them, and values are divided by the scale as
// stored, so that its rounding costs nothing but what it cuts off at the ends of the range: 0.07
// of a step with 127 steps, 0.13 with 255. A scale that rounds to zero gives zeros, one beyond
// fp16's range 65,504.
// Source: gemmlowp, doc/quantization.md (zero must be exact); TFLite's quantization specification.
#pragma once

#include <cstdint>
#include <span>

namespace tidemark {

struct IntegerFormat {
  int bits = 8;  // 2 to 8
  bool asymmetric = false;
  bool operator==(const IntegerFormat&) const = default;
};

constexpr int32_t highest_integer(IntegerFormat format) { return (1 << (format.bits - 1)) - 1; }
constexpr int32_t lowest_integer(IntegerFormat format) {
  return format.asymmetric ? -(1 << (format.bits - 1)) : -highest_integer(format);
}

// What the integers are to cover; finite, low <= high.
struct ValueRange {
  float low = 0.0F;
  float high = 0.0F;
  bool operator==(const ValueRange&) const = default;
};

struct AffineScale {
  float scale = 0.0F;  // an fp16 number; 0: every value becomes 0
  int32_t zero_point = 0;
  bool operator==(const AffineScale&) const = default;
};

AffineScale affine_scale(ValueRange range, IntegerFormat format);

// The integer of one value: to nearest, ties away from zero, clamped. NaN is what 0 is.
int32_t quantized(float value, AffineScale scale, IntegerFormat format);

constexpr float dequantized(int32_t integer, AffineScale scale) {
  return static_cast<float>(integer - scale.zero_point) * scale.scale;
}

// restored[i] = dequantized(quantized(values[i])); equal lengths.
void round_trip(std::span<const float> values, AffineScale scale, IntegerFormat format,
                std::span<float> restored);

// Sum of (value - restored)^2, by the same integers as round_trip.
double squared_error(std::span<const float> values, AffineScale scale, IntegerFormat format);

}  // namespace tidemark
