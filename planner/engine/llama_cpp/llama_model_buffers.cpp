#include "planner/engine/llama_cpp/llama_model_buffers.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace tidemark {
namespace {

constexpr Alignment kTensorAlignment = Alignment::of(32);
constexpr int64_t kInterleavedRows = 8;

bool has_kernel(DType type, LlamaRepack repack) {
  constexpr std::array kAvx2{DType::kQ4_0, DType::kQ4K, DType::kIq4Nl, DType::kMxfp4};
  constexpr std::array kArmToo{DType::kQ5K, DType::kQ6K, DType::kQ8_0};
  if (repack == LlamaRepack::kNone) return false;
  if (std::ranges::find(kAvx2, type) != kAvx2.end()) return true;
  if (repack == LlamaRepack::kAvx512) return type == DType::kQ2K;
  return repack == LlamaRepack::kArm && std::ranges::find(kArmToo, type) != kArmToo.end();
}

bool is_looked_up(WeightRole role) {
  return role == WeightRole::kTokenEmbedding || role == WeightRole::kPositionEmbedding ||
         role == WeightRole::kTokenTypes;
}

bool fits_kernel(const WeightTensor& tensor, LlamaRepack repack) {
  return has_kernel(tensor.dtype, repack) && tensor.rows % kInterleavedRows == 0;
}

// Used by a product of a matrix, or by one of a matrix for each expert; not by a batch of products
// (the absorbed matrices of latent attention).
bool is_repacked(const WeightTensor& tensor, LlamaRepack repack) {
  if (is_looked_up(tensor.role) || !fits_kernel(tensor, repack)) return false;
  return tensor.count == 1 || is_expert(tensor.role);
}

bool is_in_tower(const ModelSpec& model, const WeightTensor& tensor) {
  if (tensor.stack < 0) return false;
  const StackRole role = model.transformer()->stacks[static_cast<size_t>(tensor.stack)].role;
  return role == StackRole::kVision || role == StackRole::kAudio;
}

std::vector<const WeightTensor*> in_file_order(const ModelSpec& model,
                                               const WeightsInventory& weights) {
  std::vector<const WeightTensor*> tensors;
  for (const WeightTensor& tensor : weights.tensors) {
    if (!is_in_tower(model, tensor)) tensors.push_back(&tensor);
  }
  std::ranges::sort(tensors, {}, [](const WeightTensor* tensor) {
    return std::tuple(tensor->layer, std::string_view(tensor->name));
  });
  return tensors;
}

Bytes padded(const WeightTensor& tensor) { return align_up(tensor.bytes, kTensorAlignment); }

}  // namespace

// The last is not rounded up.
Bytes llama_mapped_span(const ModelSpec& model, const WeightsInventory& weights,
                        const std::function<bool(const WeightTensor&)>& stands) {
  Bytes passed;
  Bytes span;
  bool begun = false;
  for (const WeightTensor* tensor : in_file_order(model, weights)) {
    const bool is_used = stands(*tensor);
    begun = begun || is_used;
    if (!begun) continue;
    if (is_used) span = passed + tensor->bytes;
    passed += padded(*tensor);
  }
  return span;
}

LlamaModelBuffers llama_model_buffers(const ModelSpec& model, const WeightsInventory& weights,
                                      LlamaRepack repack) {
  const std::vector<const WeightTensor*> tensors = in_file_order(model, weights);
  LlamaModelBuffers made{.n_tensors = std::ssize(tensors)};
  made.mapped = llama_mapped_span(
      model, weights, [&](const WeightTensor& tensor) { return !is_repacked(tensor, repack); });
  const TransformerSpec* spec = model.transformer();
  const bool tied = spec != nullptr && spec->tied_embeddings;
  for (const WeightTensor* tensor : tensors) {
    made.tensors += tensor->bytes;
    made.whole += padded(*tensor);
    if (is_repacked(*tensor, repack)) made.repacked += padded(*tensor);
  }
  made.plain = made.whole - made.repacked;
  // A tied embedding that the product wants interleaved exists twice.
  for (const WeightTensor* tensor : tensors) {
    const bool is_table = tensor->role == WeightRole::kTokenEmbedding && !tensor->is_bias;
    if (tied && is_table && fits_kernel(*tensor, repack)) made.repacked += padded(*tensor);
  }
  return made;
}

}  // namespace tidemark
