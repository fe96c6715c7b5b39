// Decoders whose layers are of two kinds: LFM2 (short convolutions), Granite 4 (Mamba-2).
#include <algorithm>
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

constexpr ShapeDefaults kLfm2{.n_embd = 2560,
                              .n_layer = 32,
                              .n_vocab = 65536,
                              .n_ctx = 128000,
                              .n_head = 32,
                              .n_head_kv = 8,
                              .n_ff = 12288};
constexpr ShapeDefaults kGraniteHybrid{
    .n_embd = 4096, .n_layer = 32, .n_vocab = 32000, .n_ctx = 2048, .n_head = 32, .n_ff = 11008};

// Two thirds of the stated width, times a factor, rounded up to a multiple:
//   LFM2-1.2B: 12,288 -> 8,192 -> x 1.0 -> 8,192, a multiple of 256.
int64_t adjusted_width(ConfigReader& reader, int64_t stated) {
  if (!reader.boolean({"block_auto_adjust_ff_dim"}, true)) return stated;
  int64_t width = 2 * stated / 3;
  const std::optional<double> factor = reader.optional_number({"block_ffn_dim_multiplier"});
  if (factor) width = scaled_width(reader, "block_ffn_dim_multiplier", width, *factor);
  const int64_t multiple = reader.integer({"block_multiple_of"}, kWidths, 256);
  return (width + multiple - 1) / multiple * multiple;
}

// Which layers are attention: layer_types, or full_attn_idxs; all when the file has neither.
std::vector<bool> lfm2_attention(ConfigReader& reader, int64_t n_layer) {
  const std::vector<std::string> types =
      read_layer_types(reader, n_layer, {"conv", "full_attention"});
  const std::vector<int64_t> listed = reader.integers("full_attn_idxs", {0, kLayers.most});
  std::vector<bool> attention(static_cast<size_t>(n_layer));
  for (int64_t i = 0; i < n_layer; ++i) {
    const auto at = static_cast<size_t>(i);
    attention[at] = !types.empty() ? types[at] == "full_attention"
                                   : listed.empty() || std::ranges::find(listed, i) != listed.end();
  }
  return attention;
}

TransformerSpec read_lfm2(ConfigReader& reader) {
  DecoderShape shape = read_shape(reader, kLfm2);
  const std::optional<int64_t> stated = reader.optional_integer({"block_ff_dim"}, kWidths);
  shape.n_ff = adjusted_width(reader, stated.value_or(shape.n_ff));
  LayerSpec layer = llama_layer(shape);
  std::get<AttentionSpec>(layer.mixer).qk_norm = QkNormKind::kHead;
  const ShortConvSpec conv{.d_conv = reader.integer({"conv_L_cache"}, kHeads, 3),
                           .bias = reader.boolean({"conv_bias"}, false)};
  const bool tied = reader.optional_boolean({"tie_embedding"}).value_or(true);
  TransformerSpec spec = make_decoder(reader, shape, layer, tied);
  const std::vector<bool> attention = lfm2_attention(reader, std::ssize(spec.layers));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (!attention[i]) spec.layers[i].mixer = conv;
  }
  return spec;
}

Mamba2Spec read_mamba2(ConfigReader& reader, int64_t n_embd) {
  const int64_t expand = reader.integer({"mamba_expand"}, {1, 64}, 2);
  const Mamba2Spec mamba{.d_conv = reader.integer({"mamba_d_conv"}, kHeads, 4),
                         .d_inner = expand * n_embd,
                         .d_state = reader.integer({"mamba_d_state"}, kWidths, 256),
                         .n_head = reader.integer({"mamba_n_heads"}, kHeads, 128),
                         .n_group = reader.integer({"mamba_n_groups"}, kHeads, 1),
                         .conv_bias = reader.boolean({"mamba_conv_bias"}, true),
                         .proj_bias = reader.boolean({"mamba_proj_bias"}, false)};
  if (mamba.d_inner % mamba.n_head != 0 || mamba.d_inner % mamba.n_group != 0) {
    reader.refuse("mamba_n_heads", "heads and groups must divide mamba_expand x hidden_size");
  }
  reader.pass_over({"mamba_d_head", "mamba_chunk_size"});
  return mamba;
}

// Without routed experts only the shared one is left, a dense feed-forward.
void set_granite_feed_forward(ConfigReader& reader, LayerSpec& layer, int64_t n_ff) {
  const int64_t n_expert = reader.integer({"num_local_experts"}, kExpertsOrNone, 8);
  const int64_t shared = reader.integer({"shared_intermediate_size"}, kWidthsOrNone, 1024);
  if (n_expert == 0) {
    layer.feed_forward = {.n_ff = shared, .fused_gate_up = true};
    reader.pass_over({"num_experts_per_tok"});
    return;
  }
  layer.feed_forward = {.n_ff = 0};
  layer.moe = {.n_expert = n_expert,
               .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
               .n_ff_exp = n_ff,
               .n_ff_shared = shared};
}

TransformerSpec read_granite_hybrid(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kGraniteHybrid);
  LayerSpec layer = llama_layer(shape);
  std::get<AttentionSpec>(layer.mixer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  set_granite_feed_forward(reader, layer, shape.n_ff);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const std::vector<std::string> types =
      read_layer_types(reader, std::ssize(spec.layers), {"mamba", "attention"});
  const bool all_mamba = types.empty();
  if (!all_mamba && std::ranges::find(types, "mamba") == types.end()) {
    reader.pass_over({"mamba_d_state", "mamba_expand", "mamba_n_heads"});
    return spec;
  }
  const Mamba2Spec mamba = read_mamba2(reader, shape.n_embd);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (all_mamba || types[i] == "mamba") spec.layers[i].mixer = mamba;
  }
  return spec;
}

}  // namespace

std::span<const HfFamily> hybrid_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"lfm2", "Lfm2Config", "lfm2", read_lfm2},
      HfFamily{"granitemoehybrid", "GraniteMoeHybridConfig", "granitehybrid", read_granite_hybrid},
  };
  return kFamilies;
}

}  // namespace tidemark
