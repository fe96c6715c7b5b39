#include "sim/kernels/experts/float_rows.h"

#include <array>
#include <cstring>

#include "planner/base/check.h"
#include "sim/kernels/avx_steps.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

constexpr int64_t kLanes = 16;
constexpr size_t kMostTokens = 4;  // that meet a row of weights at once
using Lanes = std::array<float, kLanes>;

// Columns [from, count): each goes to the lane of its place.
void add_columns(const int8_t* x, const std::byte* row, int64_t from, int64_t count, Lanes& lanes) {
  for (int64_t k = from; k < count; ++k) {
    float weight = 0.0F;
    std::memcpy(&weight, row + k * int64_t{sizeof weight}, sizeof weight);
    lanes[static_cast<size_t>(k % kLanes)] += static_cast<float>(x[k]) * weight;
  }
}

float sum_of(Lanes& lanes) {
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes.front();
}

#ifdef TIDEMARK_X86_KERNELS

TIDEMARK_AVX2 inline __m256 eight_floats(const std::byte* row, int64_t k) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(row + k * int64_t{sizeof(float)}));
}

TIDEMARK_AVX2 inline __m256 eight_products(const int8_t* x, __m256 weights) {
  return _mm256_mul_ps(_mm256_cvtepi32_ps(avx::eight_bytes(x)), weights);
}

// The halves of sum_of, from two times eight lanes on.
TIDEMARK_AVX2 inline float sum_of(__m256 low, __m256 high) {
  const __m256 eight = _mm256_add_ps(low, high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Products of a row with kTokens rows of x, one behind the other.
template <size_t kTokens>
TIDEMARK_AVX2 void float_dots_avx2(const int8_t* x, const std::byte* row, int64_t count,
                                   float* sums) {
  __m256 low[kTokens];
  __m256 high[kTokens];
  for (size_t t = 0; t < kTokens; ++t) low[t] = high[t] = _mm256_setzero_ps();
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    const __m256 first = eight_floats(row, k);
    const __m256 second = eight_floats(row, k + kLanes / 2);
    for (size_t t = 0; t < kTokens; ++t) {
      const int8_t* at = x + static_cast<int64_t>(t) * count + k;
      low[t] = _mm256_add_ps(low[t], eight_products(at, first));
      high[t] = _mm256_add_ps(high[t], eight_products(at + kLanes / 2, second));
    }
  }
  for (size_t t = 0; t < kTokens; ++t) {
    if (k < count) {
      Lanes lanes;
      _mm256_storeu_ps(lanes.data(), low[t]);
      _mm256_storeu_ps(&lanes[kLanes / 2], high[t]);
      add_columns(x + static_cast<int64_t>(t) * count, row, k, count, lanes);
      low[t] = _mm256_loadu_ps(lanes.data());
      high[t] = _mm256_loadu_ps(&lanes[kLanes / 2]);
    }
    sums[t] = sum_of(low[t], high[t]);
  }
}

bool has_avx2() {
  const Isa isa = isa_in_use();
  return isa == Isa::kAvx2 || isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8;
}

#endif

// The sums of a row with the first rows of x, at least one and at most kMostTokens; how many.
size_t float_dots([[maybe_unused]] bool by_vectors, std::span<const int8_t> x, const std::byte* row,
                  int64_t count, std::array<float, kMostTokens>& sums) {
#ifdef TIDEMARK_X86_KERNELS
  if (by_vectors) {
    if (std::ssize(x) < static_cast<int64_t>(kMostTokens) * count) {
      float_dots_avx2<1>(x.data(), row, count, sums.data());
      return 1;
    }
    float_dots_avx2<kMostTokens>(x.data(), row, count, sums.data());
    return kMostTokens;
  }
#endif
  Lanes lanes{};
  add_columns(x.data(), row, 0, count, lanes);
  sums.front() = sum_of(lanes);
  return 1;
}

}  // namespace

void float_matmul_s8(const MatMulShape& shape, std::span<const int8_t> x,
                     std::span<const std::byte> weights, Scales scales, std::span<int8_t> out) {
  constexpr int64_t kFloat = sizeof(float);
  check(shape.columns > 0, "a row is not empty");
  check_shape(x.size(), {shape.tokens, shape.columns}, "x is [T, K]");
  check_shape(weights.size(), {shape.rows, shape.columns, kFloat}, "weights are N rows of floats");
  check_shape(out.size(), {shape.tokens, shape.rows}, "out is [T, N]");
  const double factor = double{scales.in} / double{scales.out};
#ifdef TIDEMARK_X86_KERNELS
  const bool by_vectors = has_avx2();
#else
  const bool by_vectors = false;
#endif
  std::array<float, kMostTokens> sums{};
  for (int64_t n = 0; n < shape.rows; ++n) {
    const auto row = row_of(weights, n, shape.columns * kFloat);
    for (int64_t t = 0; t < shape.tokens;) {
      const auto rest = x.subspan(static_cast<size_t>(t * shape.columns));
      const size_t made = float_dots(by_vectors, rest, row.data(), shape.columns, sums);
      for (size_t i = 0; i < made; ++i, ++t) {
        row_of(out, t, shape.rows)[static_cast<size_t>(n)] =
            round_to_s8(static_cast<float>(double{sums[i]} * factor));
      }
    }
  }
}

}  // namespace tidemark
