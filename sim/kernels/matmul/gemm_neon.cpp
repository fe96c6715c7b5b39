// Products on AArch64 with the dot product: sdot adds four signed products to each of four 32-bit
// lanes. A tile is R rows by T tokens.
#include "sim/kernels/matmul/gemm_kernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#include <cstring>

#define TIDEMARK_NEON_DOT gnu::target("arch=armv8.2-a+dotprod")

namespace tidemark {
namespace {

constexpr int64_t kLanes8 = 16;
constexpr uintptr_t kBytesAhead = 512;

// Loops over rows and tokens are written as recursion over template arguments: with constant
// indices the compiler keeps every vector in a register.
template <unsigned kRows, unsigned kTokens>
struct Sums {
  int32x4_t of[kRows][kTokens];
};

template <unsigned kRows, unsigned kTokens, unsigned i = 0>
[[TIDEMARK_NEON_DOT, gnu::always_inline]] inline void clear(Sums<kRows, kTokens>& sums) {
  if constexpr (i < kRows * kTokens) {
    sums.of[i / kTokens][i % kTokens] = vdupq_n_s32(0);
    clear<kRows, kTokens, i + 1>(sums);
  }
}

template <unsigned kRows, unsigned kTokens, unsigned r, unsigned t = 0>
[[TIDEMARK_NEON_DOT, gnu::always_inline]] inline void add_row(int8x16_t weights, const int8_t* x,
                                                              int64_t x_stride,
                                                              Sums<kRows, kTokens>& sums) {
  if constexpr (t < kTokens) {
    sums.of[r][t] = vdotq_s32(sums.of[r][t], weights, vld1q_s8(x + t * x_stride));
    add_row<kRows, kTokens, r, t + 1>(weights, x, x_stride, sums);
  }
}

// 16 columns of each row by those of each token.
template <unsigned kRows, unsigned kTokens, unsigned r = 0>
[[TIDEMARK_NEON_DOT, gnu::always_inline]] inline void add(const int8_t* w, int64_t row_stride,
                                                          const int8_t* x, int64_t x_stride,
                                                          Sums<kRows, kTokens>& sums) {
  if constexpr (r < kRows) {
    const int8_t* row = w + r * row_stride;
    if (kTokens == 1) {
      // Past the end of the matrix this is an address that is never read.
      __builtin_prefetch(
          reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(row) + kBytesAhead));
    }
    add_row<kRows, kTokens, r>(vld1q_s8(row), x, x_stride, sums);
    add<kRows, kTokens, r + 1>(w, row_stride, x, x_stride, sums);
  }
}

// The columns that are no whole sixteen; zeros make them one.
template <unsigned kRows, unsigned kTokens>
[[TIDEMARK_NEON_DOT]] inline void add_tail(const int8_t* w, int64_t row_stride, const int8_t* x,
                                           int64_t x_stride, int64_t columns,
                                           Sums<kRows, kTokens>& sums) {
  int8_t rows[kRows][16] = {};
  int8_t tokens[kTokens][16] = {};
  for (unsigned r = 0; r < kRows; ++r) {
    std::memcpy(rows[r], w + r * row_stride, static_cast<size_t>(columns));
  }
  for (unsigned t = 0; t < kTokens; ++t) {
    std::memcpy(tokens[t], x + t * x_stride, static_cast<size_t>(columns));
  }
  add(rows[0], kLanes8, tokens[0], kLanes8, sums);
}

template <unsigned kRows, unsigned kTokens, unsigned i = 0>
[[TIDEMARK_NEON_DOT, gnu::always_inline]] inline void finish(const GemmJob& job, int64_t row,
                                                             int64_t token,
                                                             const Sums<kRows, kTokens>& sums) {
  if constexpr (i < kRows * kTokens) {
    constexpr unsigned r = i / kTokens;
    constexpr unsigned t = i % kTokens;
    job.out[(token + t) * job.out_stride + row + r] = vaddvq_s32(sums.of[r][t]);
    finish<kRows, kTokens, i + 1>(job, row, token, sums);
  }
}

template <unsigned kRows, unsigned kTokens>
[[TIDEMARK_NEON_DOT]] void tile(const GemmJob& job, int64_t row, int64_t token) {
  Sums<kRows, kTokens> sums;
  clear(sums);
  const int64_t row_stride = job.row_stride;
  const int64_t x_stride = job.x_stride;
  const int8_t* w =
      job.weights + row / kGroupRows * job.group_stride + row % kGroupRows * row_stride;
  const int8_t* x = static_cast<const int8_t*>(job.x) + token * x_stride;
  // Columns lie side by side in a packed block, or in whole rows.
  const int64_t run = job.block_stride == kTileBytes ? kBlockColumns : job.columns;
  for (int64_t k = 0; k < job.columns; k += run) {
    const int8_t* from = w + k / kBlockColumns * job.block_stride;
    int64_t i = 0;
    for (; i + kLanes8 <= run; i += kLanes8) {
      add(from + i, row_stride, x + k + i, x_stride, sums);
    }
    if (i < run) add_tail(from + i, row_stride, x + k + i, x_stride, run - i, sums);
  }
  finish(job, row, token, sums);
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
