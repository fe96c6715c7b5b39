// Products on AVX2. There is no signed 8-bit product that keeps all its bits, so
//
//   wide    both sides as 16 bits: vpmaddwd adds two products exactly in 32. 16 products, 2 steps
//   narrow  vpmaddubsw adds two products in 16 bits, widened and added: 32 products, 3 steps; exact
//           only where the sum of two (pairs: of four) fits, which gemm.cpp sees to
//
// A tile is R rows by T tokens, each pair with a vector of eight partial sums of its own.
#include "sim/kernels/matmul/gemm_kernels.h"

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

// Loops over rows and tokens are written as recursion over template arguments: with constant
// indices the compiler keeps every vector in a register.
template <unsigned kRows, unsigned kTokens>
struct Sums {
  __m256i of[kRows * kTokens];  // [row][token]
};

template <unsigned kRows, unsigned kTokens, unsigned i = 0>
[[gnu::target("avx2"), gnu::always_inline]] inline void clear(Sums<kRows, kTokens>& sums) {
  if constexpr (i < kRows * kTokens) {
    sums.of[i] = _mm256_setzero_si256();
    clear<kRows, kTokens, i + 1>(sums);
  }
}

// values[i] = the sum of sums.of[i]
template <unsigned kRows, unsigned kTokens, unsigned i = 0>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_up(const Sums<kRows, kTokens>& sums,
                                                               int32_t* values) {
  if constexpr (kRows * kTokens == 1) {
    const __m256i zero = _mm256_setzero_si256();
    *values = _mm_cvtsi128_si32(sums_of_four(sums.of[0], zero, zero, zero));
  } else if constexpr (i < kRows * kTokens) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values + i),
                     sums_of_four(sums.of[i], sums.of[i + 1], sums.of[i + 2], sums.of[i + 3]));
    add_up<kRows, kTokens, i + 4>(sums, values);
  }
}

template <unsigned kRows, unsigned kTokens>
[[gnu::target("avx2"), gnu::always_inline]] inline void finish(const GemmJob& job, int64_t row,
                                                               int64_t token,
                                                               const Sums<kRows, kTokens>& sums) {
  int32_t values[kRows * kTokens];
  add_up(sums, values);
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

// Said in assembly, as GCC 12 otherwise gathers the terms of several steps before it adds them to
// the sum, and runs out of registers.
[[gnu::target("avx2"), gnu::always_inline]] inline void add_to(__m256i& sum, __m256i term) {
  asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(term));
}

template <unsigned kRows, unsigned kTokens, unsigned r, unsigned t = 0>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_wide_row(__m256i weights,
                                                                     const int8_t* x,
                                                                     int64_t x_stride,
                                                                     Sums<kRows, kTokens>& sums) {
  if constexpr (t < kTokens) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + t * x_stride));
    add_to(sums.of[r * kTokens + t], _mm256_madd_epi16(weights, values));
    add_wide_row<kRows, kTokens, r, t + 1>(weights, x, x_stride, sums);
  }
}

// 16 columns of each row from `w` on, by those of each token.
template <unsigned kRows, unsigned kTokens, unsigned r = 0>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_wide(const int8_t* w,
                                                                 int64_t row_stride,
                                                                 const int8_t* x, int64_t x_stride,
                                                                 Sums<kRows, kTokens>& sums) {
  if constexpr (r < kRows) {
    const __m256i weights =
        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + r * row_stride)));
    add_wide_row<kRows, kTokens, r>(weights, x, x_stride, sums);
    add_wide<kRows, kTokens, r + 1>(w, row_stride, x, x_stride, sums);
  }
}

// The columns that are no whole sixteen; zeros make them one.
template <unsigned kRows, unsigned kTokens>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_wide_tail(
    const int8_t* w, int64_t row_stride, const int8_t* x, int64_t x_stride, int64_t columns,
    Sums<kRows, kTokens>& sums) {
  int8_t padded[kRows][16] = {};
  for (unsigned r = 0; r < kRows; ++r) {
    std::memcpy(padded[r], w + r * row_stride, static_cast<size_t>(columns));
  }
  add_wide(padded[0], kLanes16, x, x_stride, sums);
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
    const int64_t row_stride = job.row_stride;
    const int64_t x_stride = job.x_stride;
    const int8_t* w = row_begin(job, row);
    const int8_t* x = static_cast<const int8_t*>(job.x) + token * x_stride;
    const int64_t blocks = job.columns / kBlockColumns;
    // Near the end of a row the next rows' beginnings are asked for.
    const int64_t turn = blocks < kBlocksAhead ? 0 : blocks - kBlocksAhead;
    const int64_t to_next = row_begin(job, row + kRows) - w - turn * job.block_stride;
    for (int64_t b = 0; b < blocks; ++b) {
      if (kTokens == 1) {
        const int64_t ahead = b < turn ? kBlocksAhead * job.block_stride : to_next;
        for (unsigned r = 0; r < kRows; ++r) ask_for(w + r * row_stride, ahead);
      }
      add_wide(w, row_stride, x, x_stride, sums);
      add_wide(w + 16, row_stride, x + 32, x_stride, sums);
      add_wide(w + 32, row_stride, x + 64, x_stride, sums);
      add_wide(w + 48, row_stride, x + 96, x_stride, sums);
      w += job.block_stride;
      x += 2 * kBlockColumns;
    }
    int64_t left = job.columns - blocks * kBlockColumns;
    for (; left >= kLanes16; left -= kLanes16) {
      add_wide(w, row_stride, x, x_stride, sums);
      w += kLanes16;
      x += 2 * kLanes16;
    }
    if (left > 0) add_wide_tail(w, row_stride, x, x_stride, left, sums);
    finish(job, row, token, sums);
  }
};

// 64 columns of each row by those of one token. kPairs: two sums of two are added before they are
// widened.
template <unsigned kRows, unsigned kTokens, bool kPairs, unsigned t, unsigned r = 0>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_narrow_token(
    const int8_t* w, int64_t row_stride, __m256i low, __m256i high, Sums<kRows, kTokens>& sums) {
  if constexpr (r < kRows) {
    const __m256i ones = _mm256_set1_epi16(1);
    const auto* weights = reinterpret_cast<const __m256i*>(w + r * row_stride);
    const __m256i first = _mm256_maddubs_epi16(low, _mm256_loadu_si256(weights));
    const __m256i second = _mm256_maddubs_epi16(high, _mm256_loadu_si256(weights + 1));
    __m256i& sum = sums.of[r * kTokens + t];
    if (kPairs) {
      add_to(sum, _mm256_madd_epi16(_mm256_add_epi16(first, second), ones));
    } else {
      add_to(sum, _mm256_madd_epi16(first, ones));
      add_to(sum, _mm256_madd_epi16(second, ones));
    }
    add_narrow_token<kRows, kTokens, kPairs, t, r + 1>(w, row_stride, low, high, sums);
  }
}

template <unsigned kRows, unsigned kTokens, bool kPairs, unsigned t = 0>
[[gnu::target("avx2"), gnu::always_inline]] inline void add_narrow(const int8_t* w,
                                                                   int64_t row_stride,
                                                                   const int8_t* x,
                                                                   int64_t x_stride,
                                                                   Sums<kRows, kTokens>& sums) {
  if constexpr (t < kTokens) {
    const auto* values = reinterpret_cast<const __m256i*>(x + t * x_stride);
    add_narrow_token<kRows, kTokens, kPairs, t>(w, row_stride, _mm256_loadu_si256(values),
                                                _mm256_loadu_si256(values + 1), sums);
    add_narrow<kRows, kTokens, kPairs, t + 1>(w, row_stride, x, x_stride, sums);
  }
}

template <bool kPairs>
struct Narrow {
  template <unsigned kRows, unsigned kTokens>
  [[gnu::target("avx2")]] static void tile(const GemmJob& job, int64_t row, int64_t token) {
    Sums<kRows, kTokens> sums;
    clear(sums);
    const int8_t* w = row_begin(job, row);
    const int8_t* x = static_cast<const int8_t*>(job.x) + token * job.x_stride;
    for (int64_t k = 0; k < job.columns; k += kBlockColumns) {
      add_narrow<kRows, kTokens, kPairs>(w, job.row_stride, x + k, job.x_stride, sums);
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
