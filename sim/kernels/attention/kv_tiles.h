// What attention does with many cells of one head, at the speed of vector units: kv_dot and
// kv_accumulate (kv_rows.h) over consecutive cells, with the same bits at every level of isa.h.
//
//   kv_dots        dots[j] = kv_dot(row first_cell + j)
//   kv_accumulate  for j in order: sums[d] += weights[j] x v[j][d]
//
//   cells {1, 2} and {3, 4} at scale 0.5, q = {10, -1}: dots {4, 13}; weights {1, 2}: sums {3.5,
//   5}. Checked by KvTilesTest.ByHand.
//
// Each element of the sums is its own chain over the cells, so adding many elements at once changes
// no bit; nor does it that eight cells' dots are taken at once. A head whose size is no multiple of
// 8 goes cell by cell in f16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/kernels/attention/kv_rows.h"

namespace tidemark {

// The cells [first_cell, first_cell + n) of one stored head, n being the size of the other span.
struct KvTile {
  KvShape shape{};
  std::span<const std::byte> cache{};
  int64_t first_cell = 0;
};

// CHECKs that the cells are in the cache and that q is head_dim long.
void kv_dots(const KvTile& tile, int64_t head_kv, std::span<const int8_t> q, std::span<float> dots);

// For elements [first_element, first_element + sums.size()) of a row.
void kv_accumulate(const KvTile& tile, int64_t first_element, std::span<const float> weights,
                   std::span<float> sums);

}  // namespace tidemark
