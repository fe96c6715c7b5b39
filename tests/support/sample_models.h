// Models that many tests share: real ones by their published dimensions, and the founding
// documents' layer list.
#pragma once

#include <string>
#include <vector>

#include "planner/model/model_spec.h"

namespace tidemark::testing {

struct Dimensions {
  int64_t n_layer = 1;
  int64_t n_embd = 4;
  int64_t n_head = 2;
  int64_t n_head_kv = 1;
  int64_t head_dim = 2;
  int64_t n_ff = 6;
  int64_t n_vocab = 10;
  bool tied_embeddings = true;
};

inline ModelSpec transformer(const Dimensions& d, std::string name = "sample") {
  const LayerSpec layer{
      .mixer = AttentionSpec{.n_head = d.n_head, .n_head_kv = d.n_head_kv, .head_dim = d.head_dim},
      .feed_forward = {.n_ff = d.n_ff}};
  return {.name = std::move(name),
          .architecture = "llama",
          .dims = TransformerSpec{
              .n_embd = d.n_embd,
              .n_vocab = d.n_vocab,
              .tied_embeddings = d.tied_embeddings,
              .layers = std::vector<LayerSpec>(static_cast<size_t>(d.n_layer), layer)}};
}

inline constexpr Dimensions kMiniCpm2b{.n_layer = 40,
                                       .n_embd = 2304,
                                       .n_head = 36,
                                       .n_head_kv = 36,
                                       .head_dim = 64,
                                       .n_ff = 5760,
                                       .n_vocab = 122753,
                                       .tied_embeddings = true};

inline constexpr Dimensions kLlama31_8b{.n_layer = 32,
                                        .n_embd = 4096,
                                        .n_head = 32,
                                        .n_head_kv = 8,
                                        .head_dim = 128,
                                        .n_ff = 14336,
                                        .n_vocab = 128256,
                                        .tied_embeddings = false};

// Six layers whose weights sum to 3400 MB and whose activations sum to 608 MB.
inline ModelSpec demo_layers() {
  using namespace literals;
  LayerListSpec list;
  list.layers.push_back({"embedding", 800_MB, 64_MB});
  for (int i = 1; i <= 4; ++i) list.layers.push_back({"layer" + std::to_string(i), 600_MB, 128_MB});
  list.layers.push_back({"output", 200_MB, 32_MB});
  return {.name = "demo-layers", .architecture = "layer-list", .dims = list};
}

}  // namespace tidemark::testing
