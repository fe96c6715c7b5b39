#include "sim/replay/weight_source.h"

#include <fmt/format.h>

#include <cstring>

#include "sim/kernels/half.h"
#include "sim/kernels/rows.h"
#include "sim/replay/weight_format.h"

namespace tidemark {

std::string MadeUpWeights::describe() const { return fmt::format("made up from seed {}", seed_); }

void MadeUpWeights::begin(const WeightTensor& tensor, WeightId id) {
  tensor_ = &tensor;
  generator_ = Generator::of(seed_, id.index());
  if (tensor.dtype == DType::kF32) return;
  integers_.resize(static_cast<size_t>(tensor.columns));
  values_.resize(integers_.size());
  scale_ = float_to_half(weight_scale(tensor, layers_));
}

void MadeUpWeights::next_row(std::span<std::byte> row) {
  if (tensor_->dtype == DType::kF32) return floats(row);
  if (tensor_->dtype == DType::kInt8) {
    generator_.fill(row.first(row.size() - 2));
    return store_u16(row.last(2), 0, scale_);
  }
  generator_.fill(std::as_writable_bytes(std::span(integers_)));
  const float scale = half_to_float(scale_);
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(integers_[i]) * scale;
  store_row(*tensor_, values_, row);
}

// Of either sign before the head: a tied one would otherwise always find the token it was given.
void MadeUpWeights::floats(std::span<std::byte> row) {
  const auto [least, most] = float_range(*tensor_, layers_);
  const bool has_signs = tensor_->role == WeightRole::kOutputNorm && !tensor_->is_bias;
  for (size_t at = 0; at < row.size(); at += sizeof(float)) {
    float value = generator_.between(least, most);
    if (has_signs && generator_.below(2) == 0) value = -value;
    std::memcpy(&row[at], &value, sizeof value);
  }
}

}  // namespace tidemark
