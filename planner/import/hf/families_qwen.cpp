// Qwen of every generation, and MiMo, which adds draft layers to it.
#include "planner/import/hf/families_qwen.h"

#include <algorithm>
#include <array>

#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

constexpr ShapeDefaults kQwen2{.n_embd = 4096,
                               .n_layer = 32,
                               .n_vocab = 151936,
                               .n_ctx = 32768,
                               .n_head = 32,
                               .n_head_kv = 32,
                               .n_ff = 22016};
constexpr ShapeDefaults kQwen3{.n_embd = 4096,
                               .n_layer = 32,
                               .n_vocab = 151936,
                               .n_ctx = 32768,
                               .n_head = 32,
                               .n_head_kv = 32,
                               .head_dim = 128,
                               .n_ff = 22016};
constexpr ShapeDefaults kQwen2Moe{.n_embd = 2048,
                                  .n_layer = 24,
                                  .n_vocab = 151936,
                                  .n_ctx = 32768,
                                  .n_head = 16,
                                  .n_head_kv = 16,
                                  .n_ff = 5632};
constexpr ShapeDefaults kQwen3Moe{.n_embd = 2048,
                                  .n_layer = 24,
                                  .n_vocab = 151936,
                                  .n_ctx = 32768,
                                  .n_head = 32,
                                  .n_head_kv = 4,
                                  .n_ff = 6144};

AttentionSpec& attention_in(LayerSpec& layer) { return std::get<AttentionSpec>(layer.mixer); }

// intermediate_size is that of gate and up together.
TransformerSpec read_qwen(ConfigReader& reader) {
  DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                           .n_layer = 32,
                                           .n_vocab = 151936,
                                           .n_ctx = 8192,
                                           .n_head = 32,
                                           .n_ff = 22016});
  shape.head_dim = reader.integer({"kv_channels"}, kWidths, 128);
  if (shape.n_ff % 2 != 0) reader.refuse("intermediate_size", "must be even: it is gate and up");
  shape.n_ff /= 2;
  LayerSpec layer = llama_layer(shape);
  const bool bias = !reader.boolean({"no_bias"}, true);
  attention_in(layer).fused_qkv = true;
  attention_in(layer).bias = {.q = true, .k = true, .v = true, .out = bias};
  layer.feed_forward.bias = bias;
  return make_decoder(reader, shape, layer, false);
}

// Biases of Q, K and V that no key announces.
TransformerSpec read_qwen2(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kQwen2);
  note_rotary(reader, shape.head_dim, 1);
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = qkv_biases(true);
  reader.pass_over({"attention_bias", "qkv_bias"});
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  set_qwen_windows(reader, spec);
  return spec;
}

LayerSpec qwen3_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention_in(layer).qk_norm = QkNormKind::kHead;
  return layer;
}

TransformerSpec read_qwen3(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kQwen3);
  note_rotary(reader, shape.head_dim, 1);
  TransformerSpec spec = make_decoder(reader, shape, qwen3_layer(reader, shape), false);
  set_qwen_windows(reader, spec);
  return spec;
}

TransformerSpec read_qwen2_moe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kQwen2Moe);
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = qkv_biases(reader.boolean({"qkv_bias"}, true));
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  set_qwen_windows(reader, spec);
  set_qwen_experts(
      reader, spec,
      {.n_expert = reader.integer({"num_experts"}, kExpertsOrNone, 60),
       .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 4),
       .n_ff_exp = reader.integer({"moe_intermediate_size"}, kWidths, 1408),
       .n_ff_shared = reader.integer({"shared_expert_intermediate_size"}, kWidths, 5632),
       .shared_gate = true});
  return spec;
}

TransformerSpec read_qwen3_moe(ConfigReader& reader) {
  reader.pass_over({"use_qk_norm"});  // the class always has them
  const DecoderShape shape = read_shape(reader, kQwen3Moe);
  TransformerSpec spec = make_decoder(reader, shape, qwen3_layer(reader, shape), false);
  set_qwen_windows(reader, spec);
  set_qwen_experts(
      reader, spec,
      {.n_expert = reader.integer({"num_experts", "num_local_experts"}, kExpertsOrNone, 128),
       .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 8),
       .n_ff_exp = reader.integer({"moe_intermediate_size"}, kWidths, 768)});
  return spec;
}

// A draft layer reads the hidden state beside the next token's embedding; head and embedding are
// the model's own.
TransformerSpec read_mimo(ConfigReader& reader) {
  TransformerSpec spec = read_qwen2(reader);
  const int64_t n_draft = reader.integer({"num_nextn_predict_layers"}, kLayersOrNone, 0);
  if (spec.layers.empty() || n_draft == 0) return spec;
  LayerSpec layer = spec.layers.back();
  const int64_t n_embd = spec.n_embd;
  layer.extras = {{.name = "token_norm.weight", .columns = n_embd},
                  {.name = "hidden_norm.weight", .columns = n_embd},
                  {.name = "input_proj.weight", .columns = 2 * n_embd, .rows = n_embd},
                  {.name = "final_norm.weight", .columns = n_embd}};
  spec.stacks.push_back({.role = StackRole::kDraft,
                         .n_embd = n_embd,
                         .layers = std::vector<LayerSpec>(static_cast<size_t>(n_draft), layer)});
  return spec;
}

}  // namespace

void set_qwen_windows(ConfigReader& reader, TransformerSpec& spec) {
  const bool windowed = reader.boolean({"use_sliding_window"}, false);
  const int64_t stated = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  const int64_t first = reader.integer({"max_window_layers"}, kLayersOrNone, 28);
  set_windows(reader, spec, windowed ? stated : 0, [=](int64_t i) { return i >= first; });
}

void set_qwen_experts(ConfigReader& reader, TransformerSpec& spec, const MoeSpec& moe) {
  const std::vector<int64_t> dense = reader.integers("mlp_only_layers", {0, kLayers.most});
  const int64_t step = reader.optional_integer({"decoder_sparse_step"}, kLayers).value_or(1);
  for (int64_t i = 0; i < std::ssize(spec.layers); ++i) {
    const bool is_dense = std::ranges::find(dense, i) != dense.end() || (i + 1) % step != 0;
    if (is_dense || moe.n_expert == 0) continue;
    LayerSpec& layer = spec.layers[static_cast<size_t>(i)];
    layer.feed_forward = {.n_ff = 0};
    layer.moe = moe;
  }
}

std::span<const HfFamily> qwen_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"qwen", "QWenConfig", "qwen", read_qwen},
      HfFamily{"qwen2", "Qwen2Config", "qwen2", read_qwen2},
      HfFamily{"qwen2_moe", "Qwen2MoeConfig", "qwen2moe", read_qwen2_moe},
      HfFamily{"qwen3", "Qwen3Config", "qwen3", read_qwen3},
      HfFamily{"qwen3_text", "Qwen3Config", "qwen3", read_qwen3},
      HfFamily{"qwen3_moe", "Qwen3MoeConfig", "qwen3moe", read_qwen3_moe},
      HfFamily{"mimo", "MiMoConfig", "qwen2", read_mimo},
  };
  return kFamilies;
}

}  // namespace tidemark
