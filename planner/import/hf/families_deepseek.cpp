// Multi-head latent attention: DeepSeek-V2 and -V3, Kimi-K2, MiniCPM3; and MiniCPM itself.
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"
#include "planner/import/hf/latent_layers.h"

namespace tidemark {
namespace {

MlaSpec read_mla(ConfigReader& reader, const DecoderShape& shape) {
  return {.n_head = shape.n_head,
          .q_lora = reader.optional_integer({"q_lora_rank"}, kWidths).value_or(0),
          .kv_lora = reader.integer({"kv_lora_rank"}, kWidths, 512),
          .qk_nope = reader.integer({"qk_nope_head_dim"}, kWidths, 128),
          .qk_rope = reader.integer({"qk_rope_head_dim"}, kWidths, 64),
          .v_head = reader.integer({"v_head_dim"}, kWidths, 128)};
}

MoeSpec read_experts(ConfigReader& reader, bool has_balance_bias) {
  const int64_t n_expert =
      reader.optional_integer({"n_routed_experts"}, kExpertsOrNone).value_or(0);
  const int64_t n_shared =
      reader.optional_integer({"n_shared_experts"}, kExpertsOrNone).value_or(0);
  if (n_expert == 0) return {};
  const int64_t width = reader.integer({"moe_intermediate_size"}, kWidths, 1407);
  return {.n_expert = n_expert,
          .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts),
          .n_ff_exp = width,
          .n_ff_shared = n_shared * width,
          .balance_bias = has_balance_bias};
}

TransformerSpec read_deepseek(ConfigReader& reader, bool is_v3) {
  DecoderShape shape = read_shape(reader, {.n_ff = is_v3 ? 18432 : 11008});
  if (reader.boolean({"attention_bias"}, false)) {
    reader.refuse("attention_bias", "biases of latent attention are not supported");
  }
  LayerSpec layer = llama_layer(shape);
  layer.mixer = read_mla(reader, shape);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const MoeSpec moe = read_experts(reader, is_v3);
  set_latent_experts(spec, moe, reader.integer({"first_k_dense_replace"}, kLayersOrNone, 0),
                     reader.integer({"moe_layer_freq"}, kLayers, 1));
  const int64_t n_draft =
      reader.optional_integer({"num_nextn_predict_layers"}, kLayersOrNone).value_or(0);
  if (n_draft > 0 && !spec.layers.empty()) spec.stacks.push_back(latent_draft(spec, n_draft));
  return spec;
}

TransformerSpec read_deepseek_v2(ConfigReader& reader) { return read_deepseek(reader, false); }
TransformerSpec read_deepseek_v3(ConfigReader& reader) { return read_deepseek(reader, true); }

// Every head's K and V are made and cached.
TransformerSpec read_minicpm3(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  MlaSpec mla{.n_head = shape.n_head,
              .q_lora = reader.integer({"q_lora_rank"}, kWidths, 768),
              .kv_lora = reader.integer({"kv_lora_rank"}, kWidths, 256),
              .qk_nope = reader.integer({"qk_nope_head_dim"}, kWidths, 64),
              .qk_rope = reader.integer({"qk_rope_head_dim"}, kWidths, 32),
              .v_head = shape.head_dim,
              .latent_cache = false,
              .split_kv_b = false};
  mla.v_head =
      reader.integer({"v_head_dim"}, kWidths, shape.head_dim, "hidden_size / num_attention_heads");
  LayerSpec layer = llama_layer(shape);
  layer.mixer = mla;
  return make_decoder(reader, shape, layer, true);
}

// MiniCPM-MoE states num_experts.
TransformerSpec read_minicpm(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  LayerSpec layer = llama_layer(shape);
  const int64_t n_expert = reader.optional_integer({"num_experts"}, kExpertsOrNone).value_or(0);
  if (n_expert > 0) {
    layer.feed_forward = {.n_ff = 0};
    layer.moe = {.n_expert = n_expert,
                 .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
                 .n_ff_exp = shape.n_ff};
  }
  return make_decoder(reader, shape, layer, true);
}

}  // namespace

void set_latent_experts(TransformerSpec& spec, const MoeSpec& moe, int64_t n_dense, int64_t step) {
  for (int64_t i = n_dense; i < std::ssize(spec.layers) && moe.n_expert > 0; ++i) {
    if (i % step != 0) continue;
    LayerSpec& layer = spec.layers[static_cast<size_t>(i)];
    layer.feed_forward = {.n_ff = 0};
    layer.moe = moe;
  }
}

StackSpec latent_draft(const TransformerSpec& spec, int64_t n_draft) {
  LayerSpec layer = spec.layers.back();
  const int64_t n_embd = spec.n_embd;
  layer.extras = {{.name = "enorm.weight", .columns = n_embd},
                  {.name = "hnorm.weight", .columns = n_embd},
                  {.name = "eh_proj.weight", .columns = 2 * n_embd, .rows = n_embd},
                  {.name = "embed_tokens.weight", .columns = n_embd, .rows = spec.n_vocab},
                  {.name = "shared_head_norm.weight", .columns = n_embd},
                  {.name = "shared_head_head.weight", .columns = n_embd, .rows = spec.n_vocab}};
  return {.role = StackRole::kDraft,
          .n_embd = n_embd,
          .layers = std::vector<LayerSpec>(static_cast<size_t>(n_draft), layer),
          .is_counted = false};
}

std::span<const HfFamily> mla_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"deepseek_v2", "DeepseekV2Config", "deepseek2", read_deepseek_v2},
      HfFamily{"deepseek_v3", "DeepseekV3Config", "deepseek2", read_deepseek_v3},
      HfFamily{"kimi_k2", "DeepseekV3Config", "deepseek2", read_deepseek_v3},
      HfFamily{"minicpm3", "MiniCPM3Config", "minicpm3", read_minicpm3},
      HfFamily{"minicpm", "MiniCPMConfig", "minicpm", read_minicpm},
  };
  return kFamilies;
}

}  // namespace tidemark
