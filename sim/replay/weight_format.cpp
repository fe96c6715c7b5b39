#include "sim/replay/weight_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "planner/base/check.h"
#include "planner/model/quantized_weights.h"
#include "sim/kernels/half.h"
#include "sim/kernels/rows.h"

namespace tidemark {
namespace {

bool is_readable(const WeightTensor& tensor) {
  if (row_format_of(tensor.dtype)) return true;
  const bool is_16_bits = tensor.dtype == DType::kF16 || tensor.dtype == DType::kBf16;
  if (is_16_bits) return tensor.stack >= 0;
  return tensor.dtype == DType::kF32 &&
         !is_quantizable({tensor.name, tensor.columns, tensor.rows, tensor.count});
}

bool is_overridden(const Quantization& quantization, const WeightTensor& tensor) {
  return std::ranges::any_of(quantization.overrides, [&](const TypeOverride& entry) {
    return entry.pattern.found_in(tensor.name);
  });
}

bool all_readable(const ModelSpec& model, const Quantization& quantization) {
  const Result<WeightsInventory> weights = quantized_weights(model, quantization);
  return weights.ok() && std::ranges::all_of(weights->tensors, is_readable);
}

std::string hint_for(const Scenario& scenario) {
  Quantization pure = scenario.quant;
  pure.pure = true;
  const bool is_mix = pure.kind == QuantKind::kFileType && !scenario.quant.pure;
  return is_mix && all_readable(scenario.model, pure) ? "add --pure, or --quant int8"
                                                      : "add --quant int8";
}

// A model's own file may lack tensors, or have them in other shapes than the model's widths say.
const WeightTensor* missing_tensor(const ModelSpec& model, const WeightsInventory& weights) {
  const std::vector<WeightTensor> wanted = weight_tensors(model);
  for (size_t i = 0; i < wanted.size() && i < weights.tensors.size(); ++i) {
    const WeightTensor& tensor = weights.tensors[i];
    const bool is_same = tensor.columns == wanted[i].columns && tensor.rows == wanted[i].rows &&
                         tensor.count == wanted[i].count;
    if (!is_same) return &tensor;
  }
  return nullptr;
}

}  // namespace

std::optional<RowFormat> row_format_of(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return RowFormat::kInt8;
    case DType::kInt4:
      return RowFormat::kInt4;
    case DType::kQ8_0:
      return RowFormat::kQ8_0;
    case DType::kQ4_0:
      return RowFormat::kQ4_0;
    default:
      return std::nullopt;
  }
}

RowFormat row_format(const WeightTensor& tensor) {
  const std::optional<RowFormat> format = row_format_of(tensor.dtype);
  check(format.has_value(), "a matrix is in a format that the kernels multiply");
  return *format;
}

size_t weight_row_bytes(const WeightTensor& tensor) {
  return static_cast<size_t>(row_bytes(tensor.dtype, tensor.columns).count());
}

void store_row(const WeightTensor& tensor, std::span<const float> values,
               std::span<std::byte> row) {
  check(row.size() == weight_row_bytes(tensor), "a row has the bytes of its type");
  switch (tensor.dtype) {
    case DType::kF32:
      std::memcpy(row.data(), values.data(), row.size());
      return;
    case DType::kF16:
      for (size_t i = 0; i < values.size(); ++i) store_u16(row, i, float_to_half(values[i]));
      return;
    case DType::kBf16:  // the upper half of a float: toward zero
      for (size_t i = 0; i < values.size(); ++i) {
        store_u16(row, i, static_cast<uint16_t>(std::bit_cast<uint32_t>(values[i]) >> 16));
      }
      return;
    default:
      return quantize_row(row_format(tensor), values, row);
  }
}

std::optional<Diagnostic> unreadable_weight(const Scenario& scenario, const MemoryPlan& plan) {
  const std::vector<WeightTensor>& tensors = plan.weights.tensors;
  const auto said = [](const WeightTensor& tensor) {
    return fmt::format("the replay multiplies rows of int8, int4, Q8_0 and Q4_0; {} is {}",
                       tensor.name, name_of(tensor.dtype));
  };
  if (scenario.model.transformer() == nullptr) return std::nullopt;
  const auto is_at_fault = [&](const WeightTensor& tensor) {
    return !is_readable(tensor) && !is_overridden(scenario.quant, tensor);
  };
  if (const auto found = std::ranges::find_if(tensors, is_at_fault); found != tensors.end()) {
    return Diagnostic{.path = "--quant", .message = said(*found), .hint = hint_for(scenario)};
  }
  if (const auto found = std::ranges::find_if_not(tensors, is_readable); found != tensors.end()) {
    return Diagnostic{
        .path = "--tensor-type", .message = said(*found), .hint = "leave --tensor-type out"};
  }
  if (const WeightTensor* tensor = missing_tensor(scenario.model, plan.weights)) {
    return Diagnostic{
        .path = "--quant",
        .message = fmt::format("{} is not in the model's file as the model has it", tensor->name),
        .hint = "add --quant int8"};
  }
  return std::nullopt;
}

}  // namespace tidemark
