// Matrix product of int8 activations with weights in any of the formats of block_rows.h.
//
//   x [T, K] row-major     weights: N rows of K in one format     out [T, N]
//   int8, int4  acc = sum over k of x[k] x q[k], exact in int32; out as of matmul.h, by the row's
//   scale Q8_0, Q4_0  dot[b] = sum over the 32 values of block b of x q, exact; term[b] = dot[b] x
//   d[b]
//               lane[i] = sum of term[b] over b = i, i + 8, i + 16 ... in order;  i < 8
//               sum = lane[0] + lane[1] + ... + lane[7], in order;  all in float, rounded each time
//               f32: out = sum x s_in      s8: out = clamp(round(sum x (s_in / s_out)))
//
//   two blocks of Q8_0, d = 0.5 and 2, x = {1, 2, 0 ...} and {3, 0 ...}, q = {10, 20, ...} and {-1,
//   ...}: dots 50 and -3, terms 25 and -6, sum 19.  Checked by BlockWeightsTest.TwoBlocksByHand.
//
// The order of the float sums is part of the definition, so every level of isa.h gives the same
// bits: vector units add eight blocks at once, a lane each. A row is multiplied with one token
// after the other, which is meant for few of them. Of more tokens rows are unpacked once for all:
// int4 of four and more by tiles of 256 KiB (16 rows, where those are more), Q8_0 and Q4_0 of
// sixteen and more as block_panels.h says; else there is no scratch. Threads divide the rows. K is
// at most kMaxReduced (matmul.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/matmul/block_rows.h"
#include "sim/kernels/matmul/gemm.h"
#include "sim/kernels/matmul/matmul.h"
#include "sim/kernels/requantize.h"

namespace tidemark {

void block_matmul_f32(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                      std::span<const std::byte> weights, float scale_in, std::span<float> out,
                      const GemmOptions& options = {});

void block_matmul_s8(RowFormat format, const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, Scales scales, std::span<int8_t> out,
                     const GemmOptions& options = {});

// The same by the definition, each row unpacked and its blocks multiplied by Eigen. Allocates; for
// tests and for checking a replay.
void block_matmul_f32_reference(RowFormat format, const MatMulShape& shape,
                                std::span<const int8_t> x, std::span<const std::byte> weights,
                                float scale_in, std::span<float> out);

}  // namespace tidemark
