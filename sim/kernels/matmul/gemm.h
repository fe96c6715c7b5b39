// int8 x int8 -> int32 matrix products, exact, on whatever vector units there are (isa.h).
//
//   x [T, K] row-major      weights: N rows of K, `stride` bytes from one to the next, or packed
//   out [T, N]:  out[t][n] = sum over k of x[t][k] x w[n][k]
//
//   x = {{1, -2}}, rows {3, 4} and {5, 6}: out = {{3 - 8, 5 - 12}} = {{-5, -7}}.
//   Checked by GemmTest.ByHand.
//
// K is at most kMaxReduced, so that no sum leaves int32; integer sums have the same bits
// in any order, so every level, every number of threads, packed and not, agree to the bit.
//
// How each level stays exact:
//   avx512-vnni  multiplies unsigned by signed. Rows as they lie: (w + 128) . x - 128 sum(x), one
//                sum a token. Packed: (x + 128) . w - 128 sum(w), the sums taken when packing. Sums
//                may pass 2^31 on the way; they wrap, and wrap back.
//   amx-int8     signed by signed. The weights are the tile operand that may lie in memory as they
//                are, 16 rows of 64; the activations, few, are laid out in quads. One to three
//                tokens go through avx512-vnni.
//   avx2         vpmaddubsw adds two 8-bit products in 16 bits and saturates, so it is used only
//                where the values rule that out: packed weights of |w| <= a, activations in
//                [m, m + b], 2 a b < 2^15 (twice as deep where 4 a b < 2^15). Else, and always for
//                rows as they lie, both sides are widened to 16 bits.
// Nothing is read past a row's last column but what the next row of the same matrix holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tidemark {

inline constexpr int64_t kMaxReduced = 131'071;

// Row n is bytes [n stride, n stride + columns). A stored row (rows.h) is K values in K + 2 bytes.
struct WeightRows {
  std::span<const std::byte> bytes{};  // ends at the last row's last column or later
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;  // at least `columns`
};

// CHECKs the members against each other.
void check_weights(const WeightRows& weights);

struct alignas(64) CacheLine {
  std::byte bytes[64] = {};
};

// Weights copied once into tiles of 16 rows x 64 columns, 1,024 bytes each, a cache line a row:
// padded with zeros to whole tiles and an even number of tiles down. For matrices that meet many
// tokens; one token reads rows as they lie at least as fast.
class PackedWeights {
 public:
  explicit PackedWeights(const WeightRows& weights);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t padded_columns() const { return padded_columns_; }
  const int8_t* tiles() const;                                     // on a cache line
  std::span<const int32_t> row_sums() const { return row_sums_; }  // sum over k of w[n][k]
  int largest() const { return largest_; }                         // max |w|

 private:
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  int64_t padded_columns_ = 0;
  std::vector<CacheLine> lines_{};
  std::vector<int32_t> row_sums_{};
  int largest_ = 0;
};

struct GemmOptions {
  int threads = 1;  // at least 1; blocks of rows are divided among so many
};

void gemm_s32(int64_t tokens, std::span<const int8_t> x, const WeightRows& weights,
              std::span<int32_t> out, const GemmOptions& options = {});
void gemm_s32(int64_t tokens, std::span<const int8_t> x, const PackedWeights& weights,
              std::span<int32_t> out, const GemmOptions& options = {});

// Sums of `rows` rows from `first_row` on with `tokens` tokens from `first_token` on.
struct SumsBlock {
  int64_t first_token = 0;
  int64_t tokens = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
  const int32_t* sums = nullptr;
  int64_t stride = 0;  // int32 from one token to the next
};

// The same product block by block while each is still in the cache, for what makes something else
// of the sums. With more than one thread `take` is called by several at once, for different blocks.
void gemm_blocks(int64_t tokens, std::span<const int8_t> x, const WeightRows& weights,
                 const std::function<void(const SumsBlock&)>& take,
                 const GemmOptions& options = {});

// sum of a[i] x b[i]; equal lengths, at most kMaxReduced.
int32_t gemm_dot(std::span<const int8_t> a, std::span<const int8_t> b);

}  // namespace tidemark
