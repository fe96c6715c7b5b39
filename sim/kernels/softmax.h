// Softmax over rows of int8, with TFLite's fixed output: scale 1/256, zero point -128.
//
//   x [T, N] s8 at scale s -> out [T, N] s8; out may be x. Zero points cancel.
//   weight[d] = round(2^30 e^(-beta s d)), d = max of the row - x, 256 of them, by table
//   out = round(256 weight / sum of weights) - 128, at most 127; all after the table in integers
//
//   x = {0, 0}: 256 x 1/2 = 128 -> {0, 0}.  x = {10, 0} at s = ln(3) / 10: 3/4 and 1/4 -> 192 and
//   64
//   -> {64, -64}.  Checked by SoftmaxRowsTest.ByHand.
//
// By table and integers, not by TFLite's integer exponential: the sum is exact whatever its order,
// and each answer is the nearest (a half upwards) to the quotient of the weights, which are true to
// 2^-31 of the largest. TFLite's kernels may differ by a step. 1 is stored as 127, that is 255/256,
// and what is below 1/512 becomes 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tidemark {

struct SoftmaxTable {
  std::array<uint32_t, 256> weights{};
};

// `scale` is that of x; beta scales the real values. CHECKs that scale x beta is finite and not
// negative.
SoftmaxTable softmax_table(float scale, double beta = 1.0);

// `columns` is N, at least 1.
void softmax_rows(const SoftmaxTable& table, int64_t columns, std::span<const int8_t> x,
                  std::span<int8_t> out);

}  // namespace tidemark
