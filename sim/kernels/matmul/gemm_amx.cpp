// Products on AMX: C [16 x 16] += A [16 x 64] B [64 x 16], int8 by int8, 16 cycles each. A is 16
// rows of weights as they lie, B 64 columns of 16 tokens in quads, so C has weights down and tokens
// across and is turned round on its way out. Two by two tiles share their loads: four products for
// four loads.
//
//            b0 b1        tile registers: C 0 1 / 2 3, a0 4, a1 5, b0 6, b1 7
//         a0  0  1
//         a1  2  3
//
// Rows and columns that are no whole tile are copied to one with zeros around them.
#include "sim/kernels/matmul/gemm_kernels.h"

#if defined(__x86_64__)
#if !defined(__clang__)  // GCC 12's own header starts results from a variable it never sets
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include <cstring>

#define TIDEMARK_AMX gnu::target("avx512f,avx512bw,avx512vl,amx-tile,amx-int8")

namespace tidemark {
namespace {

constexpr int64_t kPanel = 32;  // rows, and tokens, of two by two tiles
constexpr int64_t kLine = 64;
constexpr int64_t kMostLinesAhead = 16;  // a step

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Two tiles of weights at one block of columns.
struct Pair {
  const int8_t* first = nullptr;
  const int8_t* second = nullptr;
  int64_t row_stride = 0;
};

template <bool kTwoGroups>
[[TIDEMARK_AMX, gnu::always_inline]] inline void step(const Pair& a, const int8_t* b0,
                                                      const int8_t* b1) {
  _tile_loadd(4, a.first, a.row_stride);
  _tile_loadd(6, b0, kLine);
  _tile_loadd(5, a.second, a.row_stride);
  if (kTwoGroups) _tile_loadd(7, b1, kLine);
  _tile_dpbssd(0, 4, 6);
  if (kTwoGroups) _tile_dpbssd(1, 4, 7);
  _tile_dpbssd(2, 5, 6);
  if (kTwoGroups) _tile_dpbssd(3, 5, 7);
}

// What the steps of one panel ask for on their way: the next panel's weights, a few lines a step.
struct Ahead {
  uintptr_t next = 0;
  int64_t lines = 0;
};

template <bool kTwoGroups>
[[TIDEMARK_AMX]] void whole_steps(const GemmJob& job, Pair a, const int8_t* b, int64_t steps,
                                  Ahead& ahead) {
  const int8_t* b1 = b + job.x_stride;
  for (int64_t k = 0; k < steps; ++k) {
    step<kTwoGroups>(a, b, b1);
    for (int64_t line = 0; line < ahead.lines; ++line) {
      _mm_prefetch(reinterpret_cast<const char*>(ahead.next), _MM_HINT_T1);
      ahead.next += static_cast<uintptr_t>(kLine);
    }
    a.first += job.block_stride;
    a.second += job.block_stride;
    b += kTileBytes;
    b1 += kTileBytes;
  }
}

struct alignas(64) Edge {
  int8_t tiles[2 * kTileBytes];
};

// The `rows` x `columns` weights from `from` on, as two whole tiles.
Pair copy_edge(const GemmJob& job, const int8_t* from, int64_t rows, int64_t columns, Edge& edge) {
  std::memset(edge.tiles, 0, sizeof edge.tiles);
  for (int64_t r = 0; r < rows; ++r) {
    const int8_t* row = from + r / kGroupRows * job.group_stride + r % kGroupRows * job.row_stride;
    std::memcpy(edge.tiles + r * kBlockColumns, row, static_cast<size_t>(columns));
  }
  return {edge.tiles, edge.tiles + kTileBytes, kBlockColumns};
}

// Steps [first, last) of a panel that ends in no whole tile.
template <bool kTwoGroups>
[[TIDEMARK_AMX]] void edge_steps(const GemmJob& job, const int8_t* w, int64_t rows, const int8_t* b,
                                 int64_t first) {
  Edge edge;
  for (int64_t k = first; k * kBlockColumns < job.columns; ++k) {
    const int64_t left = job.columns - k * kBlockColumns;
    const Pair a = copy_edge(job, w + k * job.block_stride, rows,
                             left < kBlockColumns ? left : kBlockColumns, edge);
    asm volatile("" ::: "memory");  // the tile load does not tell the compiler what it reads
    step<kTwoGroups>(a, b + k * kTileBytes, b + job.x_stride + k * kTileBytes);
  }
}

struct Square {
  __m512i row[16];
};

// The transpose of 16 x 16 words.
[[TIDEMARK_AMX, gnu::always_inline]] inline void turn_round(Square& s) {
  Square u;
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    u.row[i] = _mm512_unpacklo_epi32(s.row[i], s.row[i + 1]);
    u.row[i + 1] = _mm512_unpackhi_epi32(s.row[i], s.row[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    s.row[i] = _mm512_unpacklo_epi64(u.row[i], u.row[i + 2]);
    s.row[i + 1] = _mm512_unpackhi_epi64(u.row[i], u.row[i + 2]);
    s.row[i + 2] = _mm512_unpacklo_epi64(u.row[i + 1], u.row[i + 3]);
    s.row[i + 3] = _mm512_unpackhi_epi64(u.row[i + 1], u.row[i + 3]);
  }
  // Now s.row[4 g + c], 128-bit lane l: column 4 l + c of rows 4 g to 4 g + 3.
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    u.row[c] = _mm512_shuffle_i32x4(s.row[c], s.row[c + 4], 0x88);
    u.row[c + 4] = _mm512_shuffle_i32x4(s.row[c], s.row[c + 4], 0xDD);
    u.row[c + 8] = _mm512_shuffle_i32x4(s.row[c + 8], s.row[c + 12], 0x88);
    u.row[c + 12] = _mm512_shuffle_i32x4(s.row[c + 8], s.row[c + 12], 0xDD);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    s.row[c] = _mm512_shuffle_i32x4(u.row[c], u.row[c + 8], 0x88);
    s.row[c + 4] = _mm512_shuffle_i32x4(u.row[c + 4], u.row[c + 12], 0x88);
    s.row[c + 8] = _mm512_shuffle_i32x4(u.row[c], u.row[c + 8], 0xDD);
    s.row[c + 12] = _mm512_shuffle_i32x4(u.row[c + 4], u.row[c + 12], 0xDD);
  }
}

struct alignas(64) Sums {
  int32_t of[kPanel][kPanel];  // [row][token]
};

// One 16 x 16 corner to out[token][row].
[[TIDEMARK_AMX]] void store_corner(const Sums& sums, int64_t row, int64_t token, int64_t rows,
                                   int64_t tokens, int32_t* out, int64_t out_stride) {
  Square square;
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) square.row[i] = _mm512_load_si512(&sums.of[row + i][token]);
  turn_round(square);
  const auto mask = static_cast<__mmask16>(rows >= 16 ? 0xFFFF : (1U << rows) - 1U);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if (i < tokens) _mm512_mask_storeu_epi32(out + i * out_stride, mask, square.row[i]);
  }
}

// kPanel rows (or what is left) by one or two groups of tokens.
template <bool kTwoGroups>
[[TIDEMARK_AMX]] void panel(const GemmJob& job, int64_t row, int64_t token, Ahead& ahead) {
  const int64_t rows = job.rows - row < kPanel ? job.rows - row : kPanel;
  const int64_t tokens = job.tokens - token;
  const bool packed = job.block_stride == kTileBytes;
  const int64_t whole = packed || rows == kPanel ? job.columns / kBlockColumns : 0;
  const int8_t* w = job.weights + row / kGroupRows * job.group_stride;
  const int8_t* b = static_cast<const int8_t*>(job.x) + token / kGroupRows * job.x_stride;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  whole_steps<kTwoGroups>(job, {w, w + job.group_stride, job.row_stride}, b, whole, ahead);
  edge_steps<kTwoGroups>(job, w, rows, b, whole);
  Sums sums;
  constexpr int64_t kRowBytes = kPanel * int64_t{sizeof(int32_t)};
  _tile_stored(0, &sums.of[0][0], kRowBytes);
  _tile_stored(1, &sums.of[0][16], kRowBytes);
  _tile_stored(2, &sums.of[16][0], kRowBytes);
  _tile_stored(3, &sums.of[16][16], kRowBytes);
  int32_t* out = job.out + token * job.out_stride + row;
  for (int64_t r = 0; r < rows; r += kGroupRows) {
    store_corner(sums, r, 0, rows - r, tokens, out + r, job.out_stride);
    if (kTwoGroups) {
      store_corner(sums, r, 16, rows - r, tokens - 16, out + r + 16 * job.out_stride,
                   job.out_stride);
    }
  }
}

}  // namespace

[[TIDEMARK_AMX]] void gemm_amx(const GemmJob& job) {
  static constexpr TileShapes kShapes;
  _tile_loadconfig(&kShapes);
  // Every panel of tokens passes over the same weights; meanwhile the next weights come near.
  const int64_t passes = (job.tokens + kPanel - 1) / kPanel;
  const int64_t lines = (kPanel + passes - 1) / passes;
  for (int64_t n = 0; n < job.rows; n += kPanel) {
    const int8_t* next = job.weights + n / kGroupRows * job.group_stride;
    Ahead ahead{reinterpret_cast<uintptr_t>(next) + 2 * static_cast<uintptr_t>(job.group_stride),
                lines < kMostLinesAhead ? lines : kMostLinesAhead};
    for (int64_t t = 0; t < job.tokens; t += kPanel) {
      if (job.tokens - t > kGroupRows) {
        panel<true>(job, n, t, ahead);
      } else {
        panel<false>(job, n, t, ahead);
      }
    }
  }
  _tile_release();
}

[[TIDEMARK_AMX]] void lay_out_tiles(const int8_t* x, int64_t stride, int64_t tokens,
                                    int64_t columns, int8_t* tiles) {
  for (int64_t k = 0; k < columns; k += kBlockColumns) {
    const int64_t left = columns - k;
    const __mmask64 mask = left >= kBlockColumns ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
    Square square;
#pragma GCC unroll 16
    for (int t = 0; t < 16; ++t) {
      square.row[t] =
          t < tokens ? _mm512_maskz_loadu_epi8(mask, x + t * stride + k) : _mm512_setzero_si512();
    }
    turn_round(square);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) _mm512_storeu_si512(tiles + i * kLine, square.row[i]);
    tiles += kTileBytes;
  }
}

}  // namespace tidemark
#endif
