// Matrix product of int8 activations with int8 weights, accumulated exactly in int32.
//
//   x [T, K] row-major     weights: N stored rows of K (rows.h), one fp16 scale each     out [T, N]
//   acc[t][n] = sum over k of x[t][k] x w[n][k]
//   s8:  out = clamp(acc x (s_in x s_w[n] / s_out)) by multiplier and shift        f32: acc x s_in
//   x s_w[n]
//
//   x = {1, -2, 3}, w = {10, 20, 30} at scale 0.5: acc = 10 - 40 + 90 = 60; s_in 0.1, s_out 0.2:
//   M = 0.25, out = 15 (real 3.0 both ways).  Checked by MatMulTest.ByHand.
//
// The sums are gemm.h's: exact, the same bits on every vector unit and with any number of threads,
// for one token (GEMV: memory bound) and many. What becomes of a sum is decided block by block
// while it is near. Checked against Eigen (matmul_reference.h) and plain 64-bit loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/matmul/gemm.h"
#include "sim/kernels/requantize.h"

namespace tidemark {

struct MatMulShape {
  int64_t tokens = 0;   // T
  int64_t columns = 0;  // K, the reduced dimension; at most kMaxReduced
  int64_t rows = 0;     // N
};

// sum of a[i] x b[i]; equal lengths, at most kMaxReduced.
int32_t dot_s8(std::span<const int8_t> a, std::span<const int8_t> b);

void matmul_s32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, std::span<int32_t> accumulators,
                const GemmOptions& options = {});

void matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
               std::span<const std::byte> weights, Scales scales, std::span<int8_t> out,
               const GemmOptions& options = {});

// Logits.
void matmul_f32(const MatMulShape& shape, std::span<const int8_t> x,
                std::span<const std::byte> weights, float scale_in, std::span<float> out,
                const GemmOptions& options = {});

}  // namespace tidemark
