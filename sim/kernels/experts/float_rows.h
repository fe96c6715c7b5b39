// Product of int8 activations with a matrix that stayed in floats: a router.
//
//   x [T, K] s8     weights: N rows of K f32 as stored, at any address     out [T, N] s8
//   lane[i] = sum of x[k] x w[k] over k = i, i + 16, i + 32 ... in order;  i < 16, all in float
//   then lane[i] += lane[i + 8] for i < 8, lane[i] += lane[i + 4] for i < 4, and so on to one sum
//   out = clamp(round(sum x (s_in / s_out))), ties away from zero
//
//   x = {4, -2}, w = {0.5, 1.25}: 2.0 - 2.5 = -0.5; s_in 0.5, s_out 0.125: -2.  Checked by
//   FloatRowsTest.ByHand.
//
// The order of the sums is part of the definition, so every level of isa.h gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/matmul/matmul.h"
#include "sim/kernels/requantize.h"

namespace tidemark {

void float_matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, Scales scales, std::span<int8_t> out);

}  // namespace tidemark
