// Inner loops on rows of int8 that go through floats, at each level of isa.h, with the same bits.
// Plain pointers in, nothing checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

// out = clamp(zero_point + round(((x a + b) gain + bias) c)), each step rounded to float, the last
// as of round_to_affine. RMSNorm has b = 0, no bias and c = 1.
struct NormStep {
  float a = 1.0F;
  float b = 0.0F;
  float c = 1.0F;
  int32_t zero_point = 0;
};

// `gain` and `bias` are f32 at any address; bias may be null, for zeros. out may be x.
struct NormRow {
  const int8_t* x = nullptr;
  const std::byte* gain = nullptr;
  const std::byte* bias = nullptr;
  int64_t count = 0;
  int8_t* out = nullptr;
};

void norm_row(const NormStep& step, const NormRow& row);

// One half of a head turned with the other: x_a cos - x_b sin and x_b cos + x_a sin, in double,
// rounded to float and then as of round_to_s8. Outputs may be the inputs.
struct RotatedHalves {
  const int8_t* x_a = nullptr;
  const int8_t* x_b = nullptr;
  int8_t* out_a = nullptr;
  int8_t* out_b = nullptr;
};

void rotate(const RotatedHalves& halves, std::span<const double> cosines,
            std::span<const double> sines);

// Sum of squares, exact.
int64_t sum_of_squares(std::span<const int8_t> values);

}  // namespace tidemark
