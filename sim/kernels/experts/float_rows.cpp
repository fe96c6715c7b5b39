#include "sim/kernels/experts/float_rows.h"

#include <array>
#include <cstring>

#include "sim/kernels/avx_steps.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

// Columns [from, count): each goes to the lane of its place.
void add_columns(const int8_t* x, const std::byte* row, int64_t from, int64_t count, Lanes& lanes) {
  for (int64_t k = from; k < count; ++k) {
    float weight = 0.0F;
    std::memcpy(&weight, row + k * int64_t{sizeof weight}, sizeof weight);
    lanes[static_cast<size_t>(k % kLanes)] += static_cast<float>(x[k]) * weight;
  }
}

#ifdef TIDEMARK_X86_KERNELS

TIDEMARK_AVX2 inline __m256 eight_products(const int8_t* x, const std::byte* row, int64_t k) {
  const auto* weights = reinterpret_cast<const float*>(row + k * int64_t{sizeof(float)});
  return _mm256_mul_ps(_mm256_cvtepi32_ps(avx::eight_bytes(x + k)), _mm256_loadu_ps(weights));
}

// How many columns, from the first on, it did: whole sixteens.
TIDEMARK_AVX2 int64_t add_columns_avx2(const int8_t* x, const std::byte* row, int64_t count,
                                       Lanes& lanes) {
  __m256 low = _mm256_setzero_ps();
  __m256 high = _mm256_setzero_ps();
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    low = _mm256_add_ps(low, eight_products(x, row, k));
    high = _mm256_add_ps(high, eight_products(x, row, k + kLanes / 2));
  }
  _mm256_storeu_ps(lanes.data(), low);
  _mm256_storeu_ps(&lanes[kLanes / 2], high);
  return k;
}

bool has_avx2() {
  const Isa isa = isa_in_use();
  return isa == Isa::kAvx2 || isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8;
}

#endif

float float_dot(const int8_t* x, const std::byte* row, int64_t count) {
  Lanes lanes{};
  int64_t k = 0;
#ifdef TIDEMARK_X86_KERNELS
  if (has_avx2()) k = add_columns_avx2(x, row, count, lanes);
#endif
  add_columns(x, row, k, count, lanes);
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes.front();
}

}  // namespace

void float_matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, Scales scales, std::span<int8_t> out) {
  constexpr int64_t kFloat = sizeof(float);
  check_shape(x.size(), {shape.tokens, shape.columns}, "x is [T, K]");
  check_shape(weights.size(), {shape.rows, shape.columns, kFloat}, "weights are N rows of floats");
  check_shape(out.size(), {shape.tokens, shape.rows}, "out is [T, N]");
  const double factor = double{scales.in} / double{scales.out};
  for (int64_t n = 0; n < shape.rows; ++n) {
    const auto row = row_of(weights, n, shape.columns * kFloat);
    for (int64_t t = 0; t < shape.tokens; ++t) {
      const auto token = row_of(x, t, shape.columns);
      const double sum = float_dot(token.data(), row.data(), shape.columns);
      row_of(out, t, shape.rows)[static_cast<size_t>(n)] =
          round_to_s8(static_cast<float>(sum * factor));
    }
  }
}

}  // namespace tidemark
