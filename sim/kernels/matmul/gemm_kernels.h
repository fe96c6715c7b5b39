// What stands between gemm.cpp and the kernels of each level: plain numbers and pointers, as the
// kernels are compiled for other processors than the rest and must share no inline function with
// it.
//
// Weights are addressed alike packed and not. Row r of a job begins at
//     weights + (r / 16) group_stride + (r % 16) row_stride
// and its columns [64 b, 64 b + 64) lie block_stride x b further:
//                    row_stride   group_stride        block_stride
//   rows as they lie     s           16 s                 64
//   packed tiles        64     16 x padded columns       1024
#pragma once

#include <cstdint>

namespace tidemark {

inline constexpr int64_t kGroupRows = 16;
inline constexpr int64_t kBlockColumns = 64;
inline constexpr int64_t kTileBytes = kGroupRows * kBlockColumns;

// How activations are laid out for a kernel. Rows of tokens `x_stride` bytes apart, except tiles.
enum class Layout {
  kPlain,     // as they came
  kSigned,    // int8, zeros to a whole block of columns
  kUnsigned,  // uint8, x + offset, likewise
  kWide,      // int16, likewise
  kTiles,     // [16 tokens][block of columns] tiles of 1 KiB: [column / 4][token][column % 4]
};

struct GemmJob {
  const int8_t* weights = nullptr;
  int64_t row_stride = 0;
  int64_t group_stride = 0;
  int64_t block_stride = 0;
  const void* x = nullptr;
  int64_t x_stride = 0;  // tiles: bytes from one group of 16 tokens to the next
  int64_t tokens = 0;
  int64_t rows = 0;
  int64_t columns = 0;  // packed: whole blocks
  int32_t* out = nullptr;
  int64_t out_stride = 0;  // int32 from one token to the next
  // out = sum - token_terms[t] - offset x row_sums[n]; either may be missing. Arithmetic wraps.
  const int32_t* token_terms = nullptr;
  const int32_t* row_sums = nullptr;
  int32_t offset = 0;
};

using GemmKernel = void (*)(const GemmJob& job);

void gemm_baseline(const GemmJob& job);  // plain, or signed if packed
int32_t dot_baseline(const int8_t* a, const int8_t* b, int64_t length);

#if defined(__x86_64__)
void gemm_avx2_wide(const GemmJob& job);          // wide
void gemm_avx2_narrow(const GemmJob& job);        // unsigned, packed, 2 a b < 2^15
void gemm_avx2_narrow_pairs(const GemmJob& job);  // unsigned, packed, 4 a b < 2^15
int32_t dot_avx2(const int8_t* a, const int8_t* b, int64_t length);

void gemm_vnni_rows(const GemmJob& job);    // signed with token terms
void gemm_vnni_packed(const GemmJob& job);  // unsigned with row sums
int32_t dot_vnni(const int8_t* a, const int8_t* b, int64_t length);

void gemm_amx(const GemmJob& job);  // tiles
// `tokens` (at most 16) rows of x, `stride` bytes apart, into ceil(columns / 64) tiles.
void lay_out_tiles(const int8_t* x, int64_t stride, int64_t tokens, int64_t columns, int8_t* tiles);
#elif defined(__aarch64__)
void gemm_neon(const GemmJob& job);  // plain, or signed if packed
int32_t dot_neon(const int8_t* a, const int8_t* b, int64_t length);
#endif

}  // namespace tidemark
