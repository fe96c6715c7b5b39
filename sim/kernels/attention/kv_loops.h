// The inner loops of kv_tiles.cpp at each level of isa.h: plain pointers in, nothing checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

// One head's part of consecutive rows: plain pointers, checked by the caller.
struct KvHead {
  const std::byte* first = nullptr;  // of the first cell
  int64_t stride = 0;                // from a cell to the next
  int64_t scale = 0;                 // from there to the cell's scale, int8
  int64_t cells = 0;
  int64_t length = 0;  // elements
};

inline constexpr int64_t kKvLanes = 8;

using KvDotLoop = void (*)(const KvHead& head, const int8_t* q, float* dots);
using KvSumLoop = void (*)(const KvHead& head, const float* weights, float* sums);

struct KvLoops {
  // Of whole eights of cells.
  KvDotLoop int8_dots = nullptr;
  KvDotLoop f16_dots = nullptr;  // of all cells; a length of whole eights
  // Whole eights of elements, all cells.
  KvSumLoop int8_sums = nullptr;
  KvSumLoop f16_sums = nullptr;
  // weight x scale, of whole eights of cells.
  KvSumLoop factors = nullptr;
};

// Those of isa_in_use(); none where it has none, and all goes cell by cell.
const KvLoops* kv_loops();

}  // namespace tidemark
