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
//
// A layer that sees a window or its own chunk attends fewer, [first_attended, position]:
//   window W   (p - W, p]              chunk C   [p / C x C, p]
// and may keep a ring of cells, in which position p has the cell p % ring. What a token attends is
// then at most two runs of cells; every op takes them in the order of their positions, so that a
// ring and a cache of all cells give the same bits.
//   window 3 in a ring of 4, position 5: attends 3, 4 and 5 in the cells 3 | 0 and 1; chunk 4 in
//   the same ring: 4 and 5 in the cells 0 and 1. Checked by TokenCellsTest.ByHand.
// The ring must hold what the first token of a pass attends beside all that the pass stores: W - 1
// cells and one for each token, as planner/model/state.h has it.
#pragma once

#include <array>
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

// Consecutive cells of one sequence, counted from its first.
struct CellRun {
  int64_t first = 0;
  int64_t count = 0;
};
using CellRuns = std::array<CellRun, 2>;  // the second follows the first; it may be empty

// Where the tokens of a pass live. Both spans are [T]; first_cells empty means one sequence that
// begins at cell 0.
struct TokenCells {
  std::span<const int32_t> positions{};
  std::span<const int64_t> first_cells{};
  int64_t ring = 0;    // cells of each sequence; 0 = one for every position
  int64_t window = 0;  // a token attends so many positions, itself the last; 0 = all
  int64_t chunk = 0;   // and none before its own chunk of this many; 0 = all

  int64_t tokens() const { return std::ssize(positions); }
  // CHECKs that the position is not negative.
  int64_t position(int64_t token) const;
  int64_t first_cell(int64_t token) const;
  int64_t first_attended(int64_t token) const;  // a position
  int64_t cell(int64_t position) const { return ring > 0 ? position % ring : position; }
  // Of positions [from, to); CHECKs that a ring holds them all.
  CellRuns runs(int64_t from, int64_t to) const;
};

// The rows of tokens in a tensor [T, stride]: whole, or of each row the values from `first` on (a
// view, as k is of q, k and v side by side).
//   q [4] | k [2] | v [2] in rows of 8:  k = {.first = 4, .stride = 8}
struct RowPart {
  int64_t first = 0;
  int64_t stride = 0;  // 0 = the rows are no wider than what is read of them
};

// What `part` is of a token's row; CHECKs that it is in `rows`, and the stride.
std::span<const int8_t> part_of_row(std::span<const int8_t> rows, RowPart part, int64_t token,
                                    int64_t width);

// Writes the cells' rows of `cache` from rows [T, n_head_kv x head_dim], or that part of them, at
// the static scale. int8: the values as they are, the scale rounded to fp16 (it must not vanish
// there). f16: value x scale, rounded once.
void store_kv(const KvShape& shape, std::span<const int8_t> rows, float scale,
              const TokenCells& cells, std::span<std::byte> cache, RowPart part = {});

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
