// The rows that chosen experts make of a token: products, biases, weighting, and their sum.
//
//   chosen [T, U] says which of N experts row (t, u) belongs to; R = T x U rows.
//
//   expert_matmul  x [T, K], the same row for all U, or [R, K]; out [R, M]: row r by expert
//                  chosen[r]'s own matrix of M rows
//   add_expert_bias  out[r][m] = clamp(round((x[r][m] s_in + bias[chosen[r]][m]) / s_out))
//   weigh_rows     out[r][m] = clamp(x[r][m] (w[r] + 128) x (s_x s_w / s_out)): a weight a row, of
//                  zero point -128
//   sum_rows       out[t][m] = clamp((sum over u of x[t U + u][m]) x (s_in / s_out))
//
//   weigh_rows: x = {10, -4} at 0.5, w = 64 at 1/256 is 192/256: {3.75, -1.5}, at s_out 0.25
//   {15, -6}.   sum_rows of {15, -6} and {5, 2} at 0.25 to 0.5: {20, -4} x 0.5 = {10, -2}.
//   Checked by ExpertRowsTest.ByHand.
//
// Outputs of weigh_rows and add_expert_bias may be x. Sums are exact; factors work by multiplier
// and shift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sim/kernels/elementwise.h"
#include "sim/kernels/matmul/matmul.h"

namespace tidemark {

struct ExpertShape {
  int64_t experts = 0;  // N
  int64_t used = 0;     // U
  int64_t columns = 0;  // K
  int64_t rows = 0;     // M, of each expert
};

// Expert `expert`'s product of some rows of x, whatever its weights' format.
using ExpertProduct = std::function<void(int64_t expert, const MatMulShape& shape,
                                         std::span<const int8_t> x, std::span<int8_t> out)>;

// Expert by expert, so that each matrix is read in one go, however many tokens meet it. Rows that
// meet the same one are gathered a few at a time on the stack (128 KiB), never elsewhere; what
// `product` makes of a row may not depend on the rows beside it.
void expert_matmul(const ExpertShape& shape, std::span<const int32_t> chosen,
                   std::span<const int8_t> x, std::span<int8_t> out, const ExpertProduct& product);

// Of N x M stored rows (rows.h).
void expert_matmul_s8(const ExpertShape& shape, std::span<const int32_t> chosen,
                      std::span<const int8_t> x, std::span<const std::byte> weights, Scales scales,
                      std::span<int8_t> out);

// `biases` is [N, M] f32 at any address; M from its size and `experts`.
void add_expert_bias(int64_t experts, std::span<const int32_t> chosen, std::span<const int8_t> x,
                     std::span<const std::byte> biases, Scales scales, std::span<int8_t> out);

void weigh_rows(std::span<const int8_t> x, std::span<const int8_t> weights, BinaryScales scales,
                std::span<int8_t> out);

// `used` is U, `columns` M.
void sum_rows(int64_t used, int64_t columns, std::span<const int8_t> x, Scales scales,
              std::span<int8_t> out);

}  // namespace tidemark
