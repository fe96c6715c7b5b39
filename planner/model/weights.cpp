#include "planner/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "planner/base/check.h"
#include "planner/model/layer_weights.h"

namespace tidemark {
namespace {

// Small, and read by kernels that want floats: vectors, routers, the tables of recurrences.
bool stays_float(const WeightTensor& tensor) {
  const bool is_table =
      tensor.role == WeightRole::kTokenEmbedding || tensor.role == WeightRole::kOutput;
  if (tensor.rows <= 1 && tensor.count <= 1 && !is_table) return true;
  return tensor.is_bias || tensor.role == WeightRole::kRouter ||
         tensor.role == WeightRole::kStateConv || tensor.role == WeightRole::kStateParameter ||
         tensor.role == WeightRole::kStateNorm || tensor.role == WeightRole::kPositionEmbedding ||
         tensor.role == WeightRole::kTokenTypes || tensor.role == WeightRole::kRelativeBias;
}

// The next format to try when `dtype` does not fill whole blocks, as the GGUF quantizer chooses it.
DType fallback_of(DType dtype) {
  switch (dtype) {
    case DType::kQ4K:
      return DType::kQ5_0;
    case DType::kQ5K:
      return DType::kQ5_1;
    case DType::kQ6K:
      return DType::kQ8_0;
    default:
      return DType::kF16;
  }
}

// A stack's tensors are named after what it is: "v.blk.3.attn_q.weight".
std::string_view prefix_of(StackRole role) {
  constexpr std::array<std::string_view, 4> kPrefixes = {"enc.", "v.", "a.", "mtp."};
  return kPrefixes.at(static_cast<size_t>(role));
}

std::vector<WeightTensor> tensors_of(const LayerListSpec& list) {
  std::vector<WeightTensor> tensors;
  for (size_t i = 0; i < list.layers.size(); ++i) {
    tensors.push_back({.name = list.layers[i].name,
                       .role = WeightRole::kPlain,
                       .layer = static_cast<int64_t>(i),
                       .bytes = list.layers[i].weights});
  }
  return tensors;
}

void add_layers(std::vector<WeightTensor>& tensors, const std::vector<LayerSpec>& layers,
                std::string_view prefix, int64_t stack, int64_t n_embd) {
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerWeights(tensors, fmt::format("{}blk.{}.", prefix, i), stack, static_cast<int64_t>(i),
                 n_embd)
        .add_layer(layers[i]);
  }
}

void add_stack(std::vector<WeightTensor>& tensors, const StackSpec& stack, int64_t index) {
  const std::string_view prefix = prefix_of(stack.role);
  LayerWeights outside(tensors, std::string(prefix), index, -1, stack.n_embd);
  for (const ExtraWeight& extra : stack.extras) outside.extra(extra);
  add_layers(tensors, stack.layers, prefix, index, stack.n_embd);
  outside.norm(WeightRole::kOutputNorm, "output_norm", stack.final_norm, stack.n_embd);
}

std::vector<WeightTensor> tensors_of(const TransformerSpec& spec) {
  std::vector<WeightTensor> tensors;
  LayerWeights outside(tensors, "", -1, -1, spec.n_embd);
  outside.matrix(WeightRole::kTokenEmbedding, "token_embd", spec.n_embd, spec.n_vocab);
  if (spec.n_position > 0) {
    outside.matrix(WeightRole::kPositionEmbedding, "position_embd", spec.n_embd, spec.n_position);
  }
  if (spec.n_token_type > 0) {
    outside.matrix(WeightRole::kTokenTypes, "token_types", spec.n_embd, spec.n_token_type);
  }
  outside.norm(WeightRole::kEmbeddingNorm, "token_embd_norm", spec.embedding_norm, spec.n_embd);
  add_layers(tensors, spec.layers, "", -1, spec.n_embd);
  for (const ExtraWeight& extra : spec.extras) outside.extra(extra);
  outside.norm(WeightRole::kOutputNorm, "output_norm", spec.final_norm, spec.n_embd);
  if (spec.has_head && !spec.tied_embeddings) {
    outside.matrix(WeightRole::kOutput, "output", spec.n_embd, spec.n_vocab);
  }
  if (spec.has_head && spec.head_bias) outside.bias(WeightRole::kOutput, "output", spec.n_vocab);
  for (size_t i = 0; i < spec.stacks.size(); ++i) {
    if (spec.stacks[i].is_counted) add_stack(tensors, spec.stacks[i], static_cast<int64_t>(i));
  }
  return tensors;
}

// Parameters of an expert tensor that one token leaves alone.
int64_t idle_parameters(const TransformerSpec& spec, const WeightTensor& tensor) {
  if (!is_expert(tensor.role) || tensor.layer < 0) return 0;
  const auto& layers =
      tensor.stack < 0 ? spec.layers : spec.stacks.at(static_cast<size_t>(tensor.stack)).layers;
  const MoeSpec& moe = layers.at(static_cast<size_t>(tensor.layer)).moe;
  if (moe.n_expert == 0) return 0;
  return tensor.parameters() / moe.n_expert * (moe.n_expert - moe.n_expert_used);
}

}  // namespace

bool is_expert(WeightRole role) {
  return role == WeightRole::kExpertGate || role == WeightRole::kExpertUp ||
         role == WeightRole::kExpertDown;
}

int64_t WeightTensor::elements() const {
  return role == WeightRole::kPlain ? 0 : checked_mul(checked_mul(columns, rows), count);
}

int64_t WeightTensor::parameters() const { return is_parameter ? elements() : 0; }

WeightId WeightsInventory::find(WeightRole role, int64_t layer) const {
  const auto found = std::ranges::find_if(tensors, [&](const WeightTensor& tensor) {
    return tensor.role == role && tensor.layer == layer && tensor.stack < 0 && !tensor.is_bias;
  });
  check(found != tensors.end(), "the inventory holds every weight that the graph reads");
  return WeightId::of(found - tensors.begin());
}

DType stored_type(const WeightTensor& tensor, DType requested) {
  if (tensor.role == WeightRole::kPlain) return tensor.dtype;
  if (!format_of(requested).quantized) return requested;
  if (stays_float(tensor)) return DType::kF32;
  // Bare int4 packs two to a byte and pads an odd row: it has no blocks that a row could leave half
  // empty.
  if (requested == DType::kInt4) return requested;
  DType candidate = requested;
  while (!divides(candidate, tensor.columns)) candidate = fallback_of(candidate);
  return candidate;
}

std::vector<WeightTensor> weight_tensors(const ModelSpec& model) {
  const LayerListSpec* list = model.layer_list();
  return list != nullptr ? tensors_of(*list) : tensors_of(*model.transformer());
}

WeightsInventory inventory_of(const ModelSpec& model, std::vector<WeightTensor> tensors) {
  WeightsInventory inventory{.tensors = std::move(tensors)};
  const TransformerSpec* spec = model.transformer();
  int64_t idle = 0;
  for (WeightTensor& tensor : inventory.tensors) {
    if (spec != nullptr) {
      tensor.bytes = matrix_bytes(tensor.dtype, tensor.columns, tensor.rows) * tensor.count;
      idle = checked_add(idle, idle_parameters(*spec, tensor));
    }
    inventory.elements = checked_add(inventory.elements, tensor.elements());
    inventory.parameters = checked_add(inventory.parameters, tensor.parameters());
    inventory.bytes += tensor.bytes;
  }
  inventory.active_parameters = inventory.parameters - idle;
  return inventory;
}

WeightsInventory weights_inventory(const ModelSpec& model, DType requested) {
  std::vector<WeightTensor> tensors = weight_tensors(model);
  for (WeightTensor& tensor : tensors) tensor.dtype = stored_type(tensor, requested);
  return inventory_of(model, std::move(tensors));
}

int64_t parameter_count(const ModelSpec& model) {
  int64_t sum = 0;
  for (const WeightTensor& tensor : weight_tensors(model)) {
    sum = checked_add(sum, tensor.parameters());
  }
  return sum;
}

Bytes textbook_weight_bytes(int64_t parameters, DType dtype) {
  const Format& format = format_of(dtype);
  // The scales per row of bare int8 and int4 are left out: the textbook knows 8 and 4 bits and
  // nothing else.
  const int64_t blocks = parameters / format.block_elements;
  const int64_t rest = parameters % format.block_elements;
  return Bytes::of(format.block_bytes) * blocks +
         Bytes::of(ceil_div(rest * format.block_bytes, format.block_elements));
}

}  // namespace tidemark
