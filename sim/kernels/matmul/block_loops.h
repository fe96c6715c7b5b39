// The inner loops of block_weights.cpp at each level of isa.h: plain pointers in, nothing checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

inline constexpr int64_t kBlockLanes = 8;

inline constexpr int64_t kPanelRows = 16;

// One block of each row of a panel (block_panels.h): bytes 64 j + 4 row and the next three hold
// values 4 j to 4 j + 3 of a row plus 128, so that `excess`, 128 x the sum of a token's block, is
// to be taken off.
struct alignas(64) PanelBlock {
  uint8_t values[32 * kPanelRows] = {};
  float d[kPanelRows] = {};
};

struct BlockLoops {
  // lanes[b mod 8] += float(dot of block b) x d of block b, for `blocks` whole blocks of Q8_0 or
  // Q4_0. `lanes` holds kBlockLanes.
  void (*q8_0)(const std::byte* row, const int8_t* x, int64_t blocks, float* lanes) = nullptr;
  void (*q4_0)(const std::byte* row, const int8_t* x, int64_t blocks, float* lanes) = nullptr;
  // The dot product of 32 x `groups` values of a row of int4.
  int32_t (*int4)(const std::byte* row, const int8_t* x, int64_t groups) = nullptr;
  // lanes[b mod 8][row] += float(dot of block b) x d[row] of block b, for the rows of a panel;
  // `lanes` holds kBlockLanes times kPanelRows, on a cache line. Null = no vector units for it.
  void (*panel)(const PanelBlock* panel, const int8_t* x, const int32_t* excess, int64_t blocks,
                float* lanes) = nullptr;
};

// Those of isa_in_use().
const BlockLoops& block_loops();

}  // namespace tidemark
