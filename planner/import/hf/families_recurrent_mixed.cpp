// Falcon-H1, whose blocks hold a recurrence and attention side by side, and MiniMax-Text-01, whose
// layers take turns between linear and softmax attention.
#include <fmt/core.h>

#include <array>
#include <string>

#include "planner/base/checked.h"
#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families_recurrent.h"

namespace tidemark {
namespace {

// --- Falcon-H1: one norm, then Mamba-2 and attention from the same input.

Mamba2Spec read_falcon_mixer(ConfigReader& reader, int64_t n_embd) {
  Mamba2Spec mamba{.d_conv = reader.integer({"mamba_d_conv"}, kWidths, 4),
                   .d_state = reader.integer({"mamba_d_state"}, kWidths, 256),
                   .n_head = reader.integer({"mamba_n_heads"}, kHeads, 128),
                   .n_group = reader.integer({"mamba_n_groups"}, kHeads, 1),
                   .conv_bias = reader.boolean({"mamba_conv_bias"}, true),
                   .proj_bias = reader.boolean({"mamba_proj_bias", "projectors_bias"}, false),
                   .gated_norm = reader.boolean({"mamba_rms_norm"}, false)};
  const int64_t expanded = scaled_width(reader, "mamba_expand", n_embd,
                                        reader.optional_number({"mamba_expand"}).value_or(2));
  const bool is_null = reader.mentions("mamba_d_ssm") && !reader.has({"mamba_d_ssm"});
  mamba.d_inner = is_null ? expanded : reader.integer({"mamba_d_ssm"}, kWidths, 1024);
  reader.pass_over({"mamba_d_head", "mamba_d_ssm"});
  if (mamba.d_inner % mamba.n_group != 0 || mamba.d_inner % mamba.n_head != 0) {
    reader.refuse("mamba_n_heads", "heads and groups must divide the inner width");
  }
  return mamba;
}

// A layer has one mixer, so that a block becomes two: the recurrence with the norm of both, and
// attention with the feed-forward.
TransformerSpec read_falcon_h1(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 128000,
                                                 .n_ctx = 8192,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 14336});
  const LayerSpec recurrent{.mixer = read_falcon_mixer(reader, shape.n_embd),
                            .norms = {.before_ffn = NormKind::kNone}};
  LayerSpec attending = llama_layer(shape);
  attending.norms.before_mixer = NormKind::kNone;
  std::get<AttentionSpec>(attending.mixer).bias =
      all_biases(reader.boolean({"attention_bias"}, false));
  attending.feed_forward.bias = reader.boolean({"mlp_bias"}, false);
  TransformerSpec spec = make_decoder(reader, shape, attending, false);
  spec.layers.clear();
  for (int64_t i = 0; reader.ok() && i < shape.n_layer; ++i) {
    spec.layers.push_back(recurrent);
    spec.layers.push_back(attending);
  }
  reader.warn(
      fmt::format("Each of the {} blocks counts as two layers: its recurrence, and its attention "
                  "with the feed-forward.",
                  shape.n_layer));
  return spec;
}

// --- MiniMax-Text-01: seven layers of linear attention, one of softmax attention; experts in all.

// 0 is linear in the model's own file; transformers writes names.
std::vector<bool> read_linear_layers(ConfigReader& reader, int64_t n_layer) {
  const std::vector<int64_t> kinds = reader.integers("attn_type_list", {0, 1});
  const std::vector<std::string> names =
      read_layer_types(reader, n_layer, {"linear_attention", "full_attention"});
  if (names.empty() && std::ssize(kinds) != n_layer) {
    reader.refuse("attn_type_list", "must hold a 0 or 1 for each layer");
  }
  std::vector<bool> is_linear(static_cast<size_t>(n_layer));
  for (size_t i = 0; i < is_linear.size() && reader.ok(); ++i) {
    is_linear[i] = names.empty() ? kinds[i] == 0 : names[i] == "linear_attention";
  }
  return is_linear;
}

MoeSpec read_minimax_experts(ConfigReader& reader, const DecoderShape& shape) {
  const int64_t shared = reader.integer({"shared_intermediate_size"}, kWidthsOrNone, 0);
  return {.n_expert = reader.integer({"num_local_experts"}, kExperts, 8),
          .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
          .n_ff_exp = shape.n_ff,
          .n_ff_shared = shared,
          .shared_gate = shared > 0};
}

TransformerSpec read_minimax(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 32000,
                                                 .n_ctx = 131072,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 14336});
  LayerSpec layer{.mixer = attention_of(shape), .moe = read_minimax_experts(reader, shape)};
  reader.pass_over({"sliding_window"});
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const std::vector<bool> is_linear = read_linear_layers(reader, std::ssize(spec.layers));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (!is_linear[i]) continue;
    spec.layers[i].mixer = LinearAttentionSpec{.n_head = shape.n_head, .head_dim = shape.head_dim};
  }
  return spec;
}

}  // namespace

std::span<const HfFamily> recurrent_mixed_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"falcon_h1", "FalconH1Config", "falcon-h1", read_falcon_h1},
      HfFamily{"minimax_text_01", "MiniMaxText01Config", "minimax_text_01", read_minimax},
      HfFamily{"minimax_m1", "MiniMaxM1Config", "minimax_text_01", read_minimax},
      HfFamily{"minimax", "MiniMaxConfig", "minimax_text_01", read_minimax},
  };
  return kFamilies;
}

}  // namespace tidemark
