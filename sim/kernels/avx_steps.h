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

}  // namespace tidemark::avx

#endif
