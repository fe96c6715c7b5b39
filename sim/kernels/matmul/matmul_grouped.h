// Matrix product with a scale for every group of columns.
//
//   x [T, K] s8    weights: N rows of K s8, any stride    scales [N, G] f32, G = ceil(K / group)
//   acc[t][n][j] = sum over k of group j of x[t][k] x w[n][k], exact
//   out[t][n] = (acc[0] x s[n][0] + acc[1] x s[n][1] + ... in order) x s_in,
//               in float, rounded after each operation
//
//   group 2, x = {1, 2, 3}, w = {10, 20, 30}, scales {0.5, 2}: 50 x 0.5 + 90 x 2 = 205.
//   Checked by MatMulGroupedTest.ByHand.
//
// The order of the float sums is part of the definition and the integer sums are gemm.h's, so every
// vector unit and every number of threads gives the same bits. The last group may be short.
#pragma once

#include <cstdint>
#include <span>

#include "sim/kernels/matmul/gemm.h"

namespace tidemark {

struct GroupScales {
  std::span<const float> values{};  // [N, G]
  int64_t group = 0;                // columns of a group; at least 1
};

void matmul_grouped(int64_t tokens, std::span<const int8_t> x, const WeightRows& weights,
                    const GroupScales& scales, float scale_in, std::span<float> out,
                    const GemmOptions& options = {});

}  // namespace tidemark
