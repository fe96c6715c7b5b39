// Rows of a table in any of the formats of block_rows.h, looked up and brought to int8.
//
//   ids [T]     table: V rows of K in one format     out [T, K] = row ids[t] of the table at s_out
//   int8, int4  out = clamp(q x (scale / s_out)), in integers by multiplier and shift, as
//               embedding_lookup (rows.h)
//   Q8_0, Q4_0  out = clamp(round(q x d / s_out)): q x d is exact in float, the quotient is rounded
//               to float, then to int8, ties away from zero
//
//   Q8_0, d = 0.5, q = {3, -5, 100}, s_out = 0.25: {1.5, -2.5, 50} -> {6, -10, 127};
//   at s_out = 1: {2, -3, 50}.  Checked by BlockEmbeddingTest.ByHand.
//
// No scratch: a row is unpacked where it is wanted. K and table may have any size and address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/matmul/block_rows.h"

namespace tidemark {

// CHECKs that the table is whole rows, that every id is one of them, and the size of `out`.
void block_embedding_lookup(RowFormat format, int64_t columns, std::span<const int32_t> ids,
                            std::span<const std::byte> table, float scale_out,
                            std::span<int8_t> out);

}  // namespace tidemark
