// Gemma 3n and Gemma 4: embeddings of every layer, layers that read another layer's cache, layers
// of two head sizes, experts beside a dense feed-forward.
#include <algorithm>
#include <array>

#include "planner/base/checked.h"
#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

constexpr ShapeDefaults kGemma3n{.n_embd = 2048,
                                 .n_layer = 35,
                                 .n_vocab = 262400,
                                 .n_ctx = 32768,
                                 .n_head = 8,
                                 .n_head_kv = 2,
                                 .head_dim = 256,
                                 .n_ff = 16384};
constexpr ShapeDefaults kGemma4{.n_embd = 2304,
                                .n_layer = 30,
                                .n_vocab = 262144,
                                .n_ctx = 131072,
                                .n_head = 8,
                                .n_head_kv = 4,
                                .head_dim = 256,
                                .n_ff = 9216};

AttentionSpec& attention_in(LayerSpec& layer) { return std::get<AttentionSpec>(layer.mixer); }

ExtraWeight vector_of(std::string name, int64_t width) {
  return {.name = std::move(name), .columns = width};
}

ExtraWeight matrix_of(std::string name, int64_t columns, int64_t rows) {
  return {.name = std::move(name), .columns = columns, .rows = rows};
}

LayerSpec sandwich_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention_in(layer).qk_norm = QkNormKind::kHead;
  layer.norms.after_mixer = NormKind::kScale;
  layer.norms.after_ffn = NormKind::kScale;
  return layer;
}

// A second embedding table with `width` features for every layer, what it is joined with, and the
// way into each layer. Nothing for width 0.
void add_layer_embeddings(TransformerSpec& spec, int64_t n_vocab, int64_t width) {
  if (width == 0) return;
  const int64_t all = checked_mul(std::ssize(spec.layers), width);
  spec.extras.push_back(matrix_of("per_layer_token_embd.weight", all, n_vocab));
  spec.extras.push_back(matrix_of("per_layer_model_proj.weight", spec.n_embd, all));
  spec.extras.push_back(vector_of("per_layer_proj_norm.weight", width));
  for (LayerSpec& layer : spec.layers) {
    layer.extras.push_back(matrix_of("inp_gate.weight", spec.n_embd, width));
    layer.extras.push_back(matrix_of("proj.weight", width, spec.n_embd));
    layer.extras.push_back(vector_of("post_norm.weight", spec.n_embd));
  }
}

// The last n_shared layers read the cache of the last layer of their kind before them.
void share_caches(TransformerSpec& spec, int64_t n_shared) {
  const int64_t n_own = std::ssize(spec.layers) - n_shared;
  if (n_shared == 0 || n_own <= 0) return;
  for (int64_t i = n_own; i < std::ssize(spec.layers); ++i) {
    AttentionSpec& reads = attention_in(spec.layers[static_cast<size_t>(i)]);
    for (int64_t k = 0; k < n_own; ++k) {
      const AttentionSpec& owner = attention_in(spec.layers[static_cast<size_t>(k)]);
      if ((owner.window > 0) == (reads.window > 0)) reads.shares_kv_with = k;
    }
  }
}

// n_input parallel streams (AltUp) and a low-rank way around each layer (Laurel).
void add_streams(TransformerSpec& spec, int64_t n_input, int64_t rank) {
  const int64_t n_embd = spec.n_embd;
  for (LayerSpec& layer : spec.layers) {
    layer.extras.push_back(vector_of("altup_correct_scale.weight", n_embd));
    layer.extras.push_back(matrix_of("altup_correct_coef.weight", n_input, n_input));
    layer.extras.push_back(matrix_of("altup_predict_coef.weight", n_input, n_input * n_input));
    layer.extras.push_back(matrix_of("altup_router.weight", n_embd, n_input));
    layer.extras.push_back(vector_of("altup_router_norm.weight", n_embd));
    layer.extras.push_back(matrix_of("laurel_l.weight", n_embd, rank));
    layer.extras.push_back(matrix_of("laurel_r.weight", rank, n_embd));
    layer.extras.push_back(vector_of("laurel_post_norm.weight", n_embd));
  }
  for (const auto* name : {"altup_proj.weight", "altup_unembd_proj.weight"}) {
    spec.extras.push_back({.name = name, .columns = n_embd, .rows = n_embd, .count = n_input - 1});
  }
}

// One width, or one for each layer.
std::vector<int64_t> read_widths(ConfigReader& reader, int64_t n_layer) {
  const ConfigValue* value = reader.value().find("intermediate_size");
  if (value == nullptr || value->kind != ConfigKind::kList) return {};
  std::vector<int64_t> widths = reader.integers("intermediate_size", kWidths);
  if (std::ssize(widths) != n_layer) {
    reader.refuse("intermediate_size", "must have one value, or one for each layer");
    return {};
  }
  return widths;
}

// read_shape, where intermediate_size may be a list.
DecoderShape read_gemma3n_shape(ConfigReader& reader, std::vector<int64_t>& widths) {
  const ConfigValue* value = reader.value().find("intermediate_size");
  if (value == nullptr || value->kind != ConfigKind::kList) return read_shape(reader, kGemma3n);
  const int64_t n_layer = reader.integer({"num_hidden_layers"}, kLayers, kGemma3n.n_layer);
  widths = read_widths(reader, n_layer);
  ConfigValue uniform = reader.value();
  for (size_t i = 0; i < uniform.keys.size(); ++i) {
    if (uniform.keys[i] != "intermediate_size") continue;
    uniform.items[i] = {.kind = ConfigKind::kInteger,
                        .integer = widths.empty() ? 1 : widths.front(),
                        .byte = value->byte};
  }
  ConfigReader other(reader.notes(), uniform, reader.path(), reader.config_class());
  return read_shape(other, kGemma3n);
}

TransformerSpec read_gemma3n(ConfigReader& reader) {
  std::vector<int64_t> widths;
  const DecoderShape shape = read_gemma3n_shape(reader, widths);
  TransformerSpec spec = make_decoder(reader, shape, sandwich_layer(reader, shape), true);
  for (size_t i = 0; i < spec.layers.size() && i < widths.size(); ++i) {
    spec.layers[i].feed_forward.n_ff = widths[i];
  }
  set_windows(reader, spec, reader.integer({"sliding_window"}, kTokens, 512),
              [](int64_t i) { return (i + 1) % 5 != 0; });
  share_caches(spec, reader.integer({"num_kv_shared_layers"}, kLayersOrNone, 15));
  const int64_t width = reader.integer({"hidden_size_per_layer_input"}, kWidths, 256);
  const int64_t n_vocab = reader.integer({"vocab_size_per_layer_input"}, kVocab, 262144);
  const int64_t n_input = reader.integer({"altup_num_inputs"}, {1, 64}, 4);
  const int64_t rank = reader.integer({"laurel_rank"}, kWidths, 64);
  if (!reader.ok()) return spec;
  add_layer_embeddings(spec, n_vocab, width);
  add_streams(spec, n_input, rank);
  return spec;
}

// Experts beside the dense feed-forward, with norms of their own and scales of the router.
void add_experts(ConfigReader& reader, TransformerSpec& spec) {
  const MoeSpec moe{.n_expert = reader.integer({"num_experts"}, kExperts),
                    .n_expert_used = reader.integer({"top_k_experts"}, kExperts),
                    .n_ff_exp = reader.integer({"moe_intermediate_size"}, kWidths)};
  for (LayerSpec& layer : spec.layers) {
    layer.moe = moe;
    layer.extras.push_back(vector_of("ffn_gate_inp.scale", spec.n_embd));
    layer.extras.push_back(vector_of("ffn_down_exps.scale", moe.n_expert));
    for (const auto* name :
         {"post_ffw_norm_1.weight", "post_ffw_norm_2.weight", "pre_ffw_norm_2.weight"}) {
      layer.extras.push_back(vector_of(name, spec.n_embd));
    }
  }
}

// Layers that see all have heads of another size, and may use their keys as values.
void set_global_heads(ConfigReader& reader, TransformerSpec& spec, const DecoderShape& shape) {
  const int64_t head_dim = reader.integer({"global_head_dim"}, kWidths, 512);
  const int64_t n_head_kv =
      reader.optional_integer({"num_global_key_value_heads"}, kHeads).value_or(shape.n_head_kv);
  const bool value_is_key = reader.boolean({"attention_k_eq_v"}, false);
  if (shape.n_head % n_head_kv != 0) {
    reader.refuse("num_global_key_value_heads", "does not divide num_attention_heads");
  }
  for (LayerSpec& layer : spec.layers) {
    AttentionSpec& attention = attention_in(layer);
    if (attention.window > 0) continue;
    attention.head_dim = head_dim;
    attention.value_is_key = value_is_key;
    if (value_is_key) attention.n_head_kv = n_head_kv;
  }
}

TransformerSpec read_gemma4(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kGemma4);
  TransformerSpec spec = make_decoder(reader, shape, sandwich_layer(reader, shape), true);
  set_windows(reader, spec, reader.integer({"sliding_window"}, kTokens, 512),
              [](int64_t i) { return (i + 1) % 6 != 0; });
  set_global_heads(reader, spec, shape);
  const int64_t n_shared = reader.integer({"num_kv_shared_layers"}, kLayersOrNone, 0);
  share_caches(spec, n_shared);
  if (reader.boolean({"use_double_wide_mlp"}, false)) {
    for (LayerSpec& layer : spec.layers) {
      if (attention_in(layer).shares_kv_with >= 0) layer.feed_forward.n_ff *= 2;
    }
  }
  if (n_shared > 0) {
    reader.warn("Layers that read another layer's cache are counted with K and V matrices.");
  }
  if (reader.boolean({"enable_moe_block"}, false)) add_experts(reader, spec);
  reader.pass_over({"num_experts", "top_k_experts", "moe_intermediate_size"});
  const int64_t width = reader.integer({"hidden_size_per_layer_input"}, kWidthsOrNone, 256);
  const int64_t n_vocab = reader.integer({"vocab_size_per_layer_input"}, kVocab, 262144);
  for (LayerSpec& layer : spec.layers) {
    layer.extras.push_back(
        {.name = "layer_output_scale.weight", .columns = 1, .is_parameter = false});
  }
  if (reader.ok()) add_layer_embeddings(spec, n_vocab, width);
  return spec;
}

}  // namespace

std::span<const HfFamily> gemma_next_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"gemma3n_text", "Gemma3nTextConfig", "gemma3n", read_gemma3n},
      HfFamily{"gemma4_text", "Gemma4TextConfig", "gemma4", read_gemma4},
  };
  return kFamilies;
}

}  // namespace tidemark
