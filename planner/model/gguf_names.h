// What llama.cpp's quantizer reads off a tensor's name: its kind, its layer, its place in the file.
// Source: llama.cpp src/llama-quant.cpp, src/llama-model-loader.h (order of tensors).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark {

enum class TensorKindByName {
  kOutput,
  kEmbedding,
  kFusedQkv,
  kKvB,  // MLA's second half of the key-value projection
  kValue,
  kKey,
  kQuery,
  kAttentionOutput,
  kUp,
  kGate,
  kDown,
  kOther
};

// blk.3.ffn_up_exps.weight is kUp. The first kind whose mark the name contains.
TensorKindByName kind_by_name(std::string_view name);

// Value projections, fused ones and MLA's kv_b: what the mixes treat as the value.
bool is_value_like(TensorKindByName kind);

// 12 for "blk.12.attn_q.weight"; none outside the layers.
std::optional<int64_t> layer_of_name(std::string_view name);

// The order in which the quantizer visits tensors: outside the layers first, then by layer, by name
// inside a layer.
bool visited_before(std::string_view a, std::string_view b);

// Names that are never quantized, whatever their shape. "position_embd.weight", "..._norm.weight".
bool is_kept_by_name(std::string_view name);

// Names that a converted file holds in f32.
bool is_f32_by_name(std::string_view name);

}  // namespace tidemark
