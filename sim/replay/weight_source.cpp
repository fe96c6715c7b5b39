#include "sim/replay/weight_source.h"

#include <fmt/format.h>

#include <cstring>

#include "planner/base/check.h"
#include "sim/kernels/half.h"
#include "sim/kernels/rows.h"

namespace tidemark {

std::string MadeUpWeights::describe() const { return fmt::format("made up from seed {}", seed_); }

void MadeUpWeights::begin(const WeightTensor& tensor, WeightId id) {
  tensor_ = &tensor;
  generator_ = Generator::of(seed_, id.index());
  if (tensor.dtype == DType::kF32) return;
  check(tensor.dtype == DType::kInt8, "a replay's matrices are int8");
  scale_ = float_to_half(weight_scale(tensor, layers_));
}

void MadeUpWeights::next_row(std::span<std::byte> row) {
  if (tensor_->dtype == DType::kF32) return gains(row);
  generator_.fill(row.first(row.size() - 2));
  store_u16(row.last(2), 0, scale_);
}

// Of either sign before the head: a tied one would otherwise always find the token it was given.
void MadeUpWeights::gains(std::span<std::byte> row) {
  for (size_t at = 0; at < row.size(); at += sizeof(float)) {
    float gain = generator_.between(0.75F, 1.25F);
    if (tensor_->role == WeightRole::kOutputNorm && generator_.below(2) == 0) gain = -gain;
    std::memcpy(&row[at], &gain, sizeof gain);
  }
}

}  // namespace tidemark
