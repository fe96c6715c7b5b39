#include "planner/import/gguf/tensor_table.h"

#include <algorithm>

#include "planner/base/check.h"
#include "planner/base/checked.h"

namespace tidemark {
namespace {

StoredTensor stored_of(const GgufTensor& tensor) {
  const auto dim = [&tensor](size_t i) { return i < tensor.dims.size() ? tensor.dims[i] : 1; };
  const std::optional<DType> dtype = dtype_of_ggml_id(tensor.type_id);
  check(dtype.has_value(), "the reader lets only types pass that have a format");
  return {.name = tensor.name,
          .dtype = *dtype,
          .columns = dim(0),
          .rows = dim(1),
          .count = checked_mul(dim(2), dim(3))};
}

// "ffn_gate_inp" of "ffn_gate_inp.scale".
std::string_view stem_of(std::string_view name) {
  return name.substr(0, std::min(name.rfind('.'), name.size()));
}

bool is_extra(std::string_view name) {
  return is_known_extra(stem_of(name)) || name.ends_with(".scale") ||
         name.ends_with(".input_scale");
}

}  // namespace

TensorTable::TensorTable(const GgufHeader& header, const GgufArchitecture& architecture)
    : architecture_(architecture) {
  tensors_.reserve(header.tensors.size());
  for (const GgufTensor& tensor : header.tensors) {
    by_name_.emplace(tensor.name, tensors_.size());
    tensors_.push_back(stored_of(tensor));
  }
}

const StoredTensor* TensorTable::find(std::string_view file_name) const {
  const auto found = by_name_.find(file_name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

std::vector<ExtraWeight> TensorTable::extras(std::string_view prefix) const {
  std::vector<ExtraWeight> extras;
  for (auto at = by_name_.lower_bound(prefix); at != by_name_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    const std::string_view name = std::string_view(at->first).substr(prefix.size());
    const bool is_outside = prefix.empty() && name.find("blk.") != std::string_view::npos;
    if (is_outside || !is_extra(name)) continue;
    const StoredTensor& tensor = tensors_[at->second];
    extras.push_back({.name = std::string(name),
                      .columns = tensor.columns,
                      .rows = tensor.rows,
                      .count = tensor.count,
                      .is_parameter = !is_table(stem_of(name))});
  }
  return extras;
}

const StoredTensor* TensorBlock::find(std::string_view ours) const {
  const std::string stem = file_stem(table_.architecture(), ours);
  return stem.empty() ? nullptr : table_.find(prefix_ + stem);
}

int64_t TensorBlock::columns(std::string_view ours) const {
  const StoredTensor* tensor = find(ours);
  return tensor == nullptr ? 0 : tensor->columns;
}

int64_t TensorBlock::rows(std::string_view ours) const {
  const StoredTensor* tensor = find(ours);
  return tensor == nullptr ? 0 : tensor->rows;
}

NormKind TensorBlock::norm(std::string_view stem, NormKind absent) const {
  if (!has(std::string(stem) + ".weight")) return absent;
  return has(std::string(stem) + ".bias") ? NormKind::kScaleAndShift : NormKind::kScale;
}

}  // namespace tidemark
