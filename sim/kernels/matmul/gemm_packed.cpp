#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "planner/base/check.h"
#include "planner/base/checked.h"
#include "sim/kernels/matmul/gemm.h"
#include "sim/kernels/matmul/gemm_kernels.h"

namespace tidemark {
namespace {

constexpr int64_t kPanelRows = 2 * kGroupRows;

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

}  // namespace

PackedWeights::PackedWeights(const WeightRows& weights)
    : rows_(weights.rows),
      columns_(weights.columns),
      padded_columns_(round_up(weights.columns, kBlockColumns)) {
  check_weights(weights);
  const int64_t bytes = checked_mul(round_up(rows_, kPanelRows), padded_columns_);
  lines_.resize(static_cast<size_t>(bytes / int64_t{sizeof(CacheLine)}));
  auto* tiles = reinterpret_cast<std::byte*>(lines_.data());
  for (int64_t n = 0; n < rows_; ++n) {
    const std::byte* row = weights.bytes.data() + n * weights.stride;
    std::byte* to =
        tiles + n / kGroupRows * kGroupRows * padded_columns_ + n % kGroupRows * kBlockColumns;
    for (int64_t k = 0; k < columns_; k += kBlockColumns, to += kTileBytes) {
      std::memcpy(to, row + k, static_cast<size_t>(std::min(kBlockColumns, columns_ - k)));
    }
    int32_t sum = 0;
    for (int64_t k = 0; k < columns_; ++k) {
      const int value = static_cast<int8_t>(row[k]);
      sum += value;
      largest_ = std::max(largest_, std::abs(value));
    }
    row_sums_.push_back(sum);
  }
}

const int8_t* PackedWeights::tiles() const {
  return reinterpret_cast<const int8_t*>(lines_.data());
}

}  // namespace tidemark
