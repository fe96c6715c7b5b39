// RMSNorm: each row divided by its root mean square, then times a learned gain.
//
//   x [T, E] s8 at s_in, gain [E] f32 -> out [T, E] s8 at s_out; out may be x.
//   y = x / sqrt(mean(x^2) + epsilon) x gain;  out = clamp(round(y / s_out)), ties away from zero
//   x = {3, 4} at 1.0, epsilon 0: mean square 12.5, root 3.5355; y = {0.8485, 1.1314}; s_out 0.01:
//   {85, 113}. Checked by RmsNormTest.ByHand.
//
// The sum of squares is an exact integer, so no order of summation can change a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/requantize.h"

namespace tidemark {

struct RmsNormSettings {
  Scales scales{};
  float epsilon = 1e-5F;
};

// `gain` is f32 as stored, at any address; its length gives E.
void rms_norm(std::span<const int8_t> x, std::span<const std::byte> gain,
              const RmsNormSettings& settings, std::span<int8_t> out);

}  // namespace tidemark
