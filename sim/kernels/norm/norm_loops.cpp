#include "sim/kernels/norm/norm_loops.h"

#include <algorithm>
#include <cstring>

#include "sim/kernels/affine.h"
#include "sim/kernels/avx_steps.h"
#include "sim/kernels/isa.h"
#include "sim/kernels/matmul/matmul.h"
#include "sim/kernels/requantize.h"

namespace tidemark {
namespace {

float float_at(const std::byte* from, int64_t i) {
  float value = 0.0F;
  if (from != nullptr) std::memcpy(&value, from + i * int64_t{sizeof value}, sizeof value);
  return value;
}

int8_t norm_one(const NormStep& step, const NormRow& row, int64_t i) {
  const float normal = static_cast<float>(row.x[i]) * step.a + step.b;
  const float y = normal * float_at(row.gain, i) + float_at(row.bias, i);
  return round_to_affine(y * step.c, step.zero_point);
}

void rotate_one(const RotatedHalves& halves, double cosine, double sine, size_t i) {
  const double a = halves.x_a[i];
  const double b = halves.x_b[i];
  halves.out_a[i] = round_to_s8(static_cast<float>(a * cosine - b * sine));
  halves.out_b[i] = round_to_s8(static_cast<float>(b * cosine + a * sine));
}

#ifdef TIDEMARK_X86_KERNELS

// Each loop says how many elements, from the first on, it did: whole eights.
constexpr int64_t kLanes = 8;

// round_to_affine of eight, before the zero point: NaN is 0, ties go away from zero.
TIDEMARK_AVX2 inline __m256i round_away(__m256 x) {
  x = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
  x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-512.0F)), _mm256_set1_ps(512.0F));
  const __m256i whole = _mm256_cvttps_epi32(x);
  const __m256 rest = _mm256_sub_ps(x, _mm256_cvtepi32_ps(whole));  // exact
  const __m256 up = _mm256_cmp_ps(rest, _mm256_set1_ps(0.5F), _CMP_GE_OQ);
  const __m256 down = _mm256_cmp_ps(rest, _mm256_set1_ps(-0.5F), _CMP_LE_OQ);
  const __m256i raised = _mm256_sub_epi32(whole, _mm256_castps_si256(up));
  return _mm256_add_epi32(raised, _mm256_castps_si256(down));
}

// Packing saturates to int8.
TIDEMARK_AVX2 inline void store_rounded(__m256 x, int32_t zero_point, int8_t* out) {
  avx::store_bytes(_mm256_add_epi32(round_away(x), _mm256_set1_epi32(zero_point)), out);
}

TIDEMARK_AVX2 inline __m256 eight_floats(const std::byte* from, int64_t i) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(from + i * int64_t{sizeof(float)}));
}

TIDEMARK_AVX2 int64_t norm_avx2(const NormStep& step, const NormRow& row) {
  const __m256 a = _mm256_set1_ps(step.a);
  const __m256 b = _mm256_set1_ps(step.b);
  const __m256 c = _mm256_set1_ps(step.c);
  int64_t i = 0;
  for (; i + kLanes <= row.count; i += kLanes) {
    const __m256 x = _mm256_cvtepi32_ps(avx::eight_bytes(row.x + i));
    const __m256 normal = _mm256_add_ps(_mm256_mul_ps(x, a), b);
    const __m256 bias = row.bias == nullptr ? _mm256_setzero_ps() : eight_floats(row.bias, i);
    const __m256 y = _mm256_add_ps(_mm256_mul_ps(normal, eight_floats(row.gain, i)), bias);
    store_rounded(_mm256_mul_ps(y, c), step.zero_point, row.out + i);
  }
  return i;
}

TIDEMARK_AVX2 inline __m256d four_doubles(const int8_t* from) {
  int32_t bytes = 0;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(bytes)));
}

// p x + q y of four, rounded to float.
TIDEMARK_AVX2 inline __m128 four_sums(__m256d p, __m256d x, __m256d q, __m256d y) {
  return _mm256_cvtpd_ps(_mm256_add_pd(_mm256_mul_pd(p, x), _mm256_mul_pd(q, y)));
}

TIDEMARK_AVX2 size_t rotate_avx2(const RotatedHalves& halves, std::span<const double> cosines,
                                 std::span<const double> sines) {
  const __m256d sign = _mm256_set1_pd(-0.0);
  size_t i = 0;
  for (; i + kLanes <= cosines.size(); i += kLanes) {
    __m128 turned_a[2];
    __m128 turned_b[2];
    for (size_t k = 0; k < 2; ++k) {
      const __m256d a = four_doubles(halves.x_a + i + 4 * k);
      const __m256d b = four_doubles(halves.x_b + i + 4 * k);
      const __m256d cosine = _mm256_loadu_pd(&cosines[i + 4 * k]);
      const __m256d sine = _mm256_loadu_pd(&sines[i + 4 * k]);
      turned_a[k] = four_sums(a, cosine, b, _mm256_xor_pd(sine, sign));
      turned_b[k] = four_sums(b, cosine, a, sine);
    }
    store_rounded(_mm256_set_m128(turned_a[1], turned_a[0]), 0, halves.out_a + i);
    store_rounded(_mm256_set_m128(turned_b[1], turned_b[0]), 0, halves.out_b + i);
  }
  return i;
}

bool has_avx2() {
  const Isa isa = isa_in_use();
  return isa == Isa::kAvx2 || isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8;
}

#endif

}  // namespace

void norm_row(const NormStep& step, const NormRow& row) {
  int64_t i = 0;
#ifdef TIDEMARK_X86_KERNELS
  if (has_avx2()) i = norm_avx2(step, row);
#endif
  for (; i < row.count; ++i) row.out[i] = norm_one(step, row, i);
}

void rotate(const RotatedHalves& halves, std::span<const double> cosines,
            std::span<const double> sines) {
  size_t i = 0;
#ifdef TIDEMARK_X86_KERNELS
  if (has_avx2()) i = rotate_avx2(halves, cosines, sines);
#endif
  for (; i < cosines.size(); ++i) rotate_one(halves, cosines[i], sines[i], i);
}

int64_t sum_of_squares(std::span<const int8_t> values) {
  int64_t sum = 0;
  while (!values.empty()) {
    const auto part = values.first(std::min(values.size(), static_cast<size_t>(kMaxReduced)));
    sum += dot_s8(part, part);
    values = values.subspan(part.size());
  }
  return sum;
}

}  // namespace tidemark
