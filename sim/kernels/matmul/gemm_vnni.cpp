// Products on AVX-512 with VNNI: vpdpbusd adds four products, unsigned by signed, to each of
// sixteen 32-bit lanes, and wraps. A tile is R rows by T tokens, each pair with a vector of partial
// sums of its own; loads are R + T for R x T products, so 4 x 6 keeps both multipliers busy.
#include "sim/kernels/matmul/gemm_kernels.h"

#if defined(__x86_64__)
#if !defined(__clang__)  // GCC 12's own header starts results from a variable it never sets
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#define TIDEMARK_VNNI gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")

namespace tidemark {
namespace {

constexpr int64_t kTileRows = 4;
constexpr int64_t kMostTokens = 6;
// One token is bound by memory: eight rows are eight streams, each asked for so far ahead.
constexpr unsigned kStreams = 8;
constexpr int64_t kBlocksAhead = 12;

inline const int8_t* row_begin(const GemmJob& job, int64_t row) {
  return job.weights + row / kGroupRows * job.group_stride + row % kGroupRows * job.row_stride;
}

// Lane i: the sum of v_i.
[[TIDEMARK_VNNI]] inline __m128i sums_of_four(__m512i v0, __m512i v1, __m512i v2, __m512i v3) {
  const __m512i v01 =
      _mm512_add_epi32(_mm512_unpacklo_epi32(v0, v1), _mm512_unpackhi_epi32(v0, v1));
  const __m512i v23 =
      _mm512_add_epi32(_mm512_unpacklo_epi32(v2, v3), _mm512_unpackhi_epi32(v2, v3));
  const __m512i all =
      _mm512_add_epi32(_mm512_unpacklo_epi64(v01, v23), _mm512_unpackhi_epi64(v01, v23));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// Loops over rows and tokens are written as recursion over template arguments: with constant
// indices the compiler keeps every vector in a register.
template <unsigned kRows, unsigned kTokens>
struct Sums {
  __m512i of[kRows][kTokens];
};

template <unsigned kRows>
struct Weights {
  __m512i of[kRows];
};

template <unsigned kRows, unsigned kTokens, unsigned i = 0>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void clear(Sums<kRows, kTokens>& sums) {
  if constexpr (i < kRows * kTokens) {
    sums.of[i / kTokens][i % kTokens] = _mm512_setzero_si512();
    clear<kRows, kTokens, i + 1>(sums);
  }
}

// 64 columns of each row, made unsigned (w + 128) if kFlip.
template <unsigned kRows, bool kFlip, bool kAsk, unsigned r = 0>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void load(const int8_t* from, int64_t row_stride,
                                                       __mmask64 mask, int64_t ahead,
                                                       Weights<kRows>& w) {
  if constexpr (r < kRows) {
    const int8_t* row = from + r * row_stride;
    // Past the end of the matrix this is an address that is never read.
    if (kAsk) {
      _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(row) +
                                                 static_cast<uintptr_t>(ahead)),
                   _MM_HINT_T0);
    }
    w.of[r] = mask == ~uint64_t{0} ? _mm512_loadu_si512(row) : _mm512_maskz_loadu_epi8(mask, row);
    if (kFlip) w.of[r] = _mm512_xor_si512(w.of[r], _mm512_set1_epi8(-128));
    load<kRows, kFlip, kAsk, r + 1>(from, row_stride, mask, ahead, w);
  }
}

// Of the two factors one is unsigned: the weights if kFlip, else the activations.
template <unsigned kRows, unsigned kTokens, bool kFlip, unsigned t, unsigned r = 0>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void add_token(const Weights<kRows>& w, __m512i values,
                                                            Sums<kRows, kTokens>& sums) {
  if constexpr (r < kRows) {
    // sum += unsigned . signed. Said in assembly, as through the intrinsic GCC 12 takes two
    // registers for each sum and runs out of them.
    asm("vpdpbusd %2, %1, %0"
        : "+v"(sums.of[r][t])
        : "v"(kFlip ? w.of[r] : values), "v"(kFlip ? values : w.of[r]));
    add_token<kRows, kTokens, kFlip, t, r + 1>(w, values, sums);
  }
}

template <unsigned kRows, unsigned kTokens, bool kFlip, unsigned t = 0>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void add_block(const Weights<kRows>& w,
                                                            const int8_t* x, int64_t x_stride,
                                                            Sums<kRows, kTokens>& sums) {
  if constexpr (t < kTokens) {
    add_token<kRows, kTokens, kFlip, t>(w, _mm512_loadu_si512(x + t * x_stride), sums);
    add_block<kRows, kTokens, kFlip, t + 1>(w, x, x_stride, sums);
  }
}

// Blocks [begin, end) of columns, all whole.
template <unsigned kRows, unsigned kTokens, bool kFlip>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void add_blocks(const GemmJob& job, const int8_t* row,
                                                             const int8_t* x, int64_t begin,
                                                             int64_t end, int64_t ahead,
                                                             Sums<kRows, kTokens>& sums) {
  const int64_t row_stride = job.row_stride;
  const int64_t x_stride = job.x_stride;
  const int64_t block_stride = job.block_stride;
  row += begin * block_stride;
  x += begin * kBlockColumns;
  for (int64_t b = begin; b < end; ++b) {
    Weights<kRows> w;
    load<kRows, kFlip, kTokens == 1>(row, row_stride, ~uint64_t{0}, ahead, w);
    add_block<kRows, kTokens, kFlip>(w, x, x_stride, sums);
    row += block_stride;
    x += kBlockColumns;
  }
}

// The columns that are no whole block. Past them x is zero.
template <unsigned kRows, unsigned kTokens, bool kFlip>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void add_tail(const GemmJob& job, const int8_t* row,
                                                           const int8_t* x,
                                                           Sums<kRows, kTokens>& sums) {
  const int64_t blocks = job.columns / kBlockColumns;
  const __mmask64 mask = (uint64_t{1} << (job.columns % kBlockColumns)) - 1;
  Weights<kRows> w;
  load<kRows, kFlip, false>(row + blocks * job.block_stride, job.row_stride, mask, 0, w);
  add_block<kRows, kTokens, kFlip>(w, x + blocks * kBlockColumns, job.x_stride, sums);
}

[[TIDEMARK_VNNI]] inline void finish_four(const GemmJob& job, int64_t row, int64_t token,
                                          __m128i sums) {
  if (job.token_terms != nullptr) {
    sums = _mm_sub_epi32(sums, _mm_set1_epi32(job.token_terms[token]));
  }
  if (job.row_sums != nullptr) {
    const __m128i of_rows = _mm_loadu_si128(reinterpret_cast<const __m128i*>(job.row_sums + row));
    sums = _mm_sub_epi32(sums, _mm_mullo_epi32(of_rows, _mm_set1_epi32(job.offset)));
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(job.out + token * job.out_stride + row), sums);
}

[[TIDEMARK_VNNI]] inline void finish_one(const GemmJob& job, int64_t row, int64_t token,
                                         __m512i sums) {
  auto sum = static_cast<uint32_t>(_mm512_reduce_add_epi32(sums));
  if (job.token_terms != nullptr) sum -= static_cast<uint32_t>(job.token_terms[token]);
  if (job.row_sums != nullptr) {
    sum -= static_cast<uint32_t>(job.row_sums[row]) * static_cast<uint32_t>(job.offset);
  }
  job.out[token * job.out_stride + row] = static_cast<int32_t>(sum);
}

template <unsigned kRows, unsigned kTokens, unsigned i = 0>
[[TIDEMARK_VNNI, gnu::always_inline]] inline void finish(const GemmJob& job, int64_t row,
                                                         int64_t token,
                                                         const Sums<kRows, kTokens>& sums) {
  constexpr unsigned kStep = kRows == 1 ? 1 : 4;
  constexpr unsigned r = i % (kRows / kStep) * kStep;
  constexpr unsigned t = i / (kRows / kStep);
  if constexpr (t < kTokens) {
    if constexpr (kStep == 1) {
      finish_one(job, row, token + t, sums.of[0][t]);
    } else {
      finish_four(
          job, row + r, token + t,
          sums_of_four(sums.of[r][t], sums.of[r + 1][t], sums.of[r + 2][t], sums.of[r + 3][t]));
    }
    finish<kRows, kTokens, i + 1>(job, row, token, sums);
  }
}

template <unsigned kRows, unsigned kTokens, bool kFlip>
[[TIDEMARK_VNNI]] void tile(const GemmJob& job, int64_t row, int64_t token) {
  Sums<kRows, kTokens> sums;
  clear(sums);
  const int8_t* w = row_begin(job, row);
  const int8_t* x = static_cast<const int8_t*>(job.x) + token * job.x_stride;
  const int64_t blocks = job.columns / kBlockColumns;
  if constexpr (kTokens == 1) {
    // Near the end of a row the next rows' beginnings are asked for.
    const int64_t turn = blocks < kBlocksAhead ? 0 : blocks - kBlocksAhead;
    const int64_t to_next = row_begin(job, row + kRows) - w - turn * job.block_stride;
    add_blocks<kRows, kTokens, kFlip>(job, w, x, 0, turn, kBlocksAhead * job.block_stride, sums);
    add_blocks<kRows, kTokens, kFlip>(job, w, x, turn, blocks, to_next, sums);
  } else {
    add_blocks<kRows, kTokens, kFlip>(job, w, x, 0, blocks, 0, sums);
  }
  if (job.columns % kBlockColumns != 0) add_tail<kRows, kTokens, kFlip>(job, w, x, sums);
  finish(job, row, token, sums);
}

// While tokens pass over this job's rows, the rows behind them come near, a share with every pass:
// they are the next job's.
[[TIDEMARK_VNNI]] inline void ask_for_next(const GemmJob& job, int64_t row, int64_t pass,
                                           int64_t passes) {
  const int64_t blocks = job.columns / kBlockColumns;
  const auto next = reinterpret_cast<uintptr_t>(row_begin(job, row)) +
                    static_cast<uintptr_t>(job.rows / kGroupRows * job.group_stride);
  for (int64_t b = pass * blocks / passes; b < (pass + 1) * blocks / passes; ++b) {
    for (int64_t r = 0; r < kTileRows; ++r) {
      const auto ahead = static_cast<uintptr_t>(b * job.block_stride + r * job.row_stride);
      _mm_prefetch(reinterpret_cast<const char*>(next + ahead), _MM_HINT_T1);
    }
  }
}

template <bool kFlip>
void multiply_one(const GemmJob& job, int64_t token) {
  int64_t n = 0;
  for (; n + kStreams <= job.rows; n += kStreams) tile<kStreams, 1, kFlip>(job, n, token);
  for (; n < job.rows; ++n) tile<1, 1, kFlip>(job, n, token);
}

template <bool kFlip>
void multiply(const GemmJob& job) {
  using Tile = void (*)(const GemmJob&, int64_t, int64_t);
  constexpr Tile kFour[] = {tile<4, 1, kFlip>, tile<4, 2, kFlip>, tile<4, 3, kFlip>,
                            tile<4, 4, kFlip>, tile<4, 5, kFlip>, tile<4, 6, kFlip>};
  constexpr Tile kOne[] = {tile<1, 1, kFlip>, tile<1, 2, kFlip>, tile<1, 3, kFlip>,
                           tile<1, 4, kFlip>, tile<1, 5, kFlip>, tile<1, 6, kFlip>};
  if (job.tokens == 1) return multiply_one<kFlip>(job, 0);
  const int64_t passes = (job.tokens + kMostTokens - 1) / kMostTokens;
  int64_t t = 0;
  for (int64_t pass = 0; pass < passes; ++pass) {
    // As even as can be: 8 tokens are 4 + 4, not 6 + 2.
    const int64_t tokens = (job.tokens - t + passes - pass - 1) / (passes - pass);
    int64_t n = 0;
    for (; n + kTileRows <= job.rows; n += kTileRows) {
      ask_for_next(job, n, pass, passes);
      kFour[tokens - 1](job, n, t);
    }
    for (; n < job.rows; ++n) kOne[tokens - 1](job, n, t);
    t += tokens;
  }
}

}  // namespace

void gemm_vnni_rows(const GemmJob& job) { multiply<true>(job); }
void gemm_vnni_packed(const GemmJob& job) { multiply<false>(job); }

// (a + 128) . b - 128 sum(b)
[[TIDEMARK_VNNI]] int32_t dot_vnni(const int8_t* a, const int8_t* b, int64_t length) {
  const __m512i flip = _mm512_set1_epi8(-128);
  __m512i products = _mm512_setzero_si512();
  __m512i shifted = _mm512_setzero_si512();
  for (int64_t i = 0; i < length; i += kBlockColumns) {
    const int64_t left = length - i;
    const __mmask64 mask = left >= kBlockColumns ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    const __m512i va = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, a + i), flip);
    const __m512i vb = _mm512_maskz_loadu_epi8(mask, b + i);
    products = _mm512_dpbusd_epi32(products, va, vb);
    shifted = _mm512_dpbusd_epi32(shifted, flip, vb);  // as unsigned, 128 each
  }
  return _mm512_reduce_add_epi32(_mm512_sub_epi32(products, shifted));
}

}  // namespace tidemark
#endif
