// Loops that end in requantization (requantize.h), at each level of isa.h: sums and products of two
// rows, and sums of many channels on their way to int8. Plain pointers in, nothing checked; the
// bits are those of scale_by and add_zero_point, one element at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/kernels/affine.h"
#include "sim/kernels/requantize.h"

namespace tidemark {

// Where an op's result goes.
struct OutputStep {
  QuantizedMultiplier factor{};
  int32_t zero_point = 0;
  ByteRange range{};

  int8_t operator()(int32_t value) const {
    return add_zero_point(scale_by(value, factor), zero_point, range);
  }
};

// out = output((a - zero_a) (b - zero_b))
struct ProductStep {
  int32_t zero_a = 0;
  int32_t zero_b = 0;
  OutputStep output{};

  int8_t operator()(int8_t a, int8_t b) const { return output((a - zero_a) * (b - zero_b)); }
};

inline constexpr int kAddHeadroom = 20;  // bits; 255 x 2^20 < 2^28, and two halves cannot overflow

// out = output((a - zero_a) 2^20 x factor_a + (b - zero_b) 2^20 x factor_b); both at most 1/2.
struct SumStep {
  int32_t zero_a = 0;
  int32_t zero_b = 0;
  QuantizedMultiplier factor_a{};
  QuantizedMultiplier factor_b{};
  OutputStep output{};

  int8_t operator()(int8_t a, int8_t b) const {
    return output(scale_by((a - zero_a) * (1 << kAddHeadroom), factor_a) +
                  scale_by((b - zero_b) * (1 << kAddHeadroom), factor_b));
  }
};

// What each channel's sum meets, as rows of `channels` numbers: out[c] = clamp(zero_point +
// scale_by(saturate(sum - correction[c] + bias[c]), (multiplier[c], shift[c])), range). The first
// difference does not leave int32.
struct ChannelStep {
  const int32_t* corrections = nullptr;
  const int32_t* biases = nullptr;
  const int32_t* multipliers = nullptr;
  const int32_t* shifts = nullptr;
  int32_t zero_point = 0;
  ByteRange range{};

  int8_t operator()(int32_t sum, int64_t c) const {
    const int64_t biased = int64_t{sum} - corrections[c] + biases[c];
    const auto kept = static_cast<int32_t>(std::clamp<int64_t>(
        biased, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
    return add_zero_point(scale_by(kept, {multipliers[c], shifts[c]}), zero_point, range);
  }
};

void multiply_rows(const ProductStep& step, const int8_t* a, const int8_t* b, int64_t count,
                   int8_t* out);
void add_rows(const SumStep& step, const int8_t* a, const int8_t* b, int64_t count, int8_t* out);
// One pixel's or token's sums.
void finish_channels(const ChannelStep& step, const int32_t* sums, int64_t channels, int8_t* out);

}  // namespace tidemark
