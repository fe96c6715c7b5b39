#include "planner/import/hf/families_other.h"

#include <fmt/core.h>

#include <algorithm>

#include "planner/base/diagnostic.h"
#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/latent_layers.h"

namespace tidemark {
namespace {

DecoderShape read_dims(ConfigReader& reader, ConfigKeys feed_forward) {
  DecoderShape shape{.n_embd = reader.integer({"dim"}, kWidths),
                     .n_layer = reader.integer({"n_layers"}, kLayers),
                     .n_vocab = reader.integer({"vocab_size"}, kVocab),
                     .n_ctx = reader.optional_integer({"max_seq_len"}, kTokens).value_or(0),
                     .n_head = reader.integer({"n_heads"}, kHeads),
                     .n_ff = reader.integer(feed_forward, kWidths)};
  shape.n_head_kv = reader.integer({"n_kv_heads"}, kHeads, shape.n_head, "as many as heads");
  if (shape.n_head % shape.n_head_kv != 0) reader.refuse("n_kv_heads", "does not divide n_heads");
  if (!reader.has({"head_dim"}) && shape.n_embd % shape.n_head != 0) {
    reader.refuse("n_heads", "does not divide dim");
  }
  shape.head_dim = reader.integer(
      {"head_dim"}, kWidths, std::max<int64_t>(1, shape.n_embd / shape.n_head), "dim / n_heads");
  return shape;
}

TransformerSpec read_deepseek_inference(ConfigReader& reader) {
  DecoderShape shape = read_dims(reader, {"inter_dim"});
  LayerSpec layer = llama_layer(shape);
  layer.mixer = MlaSpec{.n_head = shape.n_head,
                        .q_lora = reader.integer({"q_lora_rank"}, kWidthsOrNone, 0),
                        .kv_lora = reader.integer({"kv_lora_rank"}, kWidths, 512),
                        .qk_nope = reader.integer({"qk_nope_head_dim"}, kWidths, 128),
                        .qk_rope = reader.integer({"qk_rope_head_dim"}, kWidths, 64),
                        .v_head = reader.integer({"v_head_dim"}, kWidths, 128)};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t width = reader.integer({"moe_inter_dim"}, kWidths, 1408);
  // The gate makes a bias only for a model as wide as DeepSeek-V3.
  constexpr int64_t kWithBias = 7168;
  const MoeSpec moe{.n_expert = reader.integer({"n_routed_experts"}, kExpertsOrNone, 64),
                    .n_expert_used = reader.integer({"n_activated_experts"}, kExperts, 6),
                    .n_ff_exp = width,
                    .n_ff_shared = width * reader.integer({"n_shared_experts"}, kExpertsOrNone, 2),
                    .balance_bias = shape.n_embd == kWithBias};
  set_latent_experts(spec, moe, reader.integer({"n_dense_layers"}, kLayersOrNone, 1), 1);
  return spec;
}

// The file does not say whether head and embedding are one. They are in the published models that
// ExecuTorch ships such files for.
TransformerSpec read_executorch(ConfigReader& reader) {
  const DecoderShape shape = read_dims(reader, {"hidden_dim"});
  LayerSpec layer = llama_layer(shape);
  auto& attention = std::get<AttentionSpec>(layer.mixer);
  attention.bias = qkv_biases(reader.boolean({"attention_qkv_bias"}, false));
  if (reader.boolean({"use_qk_norm"}, false)) attention.qk_norm = QkNormKind::kHead;
  if (!reader.has({"tie_word_embeddings"})) {
    reader.warn("The file does not say whether head and embedding are one; taken as one.");
  }
  TransformerSpec spec = make_decoder(reader, shape, layer, true);
  const std::vector<std::string> types =
      read_layer_types(reader, std::ssize(spec.layers), {"conv", "full_attention"});
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != "conv") continue;
    spec.layers[i].mixer = ShortConvSpec{
        .d_conv = reader.optional_integer({"conv_L_cache"}, kHeads).value_or(3), .bias = false};
  }
  return spec;
}

TransformerSpec read_mistral_params(ConfigReader& reader) {
  const DecoderShape shape = read_dims(reader, {"hidden_dim"});
  LayerSpec layer = llama_layer(shape);
  if (reader.has({"moe"})) reader.refuse("moe", "experts are not supported in this format");
  const bool tied = reader.optional_boolean({"tied_embeddings"}).value_or(false);
  return make_decoder(reader, shape, layer, tied);
}

constexpr OtherFormat kDeepSeek{
    .family = {"DeepSeek inference config", "ModelArgs", "deepseek2", read_deepseek_inference},
    .dtype = DType::kBf16};
constexpr OtherFormat kExecuTorch{
    .family = {"ExecuTorch params", "ExecuTorch's ModelArgs", "llama", read_executorch},
    .dtype = DType::kF32};
constexpr OtherFormat kMistral{
    .family = {"Mistral params.json", "Mistral's ModelArgs", "llama", read_mistral_params},
    .dtype = DType::kBf16};

}  // namespace

const OtherFormat* find_other_format(const ConfigReader& reader) {
  if (!reader.has({"dim"}) || !reader.has({"n_layers"})) return nullptr;
  if (reader.has({"inter_dim"})) return &kDeepSeek;
  if (!reader.has({"hidden_dim"})) return nullptr;
  return reader.has({"use_hf_rope", "ffn_dim_multiplier"}) ? &kExecuTorch : &kMistral;
}

void read_other_dtype(ConfigReader& reader, const OtherFormat& format, ModelSpec& model) {
  const std::optional<std::string> stated = reader.optional_text({"dtype"});
  model.dtype = format.dtype;
  if (!stated) {
    reader.record("dtype", std::string(name_of(format.dtype)));
    reader.notes().states_dtype = false;
    return;
  }
  if (*stated == "fp8") {
    model.stored_as = {.kind = QuantKind::kFormat, .format = DType::kFp8E4m3B128};
    return;
  }
  const std::optional<DType> dtype = parse_dtype(*stated);
  if (dtype && !format_of(*dtype).quantized) {
    model.dtype = *dtype;
    return;
  }
  reader.refuse("dtype", fmt::format("unknown type {}", in_quotes(*stated)), "bf16 or fp8");
}

}  // namespace tidemark
