#include "sim/kernels/attention/kv_loops.h"

#include <array>

#include "sim/kernels/avx_steps.h"
#include "sim/kernels/isa.h"

namespace tidemark {

#ifdef TIDEMARK_X86_KERNELS

namespace {

constexpr int64_t kLanes = kKvLanes;

const std::byte* cell(const KvHead& head, int64_t j) { return head.first + j * head.stride; }

// stored_scale of eight rows: not finite or not positive is 0.
TIDEMARK_AVX2 inline __m256 eight_scales(const std::byte* scale, int64_t stride) {
  const __m128i bits = avx::eight_words(scale, stride);
  const __m128i positive = _mm_cmpgt_epi16(bits, _mm_setzero_si128());
  const __m128i finite = _mm_cmpgt_epi16(_mm_set1_epi16(0x7C00), bits);
  return _mm256_cvtph_ps(_mm_and_si128(bits, _mm_and_si128(positive, finite)));
}

struct DotAvx2 {
  TIDEMARK_AVX2 static inline __m256i start(const int8_t* /*q*/, int64_t /*length*/) {
    return _mm256_setzero_si256();
  }
  TIDEMARK_AVX2 static inline __m256i multiply(__m256i sums, const std::byte* k, const int8_t* q,
                                               int64_t length) {
    for (int64_t i = 0; i + 32 <= length; i += 32) {
      const __m256i products = avx::multiply_signed(avx::load32(k + i), avx::load32(q + i));
      sums = _mm256_add_epi32(sums, products);
    }
    return sums;
  }
};

// (k + 128) . q, unsigned by signed, less 128 sum(q), which is the same for every cell.
struct DotVnni {
  static constexpr auto kTop = static_cast<char>(0x80);

  TIDEMARK_VNNI static inline __m256i start(const int8_t* q, int64_t length) {
    __m256i excess = _mm256_setzero_si256();
    for (int64_t i = 0; i + 32 <= length; i += 32) {
      excess = _mm256_dpbusd_epi32(excess, _mm256_set1_epi8(kTop), avx::load32(q + i));
    }
    return _mm256_sub_epi32(_mm256_setzero_si256(), excess);
  }
  TIDEMARK_VNNI static inline __m256i multiply(__m256i sums, const std::byte* k, const int8_t* q,
                                               int64_t length) {
    for (int64_t i = 0; i + 32 <= length; i += 32) {
      const __m256i u = _mm256_xor_si256(avx::load32(k + i), _mm256_set1_epi8(kTop));
      sums = _mm256_dpbusd_epi32(sums, u, avx::load32(q + i));
    }
    return sums;
  }
};

int32_t dot_of_rest(const std::byte* k, const int8_t* q, int64_t length) {
  int32_t sum = 0;
  for (int64_t i = length / 32 * 32; i < length; ++i) {
    sum += int{static_cast<int8_t>(k[i])} * int{q[i]};
  }
  return sum;
}

TIDEMARK_AVX2 inline void fetch_ahead(const std::byte* row, int64_t bytes) {
  for (int64_t i = 0; i < bytes + 63; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(row + i), _MM_HINT_T0);
  }
}

TIDEMARK_AVX2 inline void store_dots(const KvHead& head, const int8_t* q, int64_t j, __m256i dots,
                                     float* out) {
  if (head.length % 32 != 0) {
    std::array<int32_t, kLanes> whole{};
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(whole.data()), dots);
    for (int64_t i = 0; i < kLanes; ++i) {
      whole[static_cast<size_t>(i)] += dot_of_rest(cell(head, j + i), q, head.length);
    }
    dots = avx::load32(whole.data());
  }
  const __m256 scales = eight_scales(cell(head, j) + head.scale, head.stride);
  _mm256_storeu_ps(out + j, _mm256_mul_ps(_mm256_cvtepi32_ps(dots), scales));
}

// Eight cells at a time; the caller sees to the rest. Once for each instruction set, see
// avx_steps.h.
#define TIDEMARK_DOT_LOOP(Dot, head, q, out)                                                   \
  const __m256i start = Dot::start(q, head.length);                                            \
  for (int64_t j = 0; j + kLanes <= head.cells; j += kLanes) {                                 \
    const std::byte* k = cell(head, j);                                                        \
    const int64_t s = head.stride;                                                             \
    for (int64_t i = 0; i < kLanes; ++i) fetch_ahead(k + (kAhead + i) * s, head.length);       \
    const __m256i first = avx::sums_of_four(Dot::multiply(start, k, q, head.length),           \
                                            Dot::multiply(start, k + s, q, head.length),       \
                                            Dot::multiply(start, k + 2 * s, q, head.length),   \
                                            Dot::multiply(start, k + 3 * s, q, head.length));  \
    const __m256i second = avx::sums_of_four(Dot::multiply(start, k + 4 * s, q, head.length),  \
                                             Dot::multiply(start, k + 5 * s, q, head.length),  \
                                             Dot::multiply(start, k + 6 * s, q, head.length),  \
                                             Dot::multiply(start, k + 7 * s, q, head.length)); \
    store_dots(head, q, j, avx::join_halves(first, second), out);                              \
  }

constexpr int64_t kAhead = 32;  // cells; a prefetch past the cache's end is harmless

TIDEMARK_AVX2 void int8_dots_avx2(const KvHead& head, const int8_t* q,
                                  float* out){TIDEMARK_DOT_LOOP(DotAvx2, head, q, out)}

TIDEMARK_VNNI void int8_dots_vnni(const KvHead& head, const int8_t* q,
                                  float* out){TIDEMARK_DOT_LOOP(DotVnni, head, q, out)}

TIDEMARK_AVX2 inline __m256 eight_values(const int8_t* from) {
  const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

TIDEMARK_AVX2 inline __m256 eight_halves(const std::byte* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// kv_dot's eight partial sums are the lanes; they are added in order.
TIDEMARK_AVX2 void f16_dots_avx2(const KvHead& head, const int8_t* q, float* out) {
  for (int64_t j = 0; j < head.cells; ++j) {
    const std::byte* k = cell(head, j);
    fetch_ahead(k + kAhead * head.stride, 2 * head.length);
    __m256 partial = _mm256_setzero_ps();
    for (int64_t i = 0; i < head.length; i += kLanes) {
      const __m256 product = _mm256_mul_ps(eight_values(q + i), eight_halves(k + 2 * i));
      partial = _mm256_add_ps(partial, product);
    }
    std::array<float, kLanes> lanes{};
    _mm256_storeu_ps(lanes.data(), partial);
    float sum = 0.0F;
    for (const float lane : lanes) sum += lane;
    out[j] = sum;
  }
}

struct Int8Values {
  static constexpr int64_t kBytes = 1;
  TIDEMARK_AVX2 static inline __m256 load(const std::byte* v) {
    return eight_values(reinterpret_cast<const int8_t*>(v));
  }
};

struct HalfValues {
  static constexpr int64_t kBytes = 2;
  TIDEMARK_AVX2 static inline __m256 load(const std::byte* v) { return eight_halves(v); }
};

// 32 elements of all cells, in registers.
template <typename Values>
TIDEMARK_AVX2 inline void add_32(const KvHead& head, int64_t d, const float* factors, float* sums) {
  __m256 a = _mm256_loadu_ps(sums);
  __m256 b = _mm256_loadu_ps(sums + 8);
  __m256 c = _mm256_loadu_ps(sums + 16);
  __m256 e = _mm256_loadu_ps(sums + 24);
  for (int64_t j = 0; j < head.cells; ++j) {
    constexpr int64_t kStep = kLanes * Values::kBytes;
    const std::byte* v = cell(head, j) + d * Values::kBytes;
    fetch_ahead(v + kAhead * head.stride, 1);
    const __m256 factor = _mm256_set1_ps(factors[j]);
    a = _mm256_add_ps(a, _mm256_mul_ps(factor, Values::load(v)));
    b = _mm256_add_ps(b, _mm256_mul_ps(factor, Values::load(v + kStep)));
    c = _mm256_add_ps(c, _mm256_mul_ps(factor, Values::load(v + 2 * kStep)));
    e = _mm256_add_ps(e, _mm256_mul_ps(factor, Values::load(v + 3 * kStep)));
  }
  _mm256_storeu_ps(sums, a);
  _mm256_storeu_ps(sums + 8, b);
  _mm256_storeu_ps(sums + 16, c);
  _mm256_storeu_ps(sums + 24, e);
}

template <typename Values>
TIDEMARK_AVX2 inline void add_8(const KvHead& head, int64_t d, const float* factors, float* sums) {
  __m256 a = _mm256_loadu_ps(sums);
  for (int64_t j = 0; j < head.cells; ++j) {
    const __m256 v = Values::load(cell(head, j) + d * Values::kBytes);
    a = _mm256_add_ps(a, _mm256_mul_ps(_mm256_set1_ps(factors[j]), v));
  }
  _mm256_storeu_ps(sums, a);
}

template <typename Values>
TIDEMARK_AVX2 void add_whole(const KvHead& head, const float* factors, float* sums) {
  int64_t d = 0;
  for (; d + 32 <= head.length; d += 32) add_32<Values>(head, d, factors, sums + d);
  for (; d + 8 <= head.length; d += 8) add_8<Values>(head, d, factors, sums + d);
}

// GCC 12 takes the unmasked forms for reads of something uninitialised.
constexpr __mmask16 kAll = 0xFFFF;

TIDEMARK_VNNI inline __m512 sixteen(Int8Values /*of*/, const std::byte* v) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(v));
  const __m512i values = _mm512_maskz_cvtepi8_epi32(kAll, bytes);
  return _mm512_maskz_cvtepi32_ps(kAll, values);
}

TIDEMARK_VNNI inline __m512 sixteen(HalfValues /*of*/, const std::byte* v) {
  return _mm512_maskz_cvtph_ps(kAll, avx::load32(v));
}

// 64 elements of all cells, in registers.
template <typename Values>
TIDEMARK_VNNI inline void add_64(const KvHead& head, int64_t d, const float* factors, float* sums) {
  constexpr int64_t kStep = 16 * Values::kBytes;
  __m512 a = _mm512_loadu_ps(sums);
  __m512 b = _mm512_loadu_ps(sums + 16);
  __m512 c = _mm512_loadu_ps(sums + 32);
  __m512 e = _mm512_loadu_ps(sums + 48);
  for (int64_t j = 0; j < head.cells; ++j) {
    const std::byte* v = cell(head, j) + d * Values::kBytes;
    fetch_ahead(v + kAhead * head.stride, 4 * kStep);
    const __m512 factor = _mm512_set1_ps(factors[j]);
    a = _mm512_add_ps(a, _mm512_mul_ps(factor, sixteen(Values{}, v)));
    b = _mm512_add_ps(b, _mm512_mul_ps(factor, sixteen(Values{}, v + kStep)));
    c = _mm512_add_ps(c, _mm512_mul_ps(factor, sixteen(Values{}, v + 2 * kStep)));
    e = _mm512_add_ps(e, _mm512_mul_ps(factor, sixteen(Values{}, v + 3 * kStep)));
  }
  _mm512_storeu_ps(sums, a);
  _mm512_storeu_ps(sums + 16, b);
  _mm512_storeu_ps(sums + 32, c);
  _mm512_storeu_ps(sums + 48, e);
}

template <typename Values>
TIDEMARK_VNNI void add_whole_512(const KvHead& head, const float* factors, float* sums) {
  int64_t d = 0;
  for (; d + 64 <= head.length; d += 64) add_64<Values>(head, d, factors, sums + d);
  for (; d + 32 <= head.length; d += 32) add_32<Values>(head, d, factors, sums + d);
  for (; d + 8 <= head.length; d += 8) add_8<Values>(head, d, factors, sums + d);
}

TIDEMARK_AVX2 void factors_avx2(const KvHead& head, const float* weights, float* factors) {
  for (int64_t j = 0; j + kLanes <= head.cells; j += kLanes) {
    const __m256 scales = eight_scales(cell(head, j) + head.scale, head.stride);
    _mm256_storeu_ps(factors + j, _mm256_mul_ps(_mm256_loadu_ps(weights + j), scales));
  }
}

constexpr KvLoops kAvx2Loops{int8_dots_avx2, f16_dots_avx2, add_whole<Int8Values>,
                             add_whole<HalfValues>, factors_avx2};
constexpr KvLoops kVnniLoops{int8_dots_vnni, f16_dots_avx2, add_whole_512<Int8Values>,
                             add_whole_512<HalfValues>, factors_avx2};

}  // namespace

const KvLoops* kv_loops() {
  static const bool has_half = __builtin_cpu_supports("f16c") != 0;
  const Isa isa = isa_in_use();
  if (has_half && (isa == Isa::kAvx512Vnni || isa == Isa::kAmxInt8)) return &kVnniLoops;
  if (has_half && isa == Isa::kAvx2) return &kAvx2Loops;
  return nullptr;
}

#else

const KvLoops* kv_loops() { return nullptr; }

#endif

}  // namespace tidemark
