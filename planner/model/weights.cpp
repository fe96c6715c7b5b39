#include "planner/model/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "planner/base/check.h"

namespace tidemark {
namespace {

bool is_norm(WeightRole role) {
  return role == WeightRole::kAttentionNorm || role == WeightRole::kFeedForwardNorm ||
         role == WeightRole::kOutputNorm;
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

class InventoryBuilder {
 public:
  explicit InventoryBuilder(DType requested) : requested_(requested) {}

  void add_tensor(WeightRole role, std::string name, int64_t layer, int64_t columns, int64_t rows) {
    WeightTensor tensor{
        .name = std::move(name), .role = role, .layer = layer, .columns = columns, .rows = rows};
    tensor.dtype = stored_type(tensor, requested_);
    tensor.bytes = row_bytes(tensor.dtype, columns) * rows;
    add(std::move(tensor));
  }

  void add_layer(int64_t index, int64_t n_embd, const LayerSpec& layer) {
    const auto add_one = [&](WeightRole role, std::string_view stem, int64_t columns,
                             int64_t rows) {
      add_tensor(role, fmt::format("blk.{}.{}.weight", index, stem), index, columns, rows);
    };
    const AttentionSpec& attention = layer.attention;
    const int64_t query_width = checked_mul(attention.n_head, attention.head_dim);
    const int64_t kv_width = checked_mul(attention.n_head_kv, attention.head_dim);
    const int64_t n_ff = layer.feed_forward.n_ff;
    add_one(WeightRole::kAttentionNorm, "attn_norm", n_embd, 1);
    add_one(WeightRole::kQuery, "attn_q", n_embd, query_width);
    add_one(WeightRole::kKey, "attn_k", n_embd, kv_width);
    add_one(WeightRole::kValue, "attn_v", n_embd, kv_width);
    add_one(WeightRole::kAttentionOutput, "attn_output", query_width, n_embd);
    add_one(WeightRole::kFeedForwardNorm, "ffn_norm", n_embd, 1);
    add_one(WeightRole::kGate, "ffn_gate", n_embd, n_ff);
    add_one(WeightRole::kUp, "ffn_up", n_embd, n_ff);
    add_one(WeightRole::kDown, "ffn_down", n_ff, n_embd);
  }

  void add_plain(int64_t index, const PlainLayer& layer) {
    add({.name = layer.name, .role = WeightRole::kPlain, .layer = index, .bytes = layer.weights});
  }

  WeightsInventory take() && { return std::move(inventory_); }

 private:
  void add(WeightTensor tensor) {
    inventory_.parameters = checked_add(inventory_.parameters, tensor.parameters());
    inventory_.bytes += tensor.bytes;
    inventory_.tensors.push_back(std::move(tensor));
  }

  DType requested_ = DType::kF16;
  WeightsInventory inventory_{};
};

}  // namespace

int64_t WeightTensor::parameters() const {
  return role == WeightRole::kPlain ? 0 : checked_mul(columns, rows);
}

WeightId WeightsInventory::find(WeightRole role, int64_t layer) const {
  const auto found = std::ranges::find_if(tensors, [&](const WeightTensor& tensor) {
    return tensor.role == role && tensor.layer == layer;
  });
  check(found != tensors.end(), "the inventory holds every weight that the graph reads");
  return WeightId::of(found - tensors.begin());
}

DType stored_type(const WeightTensor& tensor, DType requested) {
  if (tensor.role == WeightRole::kPlain) return tensor.dtype;
  if (!format_of(requested).quantized) return requested;
  if (is_norm(tensor.role)) return DType::kF32;
  // Bare int4 packs two to a byte and pads an odd row: it has no blocks that a row could leave half
  // empty.
  if (requested == DType::kInt4) return requested;
  DType candidate = requested;
  while (!divides(candidate, tensor.columns)) candidate = fallback_of(candidate);
  return candidate;
}

WeightsInventory weights_inventory(const ModelSpec& model, DType requested) {
  InventoryBuilder builder(requested);
  if (const LayerListSpec* list = model.layer_list()) {
    for (size_t i = 0; i < list->layers.size(); ++i) {
      builder.add_plain(static_cast<int64_t>(i), list->layers[i]);
    }
    return std::move(builder).take();
  }
  const TransformerSpec& spec = *model.transformer();
  builder.add_tensor(WeightRole::kTokenEmbedding, "token_embd.weight", -1, spec.n_embd,
                     spec.n_vocab);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    builder.add_layer(static_cast<int64_t>(i), spec.n_embd, spec.layers[i]);
  }
  builder.add_tensor(WeightRole::kOutputNorm, "output_norm.weight", -1, spec.n_embd, 1);
  if (!spec.tied_embeddings) {
    builder.add_tensor(WeightRole::kOutput, "output.weight", -1, spec.n_embd, spec.n_vocab);
  }
  return std::move(builder).take();
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
