#include "sim/kernels/matmul/gemm_kernels.h"

namespace tidemark {
namespace {

constexpr int64_t kTokenTile = 4;

// Adds the dot products of w with kTokenTile consecutive rows of x: each weight is read once for
// four.
void add_tile(const int8_t* w, const int8_t* x, int64_t stride, int64_t length, int32_t* sums) {
  int32_t s0 = 0;
  int32_t s1 = 0;
  int32_t s2 = 0;
  int32_t s3 = 0;
  for (int64_t i = 0; i < length; ++i) {
    s0 += int32_t{w[i]} * int32_t{x[i]};
    s1 += int32_t{w[i]} * int32_t{x[i + stride]};
    s2 += int32_t{w[i]} * int32_t{x[i + 2 * stride]};
    s3 += int32_t{w[i]} * int32_t{x[i + 3 * stride]};
  }
  sums[0] += s0;
  sums[1] += s1;
  sums[2] += s2;
  sums[3] += s3;
}

// One row of weights by all tokens.
void multiply_row(const GemmJob& job, const int8_t* w, int32_t* out) {
  const auto* x = static_cast<const int8_t*>(job.x);
  const bool packed = job.block_stride == kTileBytes;
  const int64_t run = packed ? kBlockColumns : job.columns;  // columns side by side
  int64_t t = 0;
  for (; t + kTokenTile <= job.tokens; t += kTokenTile) {
    int32_t sums[kTokenTile] = {};
    for (int64_t k = 0; k < job.columns; k += run) {
      add_tile(w + k / kBlockColumns * job.block_stride, x + t * job.x_stride + k, job.x_stride,
               run, sums);
    }
    for (int64_t i = 0; i < kTokenTile; ++i) out[(t + i) * job.out_stride] = sums[i];
  }
  for (; t < job.tokens; ++t) {
    int32_t sum = 0;
    for (int64_t k = 0; k < job.columns; k += run) {
      sum += dot_baseline(w + k / kBlockColumns * job.block_stride, x + t * job.x_stride + k, run);
    }
    out[t * job.out_stride] = sum;
  }
}

}  // namespace

int32_t dot_baseline(const int8_t* a, const int8_t* b, int64_t length) {
  int32_t sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
  return sum;
}

void gemm_baseline(const GemmJob& job) {
  for (int64_t n = 0; n < job.rows; ++n) {
    multiply_row(job,
                 job.weights + n / kGroupRows * job.group_stride + n % kGroupRows * job.row_stride,
                 job.out + n);
  }
}

}  // namespace tidemark
