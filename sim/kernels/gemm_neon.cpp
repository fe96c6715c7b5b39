// Products on AArch64 with the dot product: sdot adds four signed products to each of four 32-bit
// lanes. A tile is R rows by T tokens.
#include "sim/kernels/gemm_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#define TIDEMARK_NEON_DOT gnu::target("arch=armv8.2-a+dotprod")

namespace tidemark {
namespace {

constexpr int64_t kLanes8 = 16;
constexpr int64_t kBytesAhead = 512;

template <unsigned kRows, unsigned kTokens>
struct Sums {
  int32x4_t of[kRows][kTokens];
  int32_t tails[kRows][kTokens];
};

// Columns that lie side by side: a packed block, or whole rows.
template <unsigned kRows, unsigned kTokens>
[[TIDEMARK_NEON_DOT]] void add_run(const int8_t* w, int64_t row_stride, const int8_t* x,
                                   int64_t x_stride, int64_t columns, Sums<kRows, kTokens>& sums) {
  int64_t k = 0;
  for (; k + kLanes8 <= columns; k += kLanes8) {
    int8x16_t values[kTokens];
#pragma GCC unroll 4
    for (unsigned t = 0; t < kTokens; ++t) values[t] = vld1q_s8(x + t * x_stride + k);
#pragma GCC unroll 8
    for (unsigned r = 0; r < kRows; ++r) {
      const int8x16_t weights = vld1q_s8(w + r * row_stride + k);
      if (kTokens == 1) __builtin_prefetch(w + r * row_stride + k + kBytesAhead);
#pragma GCC unroll 4
      for (unsigned t = 0; t < kTokens; ++t) {
        sums.of[r][t] = vdotq_s32(sums.of[r][t], weights, values[t]);
      }
    }
  }
  for (; k < columns; ++k) {
    for (unsigned r = 0; r < kRows; ++r) {
      for (unsigned t = 0; t < kTokens; ++t) {
        sums.tails[r][t] += int32_t{w[r * row_stride + k]} * int32_t{x[t * x_stride + k]};
      }
    }
  }
}

template <unsigned kRows, unsigned kTokens>
[[TIDEMARK_NEON_DOT]] void tile(const GemmJob& job, int64_t row, int64_t token) {
  const int8_t* w =
      job.weights + row / kGroupRows * job.group_stride + row % kGroupRows * job.row_stride;
  const int8_t* x = static_cast<const int8_t*>(job.x) + token * job.x_stride;
  Sums<kRows, kTokens> sums;
  for (unsigned r = 0; r < kRows; ++r) {
    for (unsigned t = 0; t < kTokens; ++t) {
      sums.of[r][t] = vdupq_n_s32(0);
      sums.tails[r][t] = 0;
    }
  }
  const int64_t run = job.block_stride == kTileBytes ? kBlockColumns : job.columns;
  for (int64_t k = 0; k < job.columns; k += run) {
    add_run(w + k / kBlockColumns * job.block_stride, job.row_stride, x + k, job.x_stride, run,
            sums);
  }
  for (unsigned r = 0; r < kRows; ++r) {
    for (unsigned t = 0; t < kTokens; ++t) {
      job.out[(token + t) * job.out_stride + row + r] =
          vaddvq_s32(sums.of[r][t]) + sums.tails[r][t];
    }
  }
}

}  // namespace

void gemm_neon(const GemmJob& job) {
  int64_t t = 0;
  for (; t + 4 <= job.tokens; t += 4) {
    int64_t n = 0;
    for (; n + 4 <= job.rows; n += 4) tile<4, 4>(job, n, t);
    for (; n < job.rows; ++n) tile<1, 4>(job, n, t);
  }
  for (; t < job.tokens; ++t) {
    int64_t n = 0;
    for (; n + 8 <= job.rows; n += 8) tile<8, 1>(job, n, t);
    for (; n < job.rows; ++n) tile<1, 1>(job, n, t);
  }
}

[[TIDEMARK_NEON_DOT]] int32_t dot_neon(const int8_t* a, const int8_t* b, int64_t length) {
  int32x4_t sums = vdupq_n_s32(0);
  int64_t i = 0;
  for (; i + kLanes8 <= length; i += kLanes8) {
    sums = vdotq_s32(sums, vld1q_s8(a + i), vld1q_s8(b + i));
  }
  int32_t sum = vaddvq_s32(sums);
  for (; i < length; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
  return sum;
}

}  // namespace tidemark
#endif
