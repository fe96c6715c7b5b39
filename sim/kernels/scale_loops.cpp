#include "sim/kernels/scale_loops.h"

#include "sim/kernels/avx_steps.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

#ifdef TIDEMARK_X86_KERNELS

// Each loop says how many elements, from the first on, it did: whole eights.

constexpr int64_t kLanes = 8;

TIDEMARK_AVX2 inline avx::Factors factors_of(__m256i multiplier, __m256i shift) {
  const __m256i zero = _mm256_setzero_si256();
  return {.multiplier = multiplier,
          .left = _mm256_max_epi32(shift, zero),
          .right = _mm256_max_epi32(_mm256_sub_epi32(zero, shift), zero)};
}

TIDEMARK_AVX2 inline avx::Factors same_factors(QuantizedMultiplier factor) {
  return factors_of(_mm256_set1_epi32(factor.multiplier), _mm256_set1_epi32(factor.shift));
}

// add_zero_point. The first clamp keeps the sum within int32 and changes no answer.
TIDEMARK_AVX2 inline void store_output(__m256i value, int32_t zero_point, ByteRange range,
                                       int8_t* out) {
  value = _mm256_min_epi32(value, _mm256_set1_epi32(1024));
  value = _mm256_max_epi32(value, _mm256_set1_epi32(-1024));
  value = _mm256_add_epi32(value, _mm256_set1_epi32(zero_point));
  value = _mm256_min_epi32(value, _mm256_set1_epi32(range.high));
  value = _mm256_max_epi32(value, _mm256_set1_epi32(range.low));
  avx::store_bytes(value, out);
}

TIDEMARK_AVX2 int64_t multiply_avx2(const ProductStep& step, const int8_t* a, const int8_t* b,
                                    int64_t count, int8_t* out) {
  const avx::Factors factor = same_factors(step.output.factor);
  const __m256i zero_a = _mm256_set1_epi32(step.zero_a);
  const __m256i zero_b = _mm256_set1_epi32(step.zero_b);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256i product = _mm256_mullo_epi32(_mm256_sub_epi32(avx::eight_bytes(a + i), zero_a),
                                               _mm256_sub_epi32(avx::eight_bytes(b + i), zero_b));
    store_output(avx::scale_by(product, factor), step.output.zero_point, step.output.range,
                 out + i);
  }
  return i;
}

TIDEMARK_AVX2 int64_t add_avx2(const SumStep& step, const int8_t* a, const int8_t* b, int64_t count,
                               int8_t* out) {
  const avx::Factors factor_a = same_factors(step.factor_a);
  const avx::Factors factor_b = same_factors(step.factor_b);
  const avx::Factors factor = same_factors(step.output.factor);
  const __m256i zero_a = _mm256_set1_epi32(step.zero_a);
  const __m256i zero_b = _mm256_set1_epi32(step.zero_b);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256i x = _mm256_sub_epi32(avx::eight_bytes(a + i), zero_a);
    const __m256i y = _mm256_sub_epi32(avx::eight_bytes(b + i), zero_b);
    const __m256i sum =
        _mm256_add_epi32(avx::scale_down(_mm256_slli_epi32(x, kAddHeadroom), factor_a),
                         avx::scale_down(_mm256_slli_epi32(y, kAddHeadroom), factor_b));
    store_output(avx::scale_by(sum, factor), step.output.zero_point, step.output.range, out + i);
  }
  return i;
}

TIDEMARK_AVX2 int64_t finish_avx2(const ChannelStep& step, const int32_t* sums, int64_t channels,
                                  int8_t* out) {
  int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    const __m256i exact =
        _mm256_sub_epi32(avx::load32(sums + c), avx::load32(step.corrections + c));
    const __m256i biased = avx::saturating_add(exact, avx::load32(step.biases + c));
    const avx::Factors factors =
        factors_of(avx::load32(step.multipliers + c), avx::load32(step.shifts + c));
    store_output(avx::scale_by(biased, factors), step.zero_point, step.range, out + c);
  }
  return c;
}

bool has_avx2() {
  const Isa isa = isa_in_use();
  return isa == Isa::kAvx2 || isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8;
}

#endif

}  // namespace

void multiply_rows(const ProductStep& step, const int8_t* a, const int8_t* b, int64_t count,
                   int8_t* out) {
  int64_t i = 0;
#ifdef TIDEMARK_X86_KERNELS
  if (has_avx2()) i = multiply_avx2(step, a, b, count, out);
#endif
  for (; i < count; ++i) out[i] = step(a[i], b[i]);
}

void add_rows(const SumStep& step, const int8_t* a, const int8_t* b, int64_t count, int8_t* out) {
  int64_t i = 0;
#ifdef TIDEMARK_X86_KERNELS
  if (has_avx2()) i = add_avx2(step, a, b, count, out);
#endif
  for (; i < count; ++i) out[i] = step(a[i], b[i]);
}

void finish_channels(const ChannelStep& step, const int32_t* sums, int64_t channels, int8_t* out) {
  int64_t c = 0;
#ifdef TIDEMARK_X86_KERNELS
  if (has_avx2()) c = finish_avx2(step, sums, channels, out);
#endif
  for (; c < channels; ++c) out[c] = step(sums[c], c);
}

}  // namespace tidemark
