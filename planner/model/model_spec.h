// What a model is, as far as memory goes: per-layer widths, never weights. Uniform models are
// written in YAML with one number each (n_layer, n_head, ...) and expanded here to one LayerSpec
// per layer, so that later kinds can mix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/base/bytes.h"
#include "planner/base/ids.h"
#include "planner/model/dtype.h"

namespace tidemark {

struct AttentionSpec {
  int64_t n_head = 0;
  int64_t n_head_kv = 0;
  int64_t head_dim = 0;
  bool operator==(const AttentionSpec&) const = default;
};

// Gated feed-forward: down(act(gate(x)) * up(x)).
struct FeedForwardSpec {
  int64_t n_ff = 0;
  bool operator==(const FeedForwardSpec&) const = default;
};

struct LayerSpec {
  AttentionSpec attention{};
  FeedForwardSpec feed_forward{};
  bool operator==(const LayerSpec&) const = default;
};

// Dense decoder-only transformer.
struct TransformerSpec {
  int64_t n_embd = 0;
  int64_t n_vocab = 0;
  Tokens n_ctx_train{0};  // 0 = unknown
  bool tied_embeddings = false;
  std::vector<LayerSpec> layers{};
  bool operator==(const TransformerSpec&) const = default;
};

// The shortest spelling: sizes only. Layer i reads the activation of layer i-1 and makes its own.
struct PlainLayer {
  std::string name{};
  Bytes weights{};
  Bytes activation{};
  bool operator==(const PlainLayer&) const = default;
};

struct LayerListSpec {
  std::vector<PlainLayer> layers{};
  bool operator==(const LayerListSpec&) const = default;
};

struct ModelSpec {
  std::string name{};
  std::string architecture{};  // "minicpm", "llama"; "layer-list" for a LayerListSpec
  std::string source{};        // where the dimensions come from
  DType dtype = DType::kF16;   // as stored; meaningless for a layer list
  std::variant<TransformerSpec, LayerListSpec> dims{};

  const TransformerSpec* transformer() const { return std::get_if<TransformerSpec>(&dims); }
  const LayerListSpec* layer_list() const { return std::get_if<LayerListSpec>(&dims); }
  int64_t n_layer() const;
  bool operator==(const ModelSpec&) const = default;
};

}  // namespace tidemark
