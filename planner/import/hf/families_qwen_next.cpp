// Qwen3-Next and Qwen3.5: three layers of a gated delta rule, then one of gated attention.
#include <algorithm>
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"
#include "planner/import/hf/families_qwen.h"

namespace tidemark {
namespace {

constexpr ShapeDefaults kShape{.n_embd = 2048,
                               .n_layer = 48,
                               .n_vocab = 151936,
                               .n_ctx = 32768,
                               .n_head = 16,
                               .n_head_kv = 2,
                               .head_dim = 256,
                               .n_ff = 5632};
// Qwen3_5TextConfig.
constexpr ShapeDefaults kDenseShape{.n_embd = 4096,
                                    .n_layer = 32,
                                    .n_vocab = 248320,
                                    .n_ctx = 32768,
                                    .n_head = 16,
                                    .n_head_kv = 4,
                                    .head_dim = 256,
                                    .n_ff = 12288};

GatedDeltaSpec read_delta(ConfigReader& reader) {
  return {.n_key_head = reader.integer({"linear_num_key_heads"}, kHeads, 16),
          .n_value_head = reader.integer({"linear_num_value_heads"}, kHeads, 32),
          .key_dim = reader.integer({"linear_key_head_dim"}, kWidths, 128),
          .value_dim = reader.integer({"linear_value_head_dim"}, kWidths, 128),
          .d_conv = reader.integer({"linear_conv_kernel_dim"}, kHeads, 4)};
}

// One draft layer: attention of the full kind, with the norms and the matrix that join the next
// token's embedding to the hidden state. Published totals count it.
StackSpec draft_stack(const LayerSpec& attention_layer, int64_t n_embd, int64_t n_draft) {
  return {.role = StackRole::kDraft,
          .n_embd = n_embd,
          .layers = std::vector<LayerSpec>(static_cast<size_t>(n_draft), attention_layer),
          .final_norm = NormKind::kScale,
          .extras = {{.name = "fc.weight", .columns = 2 * n_embd, .rows = n_embd},
                     {.name = "pre_fc_norm_embedding.weight", .columns = n_embd},
                     {.name = "pre_fc_norm_hidden.weight", .columns = n_embd}}};
}

TransformerSpec read_hybrid(ConfigReader& reader, const ShapeDefaults& defaults, bool has_experts) {
  const DecoderShape shape = read_shape(reader, defaults);
  LayerSpec full = llama_layer(shape);
  auto& attention = std::get<AttentionSpec>(full.mixer);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention.qk_norm = QkNormKind::kHead;
  attention.output_gate = reader.boolean({"attn_output_gate"}, true);
  TransformerSpec spec = make_decoder(reader, shape, full, false);
  if (has_experts) {
    set_qwen_experts(
        reader, spec,
        {.n_expert = reader.integer({"num_experts"}, kExpertsOrNone, 512),
         .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 10),
         .n_ff_exp = reader.integer({"moe_intermediate_size"}, kWidths, 512),
         .n_ff_shared = reader.integer({"shared_expert_intermediate_size"}, kWidths, 512),
         .shared_gate = true});
  } else {
    reader.pass_over({"mlp_only_layers"});
  }
  const LayerSpec last = spec.layers.empty() ? LayerSpec{} : spec.layers.back();
  const GatedDeltaSpec delta = read_delta(reader);
  const int64_t interval = reader.integer({"full_attention_interval"}, kLayers, 4);
  const std::vector<std::string> types =
      read_layer_types(reader, std::ssize(spec.layers), {"linear_attention", "full_attention"});
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const bool is_linear = types.empty() ? (static_cast<int64_t>(i) + 1) % interval != 0
                                         : types[i] == "linear_attention";
    if (is_linear) spec.layers[i].mixer = delta;
  }
  LayerSpec draft = last;
  draft.mixer = full.mixer;
  const int64_t n_draft =
      reader.optional_integer({"mtp_num_hidden_layers"}, kLayersOrNone).value_or(0);
  if (n_draft > 0) spec.stacks.push_back(draft_stack(draft, shape.n_embd, n_draft));
  return spec;
}

TransformerSpec read_qwen3_next(ConfigReader& reader) { return read_hybrid(reader, kShape, true); }

TransformerSpec read_qwen3_5(ConfigReader& reader) {
  return read_hybrid(reader, kDenseShape, false);
}

TransformerSpec read_qwen3_5_moe(ConfigReader& reader) { return read_hybrid(reader, kShape, true); }

}  // namespace

std::span<const HfFamily> qwen_next_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"qwen3_next", "Qwen3NextConfig", "qwen3next", read_qwen3_next},
      HfFamily{"qwen3_5_text", "Qwen3_5TextConfig", "qwen35", read_qwen3_5},
      HfFamily{"qwen3_5_moe_text", "Qwen3_5MoeTextConfig", "qwen35moe", read_qwen3_5_moe},
  };
  return kFamilies;
}

}  // namespace tidemark
