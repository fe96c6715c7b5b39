#include "planner/model/quantized_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tidemark {
namespace {

bool is_tower(const TransformerSpec& spec, const WeightTensor& tensor) {
  if (tensor.stack < 0) return false;
  const StackRole role = spec.stacks.at(static_cast<size_t>(tensor.stack)).role;
  return role == StackRole::kVision || role == StackRole::kAudio;
}

// Towers stay at 16 bits, their vectors at f32.
DType tower_type(const ModelSpec& model, const WeightTensor& tensor) {
  const bool is_vector = tensor.rows <= 1 && tensor.count <= 1;
  if (is_vector || tensor.is_bias) return DType::kF32;
  return model.dtype == DType::kBf16 ? DType::kBf16 : DType::kF16;
}

// Draft heads that are not counted are not in the file either.
int64_t n_draft_layer(const TransformerSpec& spec) {
  int64_t sum = 0;
  for (const StackSpec& stack : spec.stacks) {
    if (stack.role == StackRole::kDraft && stack.is_counted)
      sum += static_cast<int64_t>(stack.layers.size());
  }
  return sum;
}

// A GGUF file numbers draft layers on behind the main ones: mtp.blk.0 of a model of 40 is blk.40.
std::string recipe_name(const TransformerSpec& spec, const WeightTensor& tensor) {
  if (tensor.stack < 0 || tensor.layer < 0) return tensor.name;
  if (spec.stacks.at(static_cast<size_t>(tensor.stack)).role != StackRole::kDraft) {
    return tensor.name;
  }
  const std::string prefix = fmt::format("mtp.blk.{}.", tensor.layer);
  const int64_t layer = static_cast<int64_t>(spec.layers.size()) + tensor.layer;
  return fmt::format("blk.{}.{}", layer, std::string_view(tensor.name).substr(prefix.size()));
}

Result<std::vector<DType>> chosen_types(const ModelSpec& model,
                                        const std::vector<WeightTensor>& tensors,
                                        const Quantization& quantization) {
  const TransformerSpec& spec = *model.transformer();
  std::deque<std::string> names;  // whose texts `asked` refers to: they must not move
  std::vector<RecipeTensor> asked;
  for (const WeightTensor& tensor : tensors) {
    if (is_tower(spec, tensor)) continue;
    names.push_back(recipe_name(spec, tensor));
    asked.push_back({names.back(), tensor.columns, tensor.rows, tensor.count});
  }
  const std::vector<DType> stored(asked.size(), model.dtype);
  RecipeModel recipe = recipe_model(model);
  recipe.n_layer += n_draft_layer(spec);
  Result<std::vector<DType>> types = tensor_types(recipe, asked, stored, quantization);
  if (!types) return types.diagnostics();
  std::vector<DType> all;
  size_t next = 0;
  for (const WeightTensor& tensor : tensors) {
    all.push_back(is_tower(spec, tensor) ? tower_type(model, tensor) : types->at(next++));
  }
  return all;
}

// Names of the tensors of stacks that lie in the file and are not loaded with the model.
std::set<std::string> names_of_uncounted(const ModelSpec& model) {
  const std::vector<StackSpec>& stacks = model.transformer()->stacks;
  ModelSpec whole = model;
  for (StackSpec& stack : std::get<TransformerSpec>(whole.dims).stacks) stack.is_counted = true;
  std::set<std::string> names;
  for (const WeightTensor& tensor : weight_tensors(whole)) {
    if (tensor.stack < 0 || stacks.at(static_cast<size_t>(tensor.stack)).is_counted) continue;
    names.insert(tensor.name);
  }
  return names;
}

// The file's table, each tensor with the role that its name has in the spec. A tensor that the spec
// expects and the file lacks takes no bytes; one that the spec does not know is an extra. Layers
// that are not counted, as those that only guess ahead, are left out: engines pass them over.
WeightsInventory file_inventory(const ModelSpec& model) {
  std::map<std::string_view, const StoredTensor*> by_name;
  for (const StoredTensor& tensor : model.stored) by_name.emplace(tensor.name, &tensor);
  const std::set<std::string> uncounted = names_of_uncounted(model);
  std::vector<WeightTensor> tensors = weight_tensors(model);
  for (WeightTensor& tensor : tensors) {
    const auto found = by_name.find(tensor.name);
    if (found == by_name.end()) {
      tensor.rows = 0;
      continue;
    }
    tensor.dtype = found->second->dtype;
    tensor.columns = found->second->columns;
    tensor.rows = found->second->rows;
    tensor.count = found->second->count;
    by_name.erase(found);
  }
  for (const StoredTensor& stored : model.stored) {
    if (!by_name.contains(stored.name) || uncounted.contains(stored.name)) continue;
    tensors.push_back({.name = stored.name,
                       .role = WeightRole::kExtra,
                       .columns = stored.columns,
                       .rows = stored.rows,
                       .count = stored.count,
                       .dtype = stored.dtype});
  }
  return inventory_of(model, std::move(tensors));
}

}  // namespace

std::string_view stored_name(const ModelSpec& model) {
  if (model.layer_list() != nullptr) return "sizes only";
  if (!model.stored.empty()) return "as-stored";
  const bool is_packed = model.stored_as.kind != QuantKind::kAsStored;
  return is_packed ? name_of(model.stored_as) : name_of(model.dtype);
}

RecipeModel recipe_model(const ModelSpec& model) {
  RecipeModel recipe{.architecture = model.architecture, .n_layer = model.n_layer()};
  const TransformerSpec* spec = model.transformer();
  if (spec == nullptr || spec->layers.empty()) return recipe;
  for (const LayerSpec& layer : spec->layers) {
    recipe.n_expert = std::max(recipe.n_expert, layer.moe.n_expert);
    if (const AttentionSpec* attention = layer.attention()) {
      recipe.n_head = std::max(recipe.n_head, attention->n_head);
    } else if (const auto* mla = std::get_if<MlaSpec>(&layer.mixer)) {
      recipe.n_head = std::max(recipe.n_head, mla->n_head);
    }
  }
  const LayerSpec& first = spec->layers.front();
  if (const AttentionSpec* attention = first.attention()) {
    recipe.n_head_kv = attention->n_head_kv;
  } else if (const auto* mla = std::get_if<MlaSpec>(&first.mixer)) {
    recipe.n_head_kv = mla->split_kv_b ? 1 : mla->n_head;
  }
  return recipe;
}

DType nominal_format(const ModelSpec& model, const Quantization& quantization) {
  switch (quantization.kind) {
    case QuantKind::kFileType:
      return file_type_of(quantization.file_type).base;
    case QuantKind::kFormat:
      return quantization.format;
    case QuantKind::kAsStored:
      break;
  }
  return model.stored_as.kind == QuantKind::kAsStored ? model.dtype
                                                      : nominal_format(model, model.stored_as);
}

Result<WeightsInventory> quantized_weights(const ModelSpec& model,
                                           const Quantization& quantization) {
  if (model.layer_list() != nullptr) return inventory_of(model, weight_tensors(model));
  const bool as_stored = quantization.kind == QuantKind::kAsStored;
  if (as_stored && quantization.overrides.empty()) {
    if (!model.stored.empty()) return file_inventory(model);
    if (model.stored_as.kind == QuantKind::kAsStored) return weights_inventory(model, model.dtype);
    return quantized_weights(model, model.stored_as);
  }
  std::vector<WeightTensor> tensors = weight_tensors(model);
  const Result<std::vector<DType>> types = chosen_types(model, tensors, quantization);
  if (!types) return types.diagnostics();
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].dtype = types->at(i);
  return inventory_of(model, std::move(tensors));
}

}  // namespace tidemark
