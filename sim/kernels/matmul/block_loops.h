// The inner loops of block_weights.cpp at each level of isa.h: plain pointers in, nothing checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark {

inline constexpr int64_t kBlockLanes = 8;

struct BlockLoops {
  // lanes[b mod 8] += float(dot of block b) x d of block b, for `blocks` whole blocks of Q8_0 or
  // Q4_0. `lanes` holds kBlockLanes.
  void (*q8_0)(const std::byte* row, const int8_t* x, int64_t blocks, float* lanes) = nullptr;
  void (*q4_0)(const std::byte* row, const int8_t* x, int64_t blocks, float* lanes) = nullptr;
  // The dot product of 32 x `groups` values of a row of int4.
  int32_t (*int4)(const std::byte* row, const int8_t* x, int64_t groups) = nullptr;
};

// Those of isa_in_use().
const BlockLoops& block_loops();

}  // namespace tidemark
