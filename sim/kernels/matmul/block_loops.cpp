#include "sim/kernels/matmul/block_loops.h"

#include <cmath>
#include <cstring>

#include "sim/kernels/avx_steps.h"
#include "sim/kernels/half.h"
#include "sim/kernels/isa.h"

namespace tidemark {
namespace {

constexpr int64_t kValues = 32;
constexpr int64_t kQ8Bytes = 34;
constexpr int64_t kQ4Bytes = 18;

uint16_t scale_bits(const std::byte* block) {
  uint16_t bits = 0;
  std::memcpy(&bits, block, sizeof bits);
  return (bits & 0x7C00U) == 0x7C00U ? uint16_t{0} : bits;  // not finite: 0
}

int low(std::byte packed) { return std::to_integer<int>(packed) & 15; }
int high(std::byte packed) { return std::to_integer<int>(packed) >> 4; }

void q8_0_baseline(const std::byte* row, const int8_t* x, int64_t blocks, float* lanes) {
  for (int64_t b = 0; b < blocks; ++b, row += kQ8Bytes, x += kValues) {
    int32_t dot = 0;
    for (int64_t i = 0; i < kValues; ++i) dot += int{static_cast<int8_t>(row[2 + i])} * int{x[i]};
    lanes[b % kBlockLanes] += static_cast<float>(dot) * half_to_float(scale_bits(row));
  }
}

void q4_0_baseline(const std::byte* row, const int8_t* x, int64_t blocks, float* lanes) {
  for (int64_t b = 0; b < blocks; ++b, row += kQ4Bytes, x += kValues) {
    int32_t dot = 0;
    for (int64_t i = 0; i < kValues / 2; ++i) {
      dot += (low(row[2 + i]) - 8) * int{x[i]} + (high(row[2 + i]) - 8) * int{x[i + kValues / 2]};
    }
    lanes[b % kBlockLanes] += static_cast<float>(dot) * half_to_float(scale_bits(row));
  }
}

int32_t int4_baseline(const std::byte* row, const int8_t* x, int64_t groups) {
  int32_t dot = 0;
  for (int64_t i = 0; i < groups * kValues / 2;
       ++i) {  // q + 8 is the nibble with its top bit turned
    dot += ((low(row[i]) ^ 8) - 8) * int{x[2 * i]} + ((high(row[i]) ^ 8) - 8) * int{x[2 * i + 1]};
  }
  return dot;
}

#ifdef TIDEMARK_X86_KERNELS

using avx::join_halves;
using avx::load32;
using avx::multiply_offset;
using avx::multiply_signed;
using avx::sums_of_four;

// Sixteen bytes of nibbles as 32 values of 0 to 15: Q4_0's low ones first, then its high ones.
TIDEMARK_AVX2 inline __m256i halves(const std::byte* packed) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed));
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i upper = _mm_and_si128(_mm_srli_epi16(bytes, 4), mask);
  return _mm256_set_m128i(upper, _mm_and_si128(bytes, mask));
}

// int4's low and high ones in turn, each plus 8.
TIDEMARK_AVX2 inline __m256i pairs(const std::byte* packed) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed));
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i turned = _mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(0x88)));
  const __m128i lower = _mm_and_si128(turned, mask);
  const __m128i upper = _mm_and_si128(_mm_srli_epi16(turned, 4), mask);
  return _mm256_set_m128i(_mm_unpackhi_epi8(lower, upper), _mm_unpacklo_epi8(lower, upper));
}

// Eight partial sums of (n - 8) x, n in [0, 15]: 2 x 23 x 128 fits 16 bits, nothing saturates.
TIDEMARK_AVX2 inline __m256i multiply_nibbles(__m256i n, __m256i x) {
  const __m256i products = _mm256_maddubs_epi16(n, x);
  const __m256i eights = _mm256_maddubs_epi16(_mm256_set1_epi8(8), x);
  return _mm256_madd_epi16(_mm256_sub_epi16(products, eights), _mm256_set1_epi16(1));
}

struct Q8Avx2 {
  static constexpr int64_t kBytes = kQ8Bytes;
  TIDEMARK_AVX2 static inline __m256i multiply(const std::byte* block, const int8_t* x) {
    return multiply_signed(load32(block + 2), load32(x));
  }
};

struct Q4Avx2 {
  static constexpr int64_t kBytes = kQ4Bytes;
  TIDEMARK_AVX2 static inline __m256i multiply(const std::byte* block, const int8_t* x) {
    return multiply_nibbles(halves(block + 2), load32(x));
  }
};

struct Q8Vnni {
  static constexpr int64_t kBytes = kQ8Bytes;
  TIDEMARK_VNNI static inline __m256i multiply(const std::byte* block, const int8_t* x) {
    constexpr auto kTop = static_cast<char>(0x80);
    return multiply_offset(_mm256_xor_si256(load32(block + 2), _mm256_set1_epi8(kTop)), load32(x),
                           kTop);
  }
};

struct Q4Vnni {
  static constexpr int64_t kBytes = kQ4Bytes;
  TIDEMARK_VNNI static inline __m256i multiply(const std::byte* block, const int8_t* x) {
    return multiply_offset(halves(block + 2), load32(x), 8);
  }
};

// The scales of eight blocks `bytes` apart.
TIDEMARK_AVX2 inline __m256 eight_scales(const std::byte* row, int64_t bytes) {
  const __m128i bits = avx::eight_words(row, bytes);
  const __m128i exponent = _mm_set1_epi16(0x7C00);
  const __m128i not_finite = _mm_cmpeq_epi16(_mm_and_si128(bits, exponent), exponent);
  return _mm256_cvtph_ps(_mm_andnot_si128(not_finite, bits));
}

TIDEMARK_AVX2 inline void add_terms(__m256i dots, __m256 scales, float* lanes) {
  const __m256 terms = _mm256_mul_ps(_mm256_cvtepi32_ps(dots), scales);
  _mm256_storeu_ps(lanes, _mm256_add_ps(_mm256_loadu_ps(lanes), terms));
}

TIDEMARK_AVX2 inline int32_t sum_of_lanes(__m256i v) {
  const __m256i once = sums_of_four(v, v, v, v);
  return _mm256_extract_epi32(once, 0) + _mm256_extract_epi32(once, 4);
}

TIDEMARK_AVX2 inline void add_one(__m256i products, const std::byte* block, float* lane) {
  *lane += static_cast<float>(sum_of_lanes(products)) * half_to_float(scale_bits(block));
}

// The loop over eight blocks at a time and then over single ones, once for each instruction set:
// a function must be of its callee's set for the callee to become a part of it.
#define TIDEMARK_BLOCK_LOOP(Block, row, x, blocks, lanes)                                  \
  constexpr int64_t kBytes = Block::kBytes;                                                \
  int64_t b = 0;                                                                           \
  for (; b + kBlockLanes <= blocks; b += kBlockLanes) {                                    \
    const std::byte* w = row + b * kBytes;                                                 \
    const int8_t* v = x + b * kValues;                                                     \
    const __m256i first =                                                                  \
        sums_of_four(Block::multiply(w, v), Block::multiply(w + kBytes, v + kValues),      \
                     Block::multiply(w + 2 * kBytes, v + 2 * kValues),                     \
                     Block::multiply(w + 3 * kBytes, v + 3 * kValues));                    \
    const __m256i second = sums_of_four(Block::multiply(w + 4 * kBytes, v + 4 * kValues),  \
                                        Block::multiply(w + 5 * kBytes, v + 5 * kValues),  \
                                        Block::multiply(w + 6 * kBytes, v + 6 * kValues),  \
                                        Block::multiply(w + 7 * kBytes, v + 7 * kValues)); \
    add_terms(join_halves(first, second), eight_scales(w, kBytes), lanes);                 \
  }                                                                                        \
  for (; b < blocks; ++b) {                                                                \
    add_one(Block::multiply(row + b * kBytes, x + b * kValues), row + b * kBytes,          \
            lanes + b % kBlockLanes);                                                      \
  }

template <typename Block>
TIDEMARK_AVX2 void blocks_avx2(const std::byte* row, const int8_t* x, int64_t blocks,
                               float* lanes) {
  TIDEMARK_BLOCK_LOOP(Block, row, x, blocks, lanes)
}

template <typename Block>
TIDEMARK_VNNI void blocks_vnni(const std::byte* row, const int8_t* x, int64_t blocks,
                               float* lanes){TIDEMARK_BLOCK_LOOP(Block, row, x, blocks, lanes)}

TIDEMARK_AVX2 int32_t int4_avx2(const std::byte* row, const int8_t* x, int64_t groups) {
  __m256i sums = _mm256_setzero_si256();
  for (int64_t g = 0; g < groups; ++g) {
    const __m256i w = pairs(row + g * kValues / 2);
    sums = _mm256_add_epi32(sums, multiply_nibbles(w, load32(x + g * kValues)));
  }
  return sum_of_lanes(sums);
}

TIDEMARK_VNNI int32_t int4_vnni(const std::byte* row, const int8_t* x, int64_t groups) {
  __m256i sums = _mm256_setzero_si256();
  __m256i eights = _mm256_setzero_si256();
  for (int64_t g = 0; g < groups; ++g) {
    const __m256i values = load32(x + g * kValues);
    sums = _mm256_dpbusd_epi32(sums, pairs(row + g * kValues / 2), values);
    eights = _mm256_dpbusd_epi32(eights, _mm256_set1_epi8(8), values);
  }
  return sum_of_lanes(_mm256_sub_epi32(sums, eights));
}

TIDEMARK_VNNI void panel_vnni(const PanelBlock* panel, const int8_t* x, const int32_t* excess,
                              int64_t blocks, float* lanes) {
  constexpr int64_t kQuads = kValues / 4;
  for (int64_t b = 0; b < blocks; ++b, x += kValues) {
    __m512i dots = _mm512_set1_epi32(-excess[b]);
    for (int64_t quad = 0; quad < kQuads; ++quad) {
      int32_t four = 0;
      std::memcpy(&four, x + 4 * quad, sizeof four);
      const __m512i values = _mm512_load_si512(panel[b].values + quad * kPanelRows * 4);
      dots = _mm512_dpbusd_epi32(dots, values, _mm512_set1_epi32(four));
    }
    const __m512 terms = _mm512_mul_ps(_mm512_cvtepi32_ps(dots), _mm512_load_ps(panel[b].d));
    float* lane = lanes + b % kBlockLanes * kPanelRows;
    _mm512_store_ps(lane, _mm512_add_ps(_mm512_load_ps(lane), terms));
  }
}

constexpr BlockLoops kAvx2Loops{blocks_avx2<Q8Avx2>, blocks_avx2<Q4Avx2>, int4_avx2, nullptr};
constexpr BlockLoops kVnniLoops{blocks_vnni<Q8Vnni>, blocks_vnni<Q4Vnni>, int4_vnni, panel_vnni};

#endif

constexpr BlockLoops kBaselineLoops{q8_0_baseline, q4_0_baseline, int4_baseline, nullptr};

}  // namespace

const BlockLoops& block_loops() {
#ifdef TIDEMARK_X86_KERNELS
  static const bool has_half = __builtin_cpu_supports("f16c") != 0;
  const Isa isa = isa_in_use();
  if (has_half && (isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8)) return kVnniLoops;
  if (has_half && isa == Isa::kAvx2) return kAvx2Loops;
#endif
  return kBaselineLoops;
}

}  // namespace tidemark
