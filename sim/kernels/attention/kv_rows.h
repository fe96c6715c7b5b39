// The KV cache of one layer, as rows: one row a cell, all heads side by side, for K and for V
// alike.
//
//   int8: n_head_kv x head_dim int8 | fp16 scale     = the planner's row_bytes(int8, n_head_kv x
//   head_dim) f16:  n_head_kv x head_dim fp16                  = the planner's row_bytes(f16, ...)
//   cell of a token = first cell of its sequence + its position; a token attends the cells of its
//   own sequence from position 0 to its own, so causality needs no mask.
//
//   two sequences of 4 cells:  |a0 a1 a2 .|b0 b1 . .|    token b1: first cell 4, position 1 -> cell
//   5
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark {

enum class KvType { kInt8, kF16 };

struct KvShape {
  KvType type = KvType::kF16;
  int64_t n_head_kv = 1;
  int64_t head_dim = 1;
};

constexpr int64_t kv_row_bytes(const KvShape& shape) {
  const int64_t elements = shape.n_head_kv * shape.head_dim;
  return shape.type == KvType::kInt8 ? elements + 2 : elements * 2;
}

// Where the tokens of a pass live. Both spans are [T]; first_cells empty means one sequence that
// begins at cell 0.
struct TokenCells {
  std::span<const int32_t> positions{};
  std::span<const int64_t> first_cells{};

  int64_t tokens() const { return std::ssize(positions); }
  // CHECKs that the position is not negative.
  int64_t position(int64_t token) const;
  int64_t first_cell(int64_t token) const;
};

// Writes the cells' rows of `cache` from rows [T, n_head_kv x head_dim] at the static scale. int8:
// the values as they are, the scale rounded to fp16 (it must not vanish there). f16: value x scale,
// rounded once.
void store_kv(const KvShape& shape, std::span<const int8_t> rows, float scale,
              const TokenCells& cells, std::span<std::byte> cache);

// Row `cell` of a cache; CHECKs that it is there.
std::span<const std::byte> kv_row(const KvShape& shape, std::span<const std::byte> cache,
                                  int64_t cell);

// q . k for one head, k being the real values of the row and q whatever q counts. int8: an exact
// integer, times the row's scale. f16: eight partial sums by i mod 8, added in order, so that
// vector units change no bit.
float kv_dot(const KvShape& shape, std::span<const std::byte> row, int64_t head_kv,
             std::span<const int8_t> q);

// sums[d] += weight x v[d] for d in [first, first + sums.size()) of one head.
void kv_accumulate(const KvShape& shape, std::span<const std::byte> row, int64_t first_element,
                   float weight, std::span<float> sums);

}  // namespace tidemark
