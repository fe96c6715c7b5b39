// LayerNorm: each row brought to mean 0 and variance 1, then times a learned gain, plus a bias.
//
//   x [T, E] s8 at (s_in, any zero point: it cancels), gain and bias [E] f32 -> out [T, E] s8; out
//   may be x.
//   y = (x - mean) / sqrt(variance + epsilon) x gain + bias;  variance = mean of (x - mean)^2
//   out = clamp(z_out + round(y / s_out)), ties away from zero
//
//   x = {1, 3} at 1, epsilon 0: mean 2, variance 1, so {-1, 1}; gain {2, 2}, bias {0.5, 0.5}:
//   {-1.5, 2.5}; s_out 0.5, z_out 4: {1, 9}.  Checked by LayerNormTest.ByHand.
//
// The sums of x and of x^2 are exact integers, and E^2 variance = E sum(x^2) - sum(x)^2 is one, so
// no order of summation can change a bit and nothing cancels. Each element is then
// ((x a + b) gain + bias) c in float, rounded at each step: a = s_in / root, b = -mean a, c = 1 /
// s_out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/affine.h"

namespace tidemark {

struct LayerNormSettings {
  float scale_in = 1.0F;
  Affine out{};
  float epsilon = 1e-5F;
};

// `gain` and `bias` are f32 as stored, at any address; gain's length gives E, at most 2^24. An
// empty bias is zeros.
void layer_norm(std::span<const int8_t> x, std::span<const std::byte> gain,
                std::span<const std::byte> bias, const LayerNormSettings& settings,
                std::span<int8_t> out);

}  // namespace tidemark
