// IEEE 754 binary16 ("half", fp16) to binary32 and back, exact, in integer and exactly rounded
// float steps.
//
//   sign 1 bit | exponent 5 bits, bias 15 | fraction 10 bits
//   0x3C00 = 1.0    0x0001 = 2^-24 (smallest)    0x7BFF = 65,504 (largest)    0x7C00 = infinity
//   1 + 2^-11 lies midway between 0x3C00 and 0x3C01: the even one, 0x3C00, is taken.   Checked by
//   HalfTest.
#pragma once

#include <bit>
#include <cstdint>

namespace tidemark {

inline constexpr uint16_t kHalfMax = 0x7BFF;  // 65,504

// Every half is a float, so nothing is rounded. The 15 lower bits moved to the float's place read
// as the same number with a bias of 127 instead of 15; times 2^112 puts that right, for subnormals
// as well.
constexpr float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const auto magnitude = std::bit_cast<float>((half & 0x7FFFU) << 13) * 0x1p112F;
  const auto bits = std::bit_cast<uint32_t>(magnitude);
  const uint32_t not_finite = magnitude >= 65536.0F ? 0x7F800000U : 0U;
  return std::bit_cast<float>(sign | bits | not_finite);
}

// To nearest, ties to even; 65,520 and more become infinity; the upper fraction bits of a NaN are
// kept.
constexpr uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  const uint32_t sign = (bits >> 16) & 0x8000U;
  uint32_t half = 0;
  if (magnitude > 0x7F800000U) {  // NaN: a fraction of zero would read as infinity
    const uint32_t fraction = (magnitude >> 13) & 0x3FFU;
    half = 0x7C00U | (fraction != 0 ? fraction : 0x200U);
  } else if (magnitude >= 0x477FF000U) {  // 65,520
    half = 0x7C00U;
  } else if (magnitude < 0x38800000U) {
    // Below 2^-14 the result is a count of 2^-24, which is the spacing of floats in [0.5, 1):
    // adding 0.5 rounds.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
  } else {
    const uint32_t odd = (magnitude >> 13) & 1U;
    half = (magnitude - (112U << 23) + 0xFFFU + odd) >> 13;
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace tidemark
