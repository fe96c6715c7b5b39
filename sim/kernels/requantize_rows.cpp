#include "sim/kernels/requantize_rows.h"

#include <cstddef>

#include "planner/base/check.h"
#include "sim/kernels/isa.h"

#if defined(__x86_64__)
#if !defined(__clang__)  // GCC 12's own header starts results from a variable it never sets
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace tidemark {
namespace {

#if defined(__x86_64__)

// A factor is eight bytes, multiplier below and shift above, so eight of them are a vector of
// 64-bit lanes. A multiplier is not negative: then the high product, nudged and truncated as
// requantize.h has it, is (x m + 2^30) >> 31 for either sign of x.
static_assert(sizeof(QuantizedMultiplier) == 8 && offsetof(QuantizedMultiplier, shift) == 4);

constexpr size_t kLanes = 8;

[[gnu::target("avx512f")]] void requantize_eight(const int32_t* sums,
                                                 const QuantizedMultiplier* factors, int8_t* out) {
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i zero = _mm512_setzero_si512();
  const __m512i factor = _mm512_loadu_si512(factors);
  const __m512i shift = _mm512_srai_epi64(factor, 32);
  const __m512i left = _mm512_max_epi64(shift, zero);
  const __m512i right = _mm512_sub_epi64(left, shift);
  __m512i x = _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums)));
  x = _mm512_sllv_epi64(x, left);
  x = _mm512_min_epi64(x, _mm512_set1_epi64(INT32_MAX));
  x = _mm512_max_epi64(x, _mm512_set1_epi64(INT32_MIN));
  const __m512i nudged =
      _mm512_add_epi64(_mm512_mul_epi32(x, factor), _mm512_set1_epi64(int64_t{1} << 30));
  const __m512i high = _mm512_srai_epi64(nudged, 31);
  const __m512i mask = _mm512_sub_epi64(_mm512_sllv_epi64(one, right), one);
  const __m512i half = _mm512_srli_epi64(mask, 1);
  const __m512i threshold =
      _mm512_mask_add_epi64(half, _mm512_cmplt_epi64_mask(high, zero), half, one);
  const __m512i down = _mm512_srav_epi64(high, right);
  const __mmask8 up = _mm512_cmpgt_epi64_mask(_mm512_and_si512(high, mask), threshold);
  const __m128i bytes = _mm512_cvtsepi64_epi8(_mm512_mask_add_epi64(down, up, down, one));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), bytes);
}

bool has_wide_lanes() { return isa_in_use() == Isa::kAvx512Vnni || isa_in_use() == Isa::kAmxInt8; }

#endif

}  // namespace

void requantize_each(std::span<const int32_t> sums, std::span<const QuantizedMultiplier> factors,
                     std::span<int8_t> out) {
  check(sums.size() == factors.size() && sums.size() == out.size(),
        "a sum, a factor and a place for each output");
  size_t i = 0;
#if defined(__x86_64__)
  if (has_wide_lanes()) {
    for (; i + kLanes <= sums.size(); i += kLanes) {
      requantize_eight(sums.data() + i, factors.data() + i, out.data() + i);
    }
  }
#endif
  for (; i < sums.size(); ++i) out[i] = requantize(sums[i], factors[i]);
}

}  // namespace tidemark
