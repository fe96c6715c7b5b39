// Products on AVX2. There is no signed 8-bit product that keeps all its bits, so
//
//   wide    both sides as 16 bits: vpmaddwd adds two products exactly in 32. 16 products, 2 steps
//   narrow  vpmaddubsw adds two products in 16 bits, widened and added: 32 products, 3 steps; exact
//           only where the sum of two (pairs: of four) fits, which gemm.cpp sees to
//
// A tile is R rows by T tokens, each pair with a vector of eight partial sums of its own.
#include "sim/kernels/gemm_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

namespace tidemark {
namespace {

constexpr int64_t kLanes16 = 16;
// One token is bound by memory: eight rows are eight streams, each asked for so far ahead.
constexpr unsigned kStreams = 8;
constexpr int64_t kBlocksAhead = 12;

inline const int8_t* row_begin(const GemmJob& job, int64_t row) {
  return job.weights + row / kGroupRows * job.group_stride + row % kGroupRows * job.row_stride;
}

// Lane i: the sum of v_i.
[[gnu::target("avx2")]] inline __m128i sums_of_four(__m256i v0, __m256i v1, __m256i v2,
                                                    __m256i v3) {
  const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(v0, v1), _mm256_hadd_epi32(v2, v3));
  return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

template <unsigned kRows, unsigned kTokens>
struct Sums {
  __m256i of[kRows * kTokens];  // [row][token]
};

template <unsigned kRows, unsigned kTokens>
[[gnu::target("avx2"), gnu::always_inline]] inline void clear(Sums<kRows, kTokens>& sums) {
#pragma GCC unroll 8
  for (unsigned i = 0; i < kRows * kTokens; ++i) sums.of[i] = _mm256_setzero_si256();
}

template <unsigned kRows, unsigned kTokens>
[[gnu::target("avx2"), gnu::always_inline]] inline void finish(const GemmJob& job, int64_t row,
                                                               int64_t token,
                                                               const Sums<kRows, kTokens>& sums) {
  constexpr unsigned kCount = kRows * kTokens;
  int32_t values[kCount < 4 ? 4 : kCount];
  if constexpr (kCount == 1) {
    const __m256i zero = _mm256_setzero_si256();
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values),
                     sums_of_four(sums.of[0], zero, zero, zero));
  } else {
#pragma GCC unroll 2
    for (unsigned i = 0; i < kCount; i += 4) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(values + i),
                       sums_of_four(sums.of[i], sums.of[i + 1], sums.of[i + 2], sums.of[i + 3]));
    }
  }
  for (unsigned r = 0; r < kRows; ++r) {
    uint32_t term = 0;
    if (job.row_sums != nullptr) {
      term = static_cast<uint32_t>(job.row_sums[row + r]) * static_cast<uint32_t>(job.offset);
    }
    for (unsigned t = 0; t < kTokens; ++t) {
      job.out[(token + t) * job.out_stride + row + r] =
          static_cast<int32_t>(static_cast<uint32_t>(values[r * kTokens + t]) - term);
    }
  }
}

// 16 columns of each row from `w` on, by those of each token.
template <unsigned kRows, unsigned kTokens>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_wide(const int8_t* w,
                                                                 int64_t row_stride,
                                                                 const int8_t* x, int64_t x_stride,
                                                                 Sums<kRows, kTokens>& sums) {
#pragma GCC unroll 8
  for (unsigned r = 0; r < kRows; ++r) {
    const __m256i wide =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + r * row_stride)));
#pragma GCC unroll 8
    for (unsigned t = 0; t < kTokens; ++t) {
      const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + t * x_stride));
      __m256i& sum = sums.of[r * kTokens + t];
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(wide, values));
    }
  }
}

// The columns that are no whole sixteen; zeros make them one.
template <unsigned kRows, unsigned kTokens>
[[gnu::target("avx2")]] inline void add_wide_tail(const int8_t* w, int64_t row_stride,
                                                  const int8_t* x, int64_t x_stride,
                                                  int64_t columns, Sums<kRows, kTokens>& sums) {
  int8_t padded[kRows][16] = {};
  for (unsigned r = 0; r < kRows; ++r) {
    std::memcpy(padded[r], w + r * row_stride, static_cast<size_t>(columns));
  }
  add_wide<kRows, kTokens>(padded[0], kLanes16, x, x_stride, sums);
}

[[gnu::target("avx2"), gnu::always_inline]] inline void ask_for(const int8_t* from, int64_t ahead) {
  // Past the end of the matrix this is an address that is never read.
  _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(from) +
                                             static_cast<uintptr_t>(ahead)),
               _MM_HINT_T0);
}

struct Wide {
  // x is int16: twice the bytes of a column.
  template <unsigned kRows, unsigned kTokens>
  [[gnu::target("avx2")]] static void tile(const GemmJob& job, int64_t row, int64_t token) {
    Sums<kRows, kTokens> sums;
    clear(sums);
    const int8_t* w = row_begin(job, row);
    const int8_t* x = static_cast<const int8_t*>(job.x) + token * job.x_stride;
    const int64_t blocks = job.columns / kBlockColumns;
    const int64_t turn = blocks < kBlocksAhead ? 0 : blocks - kBlocksAhead;
    const int64_t to_next = row_begin(job, row + kRows) - w - turn * job.block_stride;
    for (int64_t b = 0; b < blocks; ++b) {
      const int8_t* from = w + b * job.block_stride;
      if (kTokens == 1) {
        const int64_t ahead = b < turn ? kBlocksAhead * job.block_stride : to_next;
        for (unsigned r = 0; r < kRows; ++r) ask_for(from + r * job.row_stride, ahead);
      }
      for (int64_t c = 0; c < kBlockColumns; c += kLanes16) {
        add_wide<kRows, kTokens>(from + c, job.row_stride, x + 2 * (b * kBlockColumns + c),
                                 job.x_stride, sums);
      }
    }
    const int8_t* last = w + blocks * job.block_stride;
    const int64_t left = job.columns - blocks * kBlockColumns;
    int64_t c = 0;
    for (; c + kLanes16 <= left; c += kLanes16) {
      add_wide<kRows, kTokens>(last + c, job.row_stride, x + 2 * (blocks * kBlockColumns + c),
                               job.x_stride, sums);
    }
    if (c < left) {
      add_wide_tail<kRows, kTokens>(last + c, job.row_stride, x + 2 * (blocks * kBlockColumns + c),
                                    job.x_stride, left - c, sums);
    }
    finish(job, row, token, sums);
  }
};

// kPairs: two sums of two are added before they are widened.
template <bool kPairs>
struct Narrow {
  template <unsigned kRows, unsigned kTokens>
  [[gnu::target("avx2")]] static void tile(const GemmJob& job, int64_t row, int64_t token) {
    Sums<kRows, kTokens> sums;
    clear(sums);
    const int8_t* w = row_begin(job, row);
    const int8_t* x = static_cast<const int8_t*>(job.x) + token * job.x_stride;
    const __m256i ones = _mm256_set1_epi16(1);
    for (int64_t k = 0; k < job.columns; k += kBlockColumns) {
#pragma GCC unroll 8
      for (unsigned t = 0; t < kTokens; ++t) {
        const auto* values = reinterpret_cast<const __m256i*>(x + t * job.x_stride + k);
        const __m256i low = _mm256_loadu_si256(values);
        const __m256i high = _mm256_loadu_si256(values + 1);
#pragma GCC unroll 8
        for (unsigned r = 0; r < kRows; ++r) {
          const auto* weights = reinterpret_cast<const __m256i*>(w + r * job.row_stride);
          const __m256i first = _mm256_maddubs_epi16(low, _mm256_loadu_si256(weights));
          const __m256i second = _mm256_maddubs_epi16(high, _mm256_loadu_si256(weights + 1));
          __m256i& sum = sums.of[r * kTokens + t];
          if (kPairs) {
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_add_epi16(first, second), ones));
          } else {
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(first, ones));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(second, ones));
          }
        }
      }
      w += job.block_stride;
    }
    finish(job, row, token, sums);
  }
};

// Four tokens by two rows; then token by token, eight rows at a time.
template <typename Kind>
void multiply(const GemmJob& job) {
  int64_t t = 0;
  for (; t + 4 <= job.tokens; t += 4) {
    int64_t n = 0;
    for (; n + 2 <= job.rows; n += 2) Kind::template tile<2, 4>(job, n, t);
    if (n < job.rows) Kind::template tile<1, 4>(job, n, t);
  }
  for (; t < job.tokens; ++t) {
    int64_t n = 0;
    for (; n + kStreams <= job.rows; n += kStreams) Kind::template tile<kStreams, 1>(job, n, t);
    for (; n < job.rows; ++n) Kind::template tile<1, 1>(job, n, t);
  }
}

}  // namespace

void gemm_avx2_wide(const GemmJob& job) { multiply<Wide>(job); }
void gemm_avx2_narrow(const GemmJob& job) { multiply<Narrow<false>>(job); }
void gemm_avx2_narrow_pairs(const GemmJob& job) { multiply<Narrow<true>>(job); }

[[gnu::target("avx2")]] int32_t dot_avx2(const int8_t* a, const int8_t* b, int64_t length) {
  __m256i sums = _mm256_setzero_si256();
  int64_t i = 0;
  for (; i + kLanes16 <= length; i += kLanes16) {
    const __m256i va =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    const __m256i vb =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i)));
    sums = _mm256_add_epi32(sums, _mm256_madd_epi16(va, vb));
  }
  const __m256i zero = _mm256_setzero_si256();
  int32_t sum = _mm_cvtsi128_si32(sums_of_four(sums, zero, zero, zero));
  for (; i < length; ++i) sum += int32_t{a[i]} * int32_t{b[i]};
  return sum;
}

}  // namespace tidemark
#endif
