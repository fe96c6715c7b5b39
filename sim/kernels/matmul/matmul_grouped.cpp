#include "sim/kernels/matmul/matmul_grouped.h"

#include <algorithm>
#include <vector>

#include "planner/base/check.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

// Columns [first, first + columns) of every row of x, one row after the other.
void copy_columns(std::span<const int8_t> x, int64_t width, int64_t first, int64_t columns,
                  std::span<int8_t> into) {
  const int64_t tokens = std::ssize(into) / columns;
  for (int64_t t = 0; t < tokens; ++t) {
    const auto from = row_of(x, t, width).subspan(static_cast<size_t>(first));
    std::copy_n(from.begin(), columns, row_of(into, t, columns).begin());
  }
}

}  // namespace

void matmul_grouped(int64_t tokens, std::span<const int8_t> x, const WeightRows& weights,
                    const GroupScales& scales, float scale_in, std::span<float> out,
                    const GemmOptions& options) {
  check_weights(weights);
  check(scales.group >= 1, "a group has columns");
  const int64_t groups =
      weights.columns / scales.group + (weights.columns % scales.group != 0 ? 1 : 0);
  check_shape(x.size(), {tokens, weights.columns}, "x is [T, K]");
  check_shape(scales.values.size(), {weights.rows, groups}, "scales are [N, G]");
  check_shape(out.size(), {tokens, weights.rows}, "out is [T, N]");
  std::fill(out.begin(), out.end(), 0.0F);
  for (int64_t j = 0; j < groups; ++j) {
    const int64_t first = j * scales.group;
    WeightRows part = weights;
    part.columns = std::min(scales.group, weights.columns - first);
    part.bytes = weights.bytes.subspan(std::min(static_cast<size_t>(first), weights.bytes.size()));
    std::vector<int8_t> columns(static_cast<size_t>(tokens * part.columns));
    copy_columns(x, weights.columns, first, part.columns, columns);
    const auto add = [&](const SumsBlock& block) {
      for (int64_t t = 0; t < block.tokens; ++t) {
        const auto of_token = row_of(out, block.first_token + t, weights.rows);
        for (int64_t n = 0; n < block.rows; ++n) {
          const int64_t row = block.first_row + n;
          const float scale = scales.values[static_cast<size_t>(row * groups + j)];
          of_token[static_cast<size_t>(row)] +=
              static_cast<float>(block.sums[t * block.stride + n]) * scale;
        }
      }
    };
    gemm_blocks(tokens, columns, part, add, options);
  }
  for (float& value : out) value *= scale_in;
}

}  // namespace tidemark
