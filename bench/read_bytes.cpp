#include "read_bytes.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "spread.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tidemark {
namespace {

volatile uint64_t kept = 0;

constexpr size_t kChunk = 128;

#if defined(__x86_64__)

template <size_t kStreams>
[[gnu::target("avx512f")]] void read_wide(const std::byte* begin, size_t length, size_t ahead) {
  const size_t part = length / kStreams / kChunk * kChunk;
  __m512i sums[kStreams];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (size_t i = 0; i < part; i += kChunk) {
#pragma GCC unroll 8
    for (size_t s = 0; s < kStreams; ++s) {
      const std::byte* from = begin + s * part + i;
      if (ahead != 0) {
        const auto address = reinterpret_cast<uintptr_t>(from) + ahead;
        _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(address + 64), _MM_HINT_T0);
      }
      sums[s] = _mm512_xor_si512(sums[s], _mm512_loadu_si512(from));
      sums[s] = _mm512_xor_si512(sums[s], _mm512_loadu_si512(from + 64));
    }
  }
  uint64_t words[8];
  for (size_t s = 1; s < kStreams; ++s) sums[0] = _mm512_xor_si512(sums[0], sums[s]);
  _mm512_storeu_si512(words, sums[0]);
  for (const uint64_t word : words) kept = kept ^ word;
}

template <size_t kStreams>
[[gnu::target("avx2")]] void read_half(const std::byte* begin, size_t length, size_t ahead) {
  const size_t part = length / kStreams / kChunk * kChunk;
  __m256i sums[kStreams];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (size_t i = 0; i < part; i += kChunk) {
#pragma GCC unroll 8
    for (size_t s = 0; s < kStreams; ++s) {
      const std::byte* from = begin + s * part + i;
      for (size_t line = 0; ahead != 0 && line < kChunk; line += 64) {
        const auto address = reinterpret_cast<uintptr_t>(from) + ahead + line;
        _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0);
      }
      const auto* vectors = reinterpret_cast<const __m256i*>(from);
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        sums[s] = _mm256_xor_si256(sums[s], _mm256_loadu_si256(vectors + v));
      }
    }
  }
  uint64_t words[4];
  for (size_t s = 1; s < kStreams; ++s) sums[0] = _mm256_xor_si256(sums[0], sums[s]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), sums[0]);
  for (const uint64_t word : words) kept = kept ^ word;
}

template <size_t kStreams>
void read_streams(const std::byte* begin, size_t length, size_t ahead) {
  if (__builtin_cpu_supports("avx512f")) return read_wide<kStreams>(begin, length, ahead);
  return read_half<kStreams>(begin, length, ahead);
}

#else

template <size_t kStreams>
void read_streams(const std::byte* begin, size_t length, size_t /*ahead*/) {
  const size_t part = length / kStreams / kChunk * kChunk;
  uint64_t sum = 0;
  for (size_t i = 0; i < part; i += sizeof(uint64_t)) {
    for (size_t s = 0; s < kStreams; ++s) {
      uint64_t word = 0;
      std::copy_n(begin + s * part + i, sizeof word, reinterpret_cast<std::byte*>(&word));
      sum ^= word;
    }
  }
  kept = kept ^ sum;
}

#endif

}  // namespace

void read_bytes(std::span<const std::byte> bytes, const ReadPlan& plan) {
  const auto ahead = static_cast<size_t>(plan.prefetch_bytes);
  if (plan.streams == 8) {
    read_streams<8>(bytes.data(), bytes.size(), ahead);
  } else if (plan.streams == 4) {
    read_streams<4>(bytes.data(), bytes.size(), ahead);
  } else {
    read_streams<1>(bytes.data(), bytes.size(), ahead);
  }
}

ReadPlan best_read_plan(std::span<const std::byte> bytes) {
  constexpr int kTries = 4;
  ReadPlan best;
  double least = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < kTries; ++turn) {
    for (const int streams : {1, 4, 8}) {
      for (const long ahead : {0L, 512L, 1024L, 2048L, 8192L}) {
        const ReadPlan plan{streams, ahead};
        const double start = cpu_seconds();
        read_bytes(bytes, plan);
        const double seconds = cpu_seconds() - start;
        if (turn > 0 && seconds < least) {
          least = seconds;
          best = plan;
        }
      }
    }
  }
  return best;
}

}  // namespace tidemark
