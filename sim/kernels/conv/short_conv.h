// Causal convolution of each channel over the last few tokens, as recurrent layers have it before
// their state (Mamba's d_conv, LFM2's short convolution).
//
//   x [T, E] s8 at s_in, weights [E, D] f32, bias [E] f32 or empty, state [E, D - 1] f32: the real
//   values of the D - 1 tokens before, the oldest first -> out [T, E] s8 at s_out; out may be x
//   y[t][e] = bias[e] + sum over j < D of weights[e][j] x[t - D + 1 + j][e]
//   out = clamp(round(y / s_out)), ties away from zero; the state takes the last D - 1 tokens
//
//   one channel, D = 3, weights {1, 2, 4}, state {0.5, 1}, x = {6, -2} at 0.5 (3 and -1):
//   0.5 + 2 + 12 = 14.5 and 1 + 6 - 4 = 3; s_out 0.5: {29, 6}; the state is {3, -1}.  Checked by
//   ShortConvTest.ByHand.
//
// The sum begins with the bias and goes from the oldest token to the newest, each step rounded to
// float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/requantize.h"

namespace tidemark {

struct ShortConvShape {
  int64_t channels = 1;  // E
  int64_t taps = 1;      // D
};

// Weights and bias are f32 as stored, at any address.
void short_conv(const ShortConvShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, std::span<const std::byte> bias, Scales scales,
                std::span<float> state, std::span<int8_t> out);

}  // namespace tidemark
