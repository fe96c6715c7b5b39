// What the parts of a graph share while it is built: the layers, the sizes of the run, the builder,
// the inputs. One file a kind of part states the nodes of that part; llama_graph.cpp puts the
// layers in order.
#pragma once

#include <map>
#include <string>

#include "planner/engine/llama_cpp/ggml_builder.h"
#include "planner/engine/llama_cpp/graph_traits.h"
#include "planner/engine/llama_cpp/llama_context.h"
#include "planner/engine/llama_cpp/llama_graph.h"
#include "planner/model/weights.h"

namespace tidemark {

// Inputs of one cache: of the layers that see everything, or of those that see a window.
struct CacheInputs {
  BuiltId rotation_k{};
  BuiltId rotation_v{};
  BuiltId index_k{};  // where the new keys go
  BuiltId index_v{};
  BuiltId mask{};
  int64_t cells = 0;  // of the cache
  int64_t n_kv = 0;   // of which are read
};

struct GraphInputs {
  BuiltId positions{};
  BuiltId outputs{};       // which rows go on to the logits
  BuiltId rope_factors{};  // only if has_rope_factors
  bool has_rope_factors = false;
  CacheInputs full{};
  CacheInputs window{};
  BuiltId state_copy{};  // recurrent layers: which cell each sequence reads
  BuiltId state_main{};  // views of it
  BuiltId state_extra{};
};

// Tensors of the weights by name.
using WeightIndex = std::map<std::string_view, const WeightTensor*>;

struct GraphScope {
  GgmlBuilder build{};
  const TransformerSpec& spec;
  const LlamaContext& context;
  GraphTraits traits{};
  LlamaRun run{};
  WeightIndex weights{};
  bool windows = false;  // two caches, one of window layers
  GraphInputs inputs{};
  std::map<std::string, BuiltId> held{};  // weights that stand in the graph

  int64_t layer = 0;  // at work
  bool is_last_layer() const { return layer + 1 == std::ssize(spec.layers); }

  // Weights as the file holds them; f16 where it holds none of that name. `local` without "blk.N.".
  BuiltId weight(const std::string& name, GgmlShape ne);
  BuiltId layer_weight(std::string_view local, GgmlShape ne);
  bool has_layer_weight(std::string_view local) const;

  void name(BuiltId id, std::string_view local);  // "local-N" of the layer at work
};

// The norm of `x` over its first dimension, with the weights "local.weight" and "local.bias".
BuiltId add_norm(GraphScope& scope, BuiltId x, NormKind kind, std::string_view local);

// MUL_MAT with "local.weight" [columns of x, rows], and ADD of "local.bias" if `bias`.
BuiltId add_linear(GraphScope& scope, BuiltId x, std::string_view local, int64_t rows,
                   bool bias = false);

BuiltId add_attention(GraphScope& scope, BuiltId x, const AttentionSpec& spec);
BuiltId add_mla(GraphScope& scope, BuiltId x, const MlaSpec& spec);
BuiltId add_mamba(GraphScope& scope, BuiltId x, const MambaSpec& spec);
BuiltId add_mamba2(GraphScope& scope, BuiltId x, const Mamba2Spec& spec);
// Recurrences whose nodes were never seen: their widest products and their state.
BuiltId add_other_recurrence(GraphScope& scope, BuiltId x, const LayerSpec& layer);
BuiltId add_feed_forward(GraphScope& scope, BuiltId x, const FeedForwardSpec& spec,
                         std::string_view suffix = "");
BuiltId add_experts(GraphScope& scope, BuiltId x, const MoeSpec& spec);

// Q, K and V of one layer, [width, heads, n_tokens] each.
struct AttentionHeads {
  BuiltId q{};
  BuiltId k{};
  BuiltId v{};  // unused if latent: the values are then a part of the keys
  int64_t n_head_kv = 1;
  int64_t width_k = 0;
  int64_t width_v = 0;  // if latent of the latent
  bool window = false;
  bool sinks = false;
  bool is_latent = false;
  BuiltId latent_to_v{};                 // if latent: the matrices of the values by head
  std::optional<int64_t> reads_layer{};  // whose cache it reads, storing nothing
};

// Stores K and V, then attends to all cells: [heads x width, n_tokens].
BuiltId add_cached_attention(GraphScope& scope, AttentionHeads heads);
BuiltId add_rotation(GraphScope& scope, BuiltId rotation, BuiltId x);
// ROPE of x by position.
BuiltId add_rope(GraphScope& scope, BuiltId x);

}  // namespace tidemark
