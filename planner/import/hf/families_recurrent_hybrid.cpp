// Recurrences in most layers, attention in some: Jamba, Bamba, Nemotron-H.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "planner/base/checked.h"
#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families_recurrent.h"

namespace tidemark {
namespace {

// "auto" and absence both mean `otherwise`.
int64_t read_or_auto(ConfigReader& reader, std::string_view key, int64_t otherwise,
                     std::string_view why) {
  const ConfigValue* value = reader.value().find(key);
  if (value != nullptr && value->kind == ConfigKind::kText && value->text == "auto") {
    reader.pass_over({key});
    return otherwise;
  }
  return reader.integer({key}, kWidths, otherwise, why);
}

int64_t read_expanded(ConfigReader& reader, int64_t n_embd) {
  return scaled_width(reader, "mamba_expand", n_embd,
                      reader.optional_number({"mamba_expand"}).value_or(2));
}

// --- Jamba: one layer in eight attends, every second one has experts.

bool is_every(int64_t i, int64_t period, int64_t offset) { return i % period == offset; }

TransformerSpec read_jamba(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 65536,
                                                 .n_ctx = 262144,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 14336});
  const MambaSpec mamba{.d_conv = reader.integer({"mamba_d_conv"}, kWidths, 4),
                        .d_inner = read_expanded(reader, shape.n_embd),
                        .d_state = reader.integer({"mamba_d_state"}, kWidths, 16),
                        .dt_rank = read_or_auto(reader, "mamba_dt_rank", ceil_div(shape.n_embd, 16),
                                                "hidden_size / 16"),
                        .conv_bias = reader.boolean({"mamba_conv_bias"}, true),
                        .proj_bias = reader.boolean({"mamba_proj_bias"}, false),
                        .inner_norms = true};
  const MoeSpec moe{.n_expert = reader.integer({"num_experts"}, kExperts, 16),
                    .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
                    .n_ff_exp = shape.n_ff};
  const int64_t attention_period = reader.integer({"attn_layer_period"}, kLayers, 8);
  const int64_t attention_offset = reader.integer({"attn_layer_offset"}, kLayersOrNone, 4);
  const int64_t expert_period = reader.integer({"expert_layer_period"}, kLayers, 2);
  const int64_t expert_offset = reader.integer({"expert_layer_offset"}, kLayersOrNone, 1);
  TransformerSpec spec = make_decoder(reader, shape, llama_layer(shape), false);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    LayerSpec& layer = spec.layers[i];
    if (!is_every(index, attention_period, attention_offset)) layer.mixer = mamba;
    if (moe.n_expert > 1 && is_every(index, expert_period, expert_offset)) {
      layer.feed_forward = {};
      layer.moe = moe;
    }
  }
  return spec;
}

// --- Bamba: Mamba-2 in place of attention.

Mamba2Spec read_mamba2_mixer(ConfigReader& reader, int64_t n_embd) {
  Mamba2Spec mamba{.d_conv = reader.integer({"mamba_d_conv"}, kWidths, 4),
                   .d_state = reader.integer({"mamba_d_state"}, kWidths, 256),
                   .n_head = reader.integer({"mamba_n_heads"}, kHeads, 128),
                   .n_group = reader.integer({"mamba_n_groups"}, kHeads, 1),
                   .conv_bias = reader.boolean({"mamba_conv_bias"}, true),
                   .proj_bias = reader.boolean({"mamba_proj_bias"}, false)};
  mamba.d_inner = read_expanded(reader, n_embd);
  const int64_t head_dim = read_or_auto(reader, "mamba_d_head", mamba.d_inner / mamba.n_head,
                                        "mamba_expand x hidden_size / mamba_n_heads");
  if (checked_mul(head_dim, mamba.n_head) != mamba.d_inner) {
    reader.refuse("mamba_n_heads", "mamba_n_heads x mamba_d_head must be the inner width");
  }
  if (mamba.d_inner % mamba.n_group != 0) {
    reader.refuse("mamba_n_groups", "must divide the inner width");
  }
  return mamba;
}

TransformerSpec read_bamba(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 128000,
                                                 .n_ctx = 262144,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 14336});
  const Mamba2Spec mamba = read_mamba2_mixer(reader, shape.n_embd);
  LayerSpec layer = llama_layer(shape);
  std::get<AttentionSpec>(layer.mixer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  layer.feed_forward.bias = reader.boolean({"mlp_bias"}, false);
  const std::vector<int64_t> attends = reader.integers("attn_layer_indices", kLayersOrNone);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (std::ranges::find(attends, static_cast<int64_t>(i)) == attends.end()) {
      spec.layers[i].mixer = mamba;
    }
  }
  return spec;
}

// --- Nemotron-H: each layer is one norm and one part, by a pattern of letters.

struct NemotronParts {
  DecoderShape shape{};
  Mamba2Spec mamba{};
  AttentionSpec attention{};
  FeedForwardSpec feed_forward{};
  MoeSpec moe{};
};

Mamba2Spec read_nemotron_mamba(ConfigReader& reader) {
  const int64_t n_head = reader.integer({"mamba_num_heads"}, kHeads, 128);
  const Mamba2Spec mamba{
      .d_conv = reader.integer({"conv_kernel"}, kWidths, 4),
      .d_inner = checked_mul(n_head, reader.integer({"mamba_head_dim"}, kWidths, 64)),
      .d_state = reader.integer({"ssm_state_size"}, kWidths, 128),
      .n_head = n_head,
      .n_group = reader.integer({"n_groups"}, kHeads, 8),
      .conv_bias = reader.boolean({"use_conv_bias"}, true),
      .proj_bias = reader.boolean({"use_bias", "mamba_proj_bias"}, false)};
  if (mamba.d_inner % mamba.n_group != 0) reader.refuse("n_groups", "must divide the inner width");
  return mamba;
}

MoeSpec read_nemotron_experts(ConfigReader& reader) {
  if (reader.has({"moe_latent_size"})) {
    reader.refuse("moe_latent_size", "experts of another width are not known here");
  }
  const int64_t n_expert = reader.integer({"n_routed_experts"}, kExperts, 8);
  const int64_t shared = reader.integer({"n_shared_experts"}, kExpertsOrNone, 1);
  const int64_t n_ff_shared =
      reader.integer({"moe_shared_expert_intermediate_size"}, kWidths, 7688);
  return {.n_expert = n_expert,
          .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
          .n_ff_exp = reader.integer({"moe_intermediate_size"}, kWidths, 7688),
          .n_ff_shared = checked_mul(shared, n_ff_shared),
          .gated = false};
}

// transformers spells the letters out.
char letter_of(const std::string& type) {
  if (type == "mamba") return 'M';
  if (type == "attention") return '*';
  if (type == "moe") return 'E';
  return type == "mlp" ? '-' : '?';
}

// "M" Mamba-2, "*" attention, "-" a feed-forward, "E" experts.
std::string read_pattern(ConfigReader& reader) {
  std::string pattern = reader.optional_text({"hybrid_override_pattern"}).value_or("");
  for (const auto* key : {"layers_block_type", "layer_types"}) {
    const std::vector<std::string> types = reader.texts(key);
    if (!pattern.empty()) continue;
    for (const std::string& type : types) pattern += letter_of(type);
  }
  if (pattern.empty()) reader.refuse("hybrid_override_pattern", "is missing");
  return pattern;
}

LayerSpec nemotron_layer(const NemotronParts& parts, char letter) {
  const bool mixes = letter == 'M' || letter == '*';
  LayerSpec layer{.mixer = NoMixer{},
                  .norms = {.before_mixer = mixes ? NormKind::kScale : NormKind::kNone,
                            .before_ffn = mixes ? NormKind::kNone : NormKind::kScale}};
  if (letter == 'M') layer.mixer = parts.mamba;
  if (letter == '*') layer.mixer = parts.attention;
  if (letter == '-') layer.feed_forward = parts.feed_forward;
  if (letter == 'E') {
    layer.moe = parts.moe;
    layer.extras.push_back(
        {.name = "exp_probs_b.bias", .columns = parts.moe.n_expert, .is_parameter = false});
  }
  return layer;
}

DecoderShape read_nemotron_shape(ConfigReader& reader, const std::string& pattern) {
  if (pattern.size() > static_cast<size_t>(kLayers.most)) {
    reader.refuse("hybrid_override_pattern", fmt::format("has more than {} layers", kLayers.most));
  }
  DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                           .n_layer = std::max<int64_t>(std::ssize(pattern), 1),
                                           .n_vocab = 131072,
                                           .n_ctx = 4096,
                                           .n_head = 32,
                                           .n_head_kv = 8,
                                           .head_dim = 128,
                                           .n_ff = 21504});
  shape.head_dim =
      reader.optional_integer({"attention_head_dim"}, kWidths).value_or(shape.head_dim);
  if (shape.n_layer != std::ssize(pattern) && reader.ok()) {
    reader.refuse("num_hidden_layers",
                  fmt::format("is not the {} layers of the pattern", std::ssize(pattern)));
  }
  return shape;
}

TransformerSpec read_nemotron_h(ConfigReader& reader) {
  const std::string pattern = read_pattern(reader);
  NemotronParts parts{.shape = read_nemotron_shape(reader, pattern),
                      .mamba = read_nemotron_mamba(reader)};
  parts.attention = attention_of(parts.shape);
  parts.attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  parts.feed_forward = {
      .n_ff = parts.shape.n_ff, .gated = false, .bias = reader.boolean({"mlp_bias"}, false)};
  if (pattern.find('E') != std::string::npos) parts.moe = read_nemotron_experts(reader);
  if (pattern.find('E') == std::string::npos) {
    reader.pass_over({"n_routed_experts", "n_shared_experts", "moe_intermediate_size"});
  }
  TransformerSpec spec = make_decoder(reader, parts.shape, llama_layer(parts.shape), false);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (std::string_view("M*-E").find(pattern[i]) == std::string_view::npos) {
      reader.refuse("hybrid_override_pattern", "knows M, *, - and E");
      break;
    }
    spec.layers[i] = nemotron_layer(parts, pattern[i]);
  }
  return spec;
}

}  // namespace

std::span<const HfFamily> recurrent_hybrid_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"jamba", "JambaConfig", "jamba", read_jamba},
      HfFamily{"bamba", "BambaConfig", "bamba", read_bamba},
      HfFamily{"nemotron_h", "NemotronHConfig", "nemotron_h", read_nemotron_h},
  };
  return kFamilies;
}

}  // namespace tidemark
