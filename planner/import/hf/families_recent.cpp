// Classes that mix ideas of the others: OLMoE, GLM-4.5, EXAONE 4, LFM2-MoE, Seed-OSS.
#include <algorithm>
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"
#include "planner/import/hf/latent_layers.h"

namespace tidemark {
namespace {

AttentionSpec& attention_in(LayerSpec& layer) { return std::get<AttentionSpec>(layer.mixer); }

// Norms of Q and K over their whole width, experts in every layer.
TransformerSpec read_olmoe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(
      reader,
      {.n_embd = 2048, .n_layer = 16, .n_vocab = 50304, .n_ctx = 4096, .n_head = 16, .n_ff = 2048});
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention.qk_norm = QkNormKind::kWidth;
  return make_decoder(
      reader, shape,
      {.mixer = attention,
       .moe = {.n_expert = reader.integer({"num_experts"}, kExperts, 64),
               .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 8),
               .n_ff_exp = shape.n_ff}},
      false);
}

// Experts as in DeepSeek-V3, attention as in GLM-4.
TransformerSpec read_glm4_moe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 46,
                                                 .n_vocab = 151552,
                                                 .n_ctx = 131072,
                                                 .n_head = 96,
                                                 .n_head_kv = 8,
                                                 .n_ff = 10944});
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = qkv_biases(reader.boolean({"attention_bias"}, false));
  if (reader.boolean({"use_qk_norm"}, false)) attention_in(layer).qk_norm = QkNormKind::kHead;
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t width = reader.integer({"moe_intermediate_size"}, kWidths, 1408);
  set_latent_experts(
      spec,
      {.n_expert = reader.integer({"n_routed_experts"}, kExpertsOrNone, 128),
       .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 8),
       .n_ff_exp = width,
       .n_ff_shared = width * reader.integer({"n_shared_experts"}, kExpertsOrNone, 1),
       .balance_bias = true},
      reader.integer({"first_k_dense_replace"}, kLayersOrNone, 1), 1);
  const int64_t n_draft =
      reader.optional_integer({"num_nextn_predict_layers"}, kLayersOrNone).value_or(0);
  if (n_draft > 0 && !spec.layers.empty()) spec.stacks.push_back(latent_draft(spec, n_draft));
  return spec;
}

// Norms behind both halves only; with a window, three layers of four see it.
TransformerSpec read_exaone4(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 102400,
                                                 .n_ctx = 2048,
                                                 .n_head = 32,
                                                 .n_head_kv = 32,
                                                 .n_ff = 16384});
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).qk_norm = QkNormKind::kHead;
  layer.norms = {.before_mixer = NormKind::kNone,
                 .after_mixer = NormKind::kScale,
                 .before_ffn = NormKind::kNone,
                 .after_ffn = NormKind::kScale};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t window = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  // A number, or its meaning as letters ("LLLG"): L sees the window.
  reader.pass_over({"sliding_window_pattern"});
  set_windows(reader, spec, window, [](int64_t i) { return (i + 1) % 4 != 0; });
  return spec;
}

// Short convolutions and attention, a few dense layers, then experts with a bias for the choice.
TransformerSpec read_lfm2_moe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 2048,
                                                 .n_layer = 32,
                                                 .n_vocab = 65536,
                                                 .n_ctx = 128000,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 7168});
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).qk_norm = QkNormKind::kHead;
  const ShortConvSpec conv{.d_conv = reader.integer({"conv_L_cache"}, kHeads, 3),
                           .bias = reader.boolean({"conv_bias"}, false)};
  TransformerSpec spec = make_decoder(reader, shape, layer, true);
  set_latent_experts(spec,
                     {.n_expert = reader.integer({"num_experts"}, kExpertsOrNone, 32),
                      .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 4),
                      .n_ff_exp = reader.integer({"moe_intermediate_size"}, kWidths, 1792),
                      .balance_bias = reader.boolean({"use_expert_bias"}, true)},
                     reader.integer({"num_dense_layers"}, kLayersOrNone, 2), 1);
  const std::vector<std::string> types =
      read_layer_types(reader, std::ssize(spec.layers), {"conv", "full_attention"});
  if (types.empty() && reader.ok()) reader.refuse("layer_types", "is missing");
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "conv") spec.layers[i].mixer = conv;
  }
  return spec;
}

TransformerSpec read_seed_oss(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 64,
                                                 .n_vocab = 155136,
                                                 .n_ctx = 524288,
                                                 .n_head = 80,
                                                 .n_head_kv = 8,
                                                 .head_dim = 128,
                                                 .n_ff = 27648});
  LayerSpec layer = llama_layer(shape);
  const bool bias = reader.boolean({"attention_bias"}, true);
  attention_in(layer).bias = {
      .q = bias, .k = bias, .v = bias, .out = reader.boolean({"attention_out_bias"}, false)};
  layer.feed_forward.bias = reader.boolean({"mlp_bias"}, false);
  return make_decoder(reader, shape, layer, false);
}

}  // namespace

std::span<const HfFamily> recent_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"olmoe", "OlmoeConfig", "olmoe", read_olmoe},
      HfFamily{"glm4_moe", "Glm4MoeConfig", "glm4moe", read_glm4_moe},
      HfFamily{"exaone4", "Exaone4Config", "exaone4", read_exaone4},
      HfFamily{"lfm2_moe", "Lfm2MoeConfig", "lfm2moe", read_lfm2_moe},
      HfFamily{"seed_oss", "SeedOssConfig", "seed_oss", read_seed_oss},
  };
  return kFamilies;
}

}  // namespace tidemark
