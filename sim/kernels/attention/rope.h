// Rotary position embedding, the half-split style of NeoX and Llama in GGUF's "neox" spelling:
// component i of a head is turned together with component i + D/2 by the angle position x
// theta^(-2i/D).
//
//   x [T, H, D] s8, positions [T] -> out [T, H, D] at the same scale; out may be x; D is even.
//   out[i] = x[i] cos - x[i + D/2] sin;  out[i + D/2] = x[i + D/2] cos + x[i] sin;  rounded,
//   clamped D = 2, position 1, x = {100, 0}: angle 1; {100 x 0.5403, 100 x 0.8415} = {54, 84}.
//   Checked by RopeTest.ByHand.
//
// A turn keeps lengths, not components: {127, 127} turned by 45 degrees is {0, 180} and saturates
// at 127. A scale that must not clip leaves a factor sqrt(2).
#pragma once

#include <cstdint>
#include <span>

namespace tidemark {

struct RopeShape {
  int64_t heads = 1;
  int64_t head_dim = 2;
  double theta = 10'000.0;
};

void rope(const RopeShape& shape, std::span<const int32_t> positions, std::span<const int8_t> x,
          std::span<int8_t> out);

}  // namespace tidemark
