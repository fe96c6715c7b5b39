// Mixtures of experts in layers that are otherwise Llama's.
#include <algorithm>
#include <array>

#include "planner/base/diagnostic.h"
#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

AttentionSpec& attention_in(LayerSpec& layer) { return std::get<AttentionSpec>(layer.mixer); }

TransformerSpec read_mixtral(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 32000,
                                                 .n_ctx = 131072,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 14336});
  const LayerSpec layer{
      .mixer = attention_of(shape),
      .moe = {.n_expert = reader.integer({"num_local_experts"}, kExperts, 8),
              .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
              .n_ff_exp = shape.n_ff}};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t window = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  set_windows(reader, spec, window, [](int64_t) { return true; });
  return spec;
}

// Biases everywhere, one learned logit a head, every other layer sees a window.
TransformerSpec read_gpt_oss(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 2880,
                                                 .n_layer = 36,
                                                 .n_vocab = 201088,
                                                 .n_ctx = 131072,
                                                 .n_head = 64,
                                                 .n_head_kv = 8,
                                                 .head_dim = 64,
                                                 .n_ff = 2880});
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, true));
  attention.sinks = true;
  const LayerSpec layer{
      .mixer = attention,
      .moe = {.n_expert = reader.integer({"num_local_experts", "num_experts"}, kExperts, 128),
              .n_expert_used =
                  reader.integer({"num_experts_per_tok", "experts_per_token"}, kExperts, 4),
              .n_ff_exp = shape.n_ff,
              .router_bias = true,
              .expert_bias = true}};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t window = reader.integer({"sliding_window"}, kTokens, 128);
  set_windows(reader, spec, window, [](int64_t i) { return i % 2 == 0; });
  return spec;
}

// In attn_config and ffn_config, and the names of its authors. LayerNorms without a shift.
TransformerSpec read_dbrx(ConfigReader& reader) {
  std::optional<ConfigReader> heads = reader.object("attn_config");
  std::optional<ConfigReader> experts = reader.object("ffn_config");
  if (!heads || !experts) {
    reader.refuse("attn_config", "attn_config and ffn_config are needed");
    return {};
  }
  const int64_t n_ff = experts->integer({"ffn_hidden_size"}, kWidths, 3584);
  const int64_t n_head_kv = heads->integer({"kv_n_heads"}, kHeads, 1);
  DecoderShape shape = read_shape(reader, {.n_embd = 2048,
                                           .n_layer = 24,
                                           .n_vocab = 32000,
                                           .n_ctx = 2048,
                                           .n_head = 16,
                                           .n_head_kv = n_head_kv,
                                           .n_ff = n_ff});
  if (shape.n_head % n_head_kv != 0) heads->refuse("kv_n_heads", "does not divide n_heads");
  AttentionSpec attention = attention_of(shape);
  attention.n_head_kv = n_head_kv;
  attention.fused_qkv = true;
  const LayerSpec layer{.mixer = attention,
                        .moe = {.n_expert = experts->integer({"moe_num_experts"}, kExperts, 4),
                                .n_expert_used = experts->integer({"moe_top_k"}, kExperts, 1),
                                .n_ff_exp = n_ff}};
  return make_decoder(reader, shape, layer, false);
}

TransformerSpec read_granite_moe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 32000,
                                                 .n_ctx = 2048,
                                                 .n_head = 32,
                                                 .n_ff = 11008});
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  const LayerSpec layer{
      .mixer = attention,
      .moe = {
          .n_expert = reader.integer({"num_local_experts"}, kExperts, 8),
          .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
          .n_ff_exp = shape.n_ff,
          .n_ff_shared =
              reader.optional_integer({"shared_intermediate_size"}, kWidthsOrNone).value_or(0)}};
  return make_decoder(reader, shape, layer, false);
}

// The first layers are dense; shared experts run as one; a bias for the choice alone.
TransformerSpec read_ernie_moe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 2560,
                                                 .n_layer = 28,
                                                 .n_vocab = 103424,
                                                 .n_ctx = 131072,
                                                 .n_head = 20,
                                                 .n_head_kv = 4,
                                                 .n_ff = 12288});
  LayerSpec layer = llama_layer(shape);
  const bool bias = reader.boolean({"use_bias"}, false);
  attention_in(layer).bias = all_biases(bias);
  layer.feed_forward.bias = bias;
  const int64_t width = reader.integer({"moe_intermediate_size"}, kWidths, 1536);
  const MoeSpec moe{
      .n_expert = reader.integer({"moe_num_experts"}, kExpertsOrNone, 64),
      .n_expert_used = reader.integer({"moe_k"}, kExperts, 6),
      .n_ff_exp = width,
      .n_ff_shared = width * reader.integer({"moe_num_shared_experts"}, kExpertsOrNone, 2),
      .balance_bias = true,
      .expert_bias = bias,
      .shared_bias = bias};
  TransformerSpec spec = make_decoder(reader, shape, layer, true);
  if (reader.optional_integer({"num_nextn_predict_layers"}, kLayersOrNone).value_or(0) > 0) {
    reader.warn("The draft layers of num_nextn_predict_layers are not counted.");
  }
  const int64_t step = reader.integer({"moe_layer_interval"}, kLayers, 1);
  const int64_t first = reader.integer({"moe_layer_start_index"}, kLayersOrNone, 1);
  const int64_t stated = reader.integer({"moe_layer_end_index"}, {-1, kLayers.most}, -1);
  const int64_t last = stated < 0 ? std::ssize(spec.layers) - 1 : stated;
  for (int64_t i = first; i < std::ssize(spec.layers) && moe.n_expert > 0; ++i) {
    if (i > last || (i + 1) % step != 0) continue;
    spec.layers[static_cast<size_t>(i)].feed_forward = {.n_ff = 0};
    spec.layers[static_cast<size_t>(i)].moe = moe;
  }
  return spec;
}

// A number, or a list of one for each layer; lists that vary are not supported.
int64_t read_uniform(ConfigReader& reader, std::string_view key, IntegerRange range,
                     int64_t otherwise) {
  const ConfigValue* value = reader.value().find(key);
  if (value == nullptr || value->kind != ConfigKind::kList) {
    return reader.integer({key}, range, otherwise);
  }
  const std::vector<int64_t> list = reader.integers(key, range);
  if (list.empty() || std::ranges::count(list, list.front()) != std::ssize(list)) {
    reader.refuse(key, "must be the same in every layer");
    return range.least;
  }
  return list.front();
}

TransformerSpec read_hunyuan_moe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  if (reader.boolean({"use_mla"}, false)) reader.refuse("use_mla", "is not supported here");
  if (reader.boolean({"use_cla"}, false)) reader.refuse("use_cla", "is not supported here");
  reader.pass_over(
      {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"});
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention.qk_norm = QkNormKind::kHead;
  reader.pass_over({"use_qk_norm", "mlp_bias"});
  const int64_t width = read_uniform(reader, "moe_intermediate_size", kWidths, shape.n_ff);
  const LayerSpec layer{
      .mixer = attention,
      .moe = {.n_expert = read_uniform(reader, "num_experts", kExperts, 1),
              .n_expert_used = read_uniform(reader, "moe_topk", kExperts, 1),
              .n_ff_exp = width,
              .n_ff_shared = width * read_uniform(reader, "num_shared_expert", kExpertsOrNone, 1)}};
  return make_decoder(reader, shape, layer, false);
}

// Chunks in three layers of four; the fourth sees all. Norms of Q and K have no parameters.
TransformerSpec read_llama4(ConfigReader& reader) {
  DecoderShape shape = read_shape(reader, {.n_embd = 5120,
                                           .n_layer = 48,
                                           .n_vocab = 202048,
                                           .n_ctx = 131072,
                                           .n_head = 40,
                                           .n_head_kv = 8,
                                           .head_dim = 128,
                                           .n_ff = 8192});
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  layer.feed_forward.n_ff = reader.integer({"intermediate_size_mlp"}, kWidths, 16384);
  reader.pass_over({"use_qk_norm"});
  const MoeSpec moe{.n_expert = reader.integer({"num_local_experts"}, kExpertsOrNone, 16),
                    .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 1),
                    .n_ff_exp = shape.n_ff,
                    .n_ff_shared = shape.n_ff};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t chunk = reader.integer({"attention_chunk_size"}, kTokens, 8192);
  const int64_t step = reader.integer({"interleave_moe_layer_step"}, kLayers, 1);
  const std::vector<int64_t> stated = reader.integers("moe_layers", {0, kLayers.most});
  const int64_t interval = reader.optional_integer({"no_rope_layer_interval"}, kLayers).value_or(4);
  const std::vector<std::string> types =
      read_layer_types(reader, std::ssize(spec.layers), {"chunked_attention", "full_attention"});
  for (int64_t i = 0; i < std::ssize(spec.layers); ++i) {
    LayerSpec& one = spec.layers[static_cast<size_t>(i)];
    const bool chunked = types.empty() ? (i + 1) % interval != 0
                                       : types[static_cast<size_t>(i)] == "chunked_attention";
    attention_in(one).chunk = chunked ? chunk : 0;
    const bool sparse =
        stated.empty() ? (i + 1) % step == 0 : std::ranges::find(stated, i) != stated.end();
    if (!sparse || moe.n_expert == 0) continue;
    one.feed_forward = {.n_ff = 0};
    one.moe = moe;
  }
  return spec;
}

}  // namespace

std::span<const HfFamily> moe_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"mixtral", "MixtralConfig", "llama", read_mixtral},
      HfFamily{"gpt_oss", "GptOssConfig", "gpt-oss", read_gpt_oss},
      HfFamily{"dbrx", "DbrxConfig", "dbrx", read_dbrx},
      HfFamily{"granitemoe", "GraniteMoeConfig", "granitemoe", read_granite_moe},
      HfFamily{"granitemoeshared", "GraniteMoeSharedConfig", "granitemoe", read_granite_moe},
      HfFamily{"ernie4_5_moe", "Ernie4_5_MoeConfig", "ernie4_5-moe", read_ernie_moe},
      HfFamily{"hunyuan_v1_moe", "HunYuanMoEV1Config", "hunyuan-moe", read_hunyuan_moe},
      HfFamily{"llama4_text", "Llama4TextConfig", "llama4", read_llama4},
  };
  return kFamilies;
}

}  // namespace tidemark
