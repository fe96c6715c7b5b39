// GLM: the first classes of its authors ("chatglm") and those of transformers.
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

NormKind norm_kind(ConfigReader& reader) {
  return reader.boolean({"rmsnorm"}, true) ? NormKind::kScale : NormKind::kScaleAndShift;
}

DecoderShape read_chatglm_shape(ConfigReader& reader) {
  DecoderShape shape{.n_embd = reader.integer({"hidden_size"}, kWidths, 4096),
                     .n_layer = reader.integer({"num_layers"}, kLayers, 28),
                     .n_vocab = reader.integer({"padded_vocab_size", "vocab_size"}, kVocab, 65024),
                     .n_ctx = reader.integer({"seq_length"}, kTokens, 2048),
                     .n_head = reader.integer({"num_attention_heads"}, kHeads, 32),
                     .head_dim = reader.integer({"kv_channels"}, kWidths, 128),
                     .n_ff = reader.integer({"ffn_hidden_size"}, kWidths, 13696)};
  const bool grouped = reader.boolean({"multi_query_attention"}, false);
  const int64_t groups = reader.integer({"multi_query_group_num"}, kHeads, 1);
  shape.n_head_kv = grouped ? groups : shape.n_head;
  if (shape.n_head % shape.n_head_kv != 0) {
    reader.refuse("multi_query_group_num", "does not divide num_attention_heads");
  }
  return shape;
}

// "ChatGLMModel" stands for the whole of it: these files always hold output_layer, tied or not.
TransformerSpec read_chatglm(ConfigReader& reader) {
  const DecoderShape shape = read_chatglm_shape(reader);
  const bool bias = reader.boolean({"add_bias_linear"}, false);
  const bool qkv_bias = reader.boolean({"add_qkv_bias"}, false);
  AttentionSpec attention = attention_of(shape);
  attention.bias = {
      .q = bias || qkv_bias, .k = bias || qkv_bias, .v = bias || qkv_bias, .out = bias};
  attention.fused_qkv = true;
  const NormKind kind = norm_kind(reader);
  const LayerSpec layer{.mixer = attention,
                        .feed_forward = {.n_ff = shape.n_ff, .fused_gate_up = true, .bias = bias},
                        .norms = {.before_mixer = kind, .before_ffn = kind}};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  spec.final_norm = reader.boolean({"post_layer_norm"}, true) ? kind : NormKind::kNone;
  spec.tied_embeddings = false;
  spec.has_head = true;
  reader.notes().rotary_dim = shape.head_dim / 2;
  return spec;
}

// The file may state attention_bias; o_proj has none either way.
TransformerSpec read_glm(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 40,
                                                 .n_vocab = 151552,
                                                 .n_ctx = 131072,
                                                 .n_head = 32,
                                                 .n_head_kv = 2,
                                                 .head_dim = 128,
                                                 .n_ff = 13696});
  AttentionSpec attention = attention_of(shape);
  attention.bias = qkv_biases(reader.boolean({"attention_bias"}, false));
  LayerSpec layer = llama_layer(shape);
  layer.mixer = attention;
  layer.feed_forward.fused_gate_up = true;
  return make_decoder(reader, shape, layer, false);
}

TransformerSpec read_glm4(ConfigReader& reader) {
  TransformerSpec spec = read_glm(reader);
  for (LayerSpec& layer : spec.layers) {
    layer.norms.after_mixer = NormKind::kScale;
    layer.norms.after_ffn = NormKind::kScale;
  }
  return spec;
}

}  // namespace

std::span<const HfFamily> glm_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"chatglm", "ChatGLMConfig", "chatglm", read_chatglm},
      HfFamily{"glm", "GlmConfig", "chatglm", read_glm},
      HfFamily{"glm4", "Glm4Config", "glm4", read_glm4},
  };
  return kFamilies;
}

}  // namespace tidemark
