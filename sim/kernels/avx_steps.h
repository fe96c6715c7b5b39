// Steps that kernels for AVX2 and above share. Included by .cpp files alone, under
// TIDEMARK_X86_KERNELS; a function becomes part of its caller only where that has its instruction
// set, so callers carry TIDEMARK_AVX2 or TIDEMARK_VNNI too.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define TIDEMARK_X86_KERNELS

#include <immintrin.h>

#define TIDEMARK_AVX2 [[gnu::target("avx2,f16c")]]
#define TIDEMARK_VNNI [[gnu::target("avx2,f16c,avx512f,avx512bw,avx512vl,avx512vnni")]]

namespace tidemark::avx {

TIDEMARK_AVX2 inline __m256i load32(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// Eight partial sums of signed by signed products.
TIDEMARK_AVX2 inline __m256i multiply_signed(__m256i w, __m256i x) {
  const __m256i low_w = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(w));
  const __m256i low_x = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(x));
  const __m256i high_w = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(w, 1));
  const __m256i high_x = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(x, 1));
  return _mm256_add_epi32(_mm256_madd_epi16(low_w, low_x), _mm256_madd_epi16(high_w, high_x));
}

// sum of u x, u being `offset` more than the values meant.
TIDEMARK_VNNI inline __m256i multiply_offset(__m256i u, __m256i x, char offset) {
  const __m256i zero = _mm256_setzero_si256();
  const __m256i excess = _mm256_dpbusd_epi32(zero, _mm256_set1_epi8(offset), x);
  return _mm256_dpbusd_epi32(_mm256_sub_epi32(zero, excess), u, x);
}

TIDEMARK_AVX2 inline __m256i sums_of_four(__m256i a, __m256i b, __m256i c, __m256i d) {
  return _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
}

// From two sums_of_four, each still in two halves, to eight sums.
TIDEMARK_AVX2 inline __m256i join_halves(__m256i first, __m256i second) {
  return _mm256_add_epi32(_mm256_permute2x128_si256(first, second, 0x20),
                          _mm256_permute2x128_si256(first, second, 0x31));
}

// Two bytes at each of eight places `stride` bytes apart.
TIDEMARK_AVX2 inline __m128i eight_words(const std::byte* from, int64_t stride) {
  const auto word = [](const std::byte* at) {
    short bits = 0;
    __builtin_memcpy(&bits, at, sizeof bits);
    return bits;
  };
  return _mm_setr_epi16(word(from), word(from + stride), word(from + 2 * stride),
                        word(from + 3 * stride), word(from + 4 * stride), word(from + 5 * stride),
                        word(from + 6 * stride), word(from + 7 * stride));
}

// scale_by of eight (requantize.h), each by its own factor: shift = left - right, one of them 0.
struct Factors {
  __m256i multiplier;
  __m256i left;
  __m256i right;
};

// The high product, to nearest: floor((p + 2^30) / 2^31), which is what gemmlowp's nudge and
// truncation come to for a multiplier that is not negative. Odd lanes are multiplied apart.
TIDEMARK_AVX2 inline __m256i high_product(__m256i x, __m256i multiplier) {
  const __m256i half = _mm256_set1_epi64x(int64_t{1} << 30);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, multiplier), half);
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(x, 32), _mm256_srli_epi64(multiplier, 32)), half);
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xAA);
}

// rounding_divide_by_pot.
TIDEMARK_AVX2 inline __m256i rounding_shift(__m256i x, __m256i right) {
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, right), one);
  const __m256i threshold = _mm256_add_epi32(_mm256_srli_epi32(mask, 1), _mm256_srli_epi32(x, 31));
  const __m256i up = _mm256_cmpgt_epi32(_mm256_and_si256(x, mask), threshold);
  return _mm256_sub_epi32(_mm256_srav_epi32(x, right), up);
}

// Where no factor shifts to the left.
TIDEMARK_AVX2 inline __m256i scale_down(__m256i x, const Factors& factors) {
  return rounding_shift(high_product(x, factors.multiplier), factors.right);
}

TIDEMARK_AVX2 inline __m256i scale_by(__m256i x, const Factors& factors) {
  const __m256i most = _mm256_set1_epi32(0x7FFFFFFF);
  const __m256i least = _mm256_set1_epi32(-0x7FFFFFFF - 1);
  const __m256i above = _mm256_cmpgt_epi32(x, _mm256_srav_epi32(most, factors.left));
  const __m256i below = _mm256_cmpgt_epi32(_mm256_srav_epi32(least, factors.left), x);
  __m256i shifted = _mm256_sllv_epi32(x, factors.left);
  shifted = _mm256_blendv_epi8(shifted, most, above);
  shifted = _mm256_blendv_epi8(shifted, least, below);
  return scale_down(shifted, factors);
}

// a + b, saturating.
TIDEMARK_AVX2 inline __m256i saturating_add(__m256i a, __m256i b) {
  const __m256i sum = _mm256_add_epi32(a, b);
  const __m256i turned = _mm256_and_si256(_mm256_xor_si256(a, sum), _mm256_xor_si256(b, sum));
  const __m256i limit = _mm256_xor_si256(_mm256_srai_epi32(a, 31), _mm256_set1_epi32(0x7FFFFFFF));
  return _mm256_blendv_epi8(sum, limit, _mm256_srai_epi32(turned, 31));
}

TIDEMARK_AVX2 inline __m256i eight_bytes(const int8_t* from) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}

// Eight int32 that are int8 already.
TIDEMARK_AVX2 inline void store_bytes(__m256i values, int8_t* to) {
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
}

}  // namespace tidemark::avx

#endif
