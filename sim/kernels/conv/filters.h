// Weights of convolutions and fully connected layers by TFLite's INT8 specification, and what
// becomes of a sum.
//
//   weights int8, zero point 0, one scale for each output channel (or one for all)
//   bias    int32 at scale s_in s_w[o], zero point 0
//   acc = bias[o] + sum of (x - z_in) w;   M[o] = s_in s_w[o] / s_out
//   out = clamp(z_out + acc M[o], range)   by multiplier and shift (requantize.h: double rounding)
//
//   x = {3, 5} at (0.5, 1), w = {10, -4} at 0.1, bias 6: 6 + 2 x 10 + 4 x -4 = 10, real 0.5; out
//   (0.25, -3): M = 0.2, 2 - 3 = -1.  Checked by FullyConnectedTest.ByHand.
//
// A sum that leaves int32 with its bias saturates, where TFLite's would wrap. Up to kMaxTaps
// products stay within int32 whatever the bytes: 255 x 128 x 65,793 < 2^31.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "sim/kernels/affine.h"
#include "sim/kernels/requantize.h"
#include "sim/kernels/scale_loops.h"

namespace tidemark {

inline constexpr int64_t kMaxTaps = 65'793;

struct Filters {
  std::span<const int8_t> values{};
  std::span<const float> scales{};  // [O], or one
  std::span<const int32_t> bias{};  // [O], or none
};

// Parameters of the activations, common to the ops of this kind.
struct AffineLayer {
  Affine in{};
  Affine out{};
  ByteRange range{};  // of the fused activation
};

// One channel's way from a sum of products to an output.
struct ChannelOutput {
  QuantizedMultiplier factor{};
  int32_t bias = 0;
  int32_t zero_point = 0;
  ByteRange range{};

  int8_t operator()(int64_t sum) const {
    const int64_t biased = std::clamp<int64_t>(sum + bias, std::numeric_limits<int32_t>::min(),
                                               std::numeric_limits<int32_t>::max());
    return add_zero_point(scale_by(static_cast<int32_t>(biased), factor), zero_point, range);
  }
};

ChannelOutput channel_output(const Filters& filters, const AffineLayer& layer, int64_t channel);

// What channels [first, first + biases.size()) do to their sums, as a step over rows of so many:
// `corrections` are the caller's, the others are filled.
struct ChannelRows {
  std::span<const int32_t> corrections{};
  std::span<int32_t> biases{};
  std::span<int32_t> multipliers{};
  std::span<int32_t> shifts{};
};
ChannelStep channel_step(const Filters& filters, const AffineLayer& layer, int64_t first,
                         const ChannelRows& rows);

// CHECKs counts of scales and biases against `channels`, and the layer's parameters.
void check_filters(const Filters& filters, const AffineLayer& layer, int64_t channels);

}  // namespace tidemark
