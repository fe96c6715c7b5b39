// The older kinds of decoder: LayerNorms with a shift, feed-forwards without a gate, biases.
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

constexpr NormKind kShifted = NormKind::kScaleAndShift;

AttentionSpec& attention_in(LayerSpec& layer) { return std::get<AttentionSpec>(layer.mixer); }

// LayerNorms, up and down with biases; `bias` of the projections.
LayerSpec classic_layer(const DecoderShape& shape, AttentionBias bias, bool fused_qkv) {
  LayerSpec layer{.feed_forward = {.n_ff = shape.n_ff, .gated = false, .bias = true},
                  .norms = {.before_mixer = kShifted, .before_ffn = kShifted}};
  AttentionSpec attention = attention_of(shape);
  attention.bias = bias;
  attention.fused_qkv = fused_qkv;
  layer.mixer = attention;
  return layer;
}

// Attention and feed-forward side by side behind one norm.
void make_parallel(LayerSpec& layer) {
  layer.is_parallel = true;
  layer.norms.before_ffn = NormKind::kNone;
}

TransformerSpec read_gpt2(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 768,
                                                 .n_layer = 12,
                                                 .n_vocab = 50257,
                                                 .n_ctx = 1024,
                                                 .n_head = 12,
                                                 .n_ff_times = 4});
  reader.notes().has_masks = true;
  TransformerSpec spec =
      make_decoder(reader, shape, classic_layer(shape, all_biases(true), true), true);
  spec.final_norm = kShifted;
  spec.n_position = shape.n_ctx;
  return spec;
}

// One head of K and V for all, unless multi_query is off.
TransformerSpec read_gpt_bigcode(ConfigReader& reader) {
  DecoderShape shape = read_shape(reader, {.n_embd = 768,
                                           .n_layer = 12,
                                           .n_vocab = 50257,
                                           .n_ctx = 1024,
                                           .n_head = 12,
                                           .n_ff_times = 4});
  if (reader.boolean({"multi_query"}, true)) shape.n_head_kv = 1;
  TransformerSpec spec =
      make_decoder(reader, shape, classic_layer(shape, all_biases(true), true), true);
  spec.final_norm = kShifted;
  spec.n_position = shape.n_ctx;
  return spec;
}

TransformerSpec read_gptj(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 28,
                                                 .n_vocab = 50400,
                                                 .n_ctx = 2048,
                                                 .n_head = 16,
                                                 .n_ff_times = 4});
  reader.notes().has_masks = true;
  LayerSpec layer = classic_layer(shape, {}, false);
  make_parallel(layer);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  spec.final_norm = kShifted;
  spec.head_bias = true;
  return spec;
}

// Side by side, yet with a norm each.
TransformerSpec read_gpt_neox(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 6144,
                                                 .n_layer = 44,
                                                 .n_vocab = 50432,
                                                 .n_ctx = 2048,
                                                 .n_head = 64,
                                                 .n_ff = 24576});
  note_rotary(reader, shape.head_dim, 0.25);
  reader.notes().has_masks = true;
  const bool bias = reader.boolean({"attention_bias"}, true);
  LayerSpec layer = classic_layer(shape, all_biases(bias), true);
  layer.is_parallel = reader.boolean({"use_parallel_residual"}, true);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  spec.final_norm = kShifted;
  return spec;
}

TransformerSpec read_bloom(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_vocab = 250880, .n_ff_times = 4});
  TransformerSpec spec =
      make_decoder(reader, shape, classic_layer(shape, all_biases(true), true), true);
  spec.final_norm = kShifted;
  spec.embedding_norm = kShifted;
  return spec;
}

// Positions are learned, and the table has two rows more than there are positions.
TransformerSpec read_opt(ConfigReader& reader) {
  constexpr int64_t kOffset = 2;
  const DecoderShape shape = read_shape(
      reader,
      {.n_embd = 768, .n_layer = 12, .n_vocab = 50272, .n_ctx = 2048, .n_head = 12, .n_ff = 3072});
  const bool bias = reader.boolean({"enable_bias"}, true);
  LayerSpec layer = classic_layer(shape, all_biases(bias), false);
  layer.feed_forward.bias = bias;
  TransformerSpec spec = make_decoder(reader, shape, layer, true);
  spec.n_position = shape.n_ctx + kOffset;
  if (!reader.boolean({"layer_norm_elementwise_affine"}, true))
    set_norms(spec, NormKind::kPlain);
  else
    spec.final_norm = kShifted;
  const bool before = reader.boolean({"do_layer_norm_before"}, true);
  const bool removed = reader.boolean({"_remove_final_layer_norm"}, false);
  if (!before || removed) spec.final_norm = NormKind::kNone;
  const int64_t width =
      reader.optional_integer({"word_embed_proj_dim"}, kWidths).value_or(shape.n_embd);
  if (width != shape.n_embd) {
    reader.refuse("word_embed_proj_dim", "an embedding narrower than the layers is not supported");
  }
  return spec;
}

// How Falcon's three generations count the heads of K and V, and their norms.
TransformerSpec read_falcon(ConfigReader& reader) {
  DecoderShape shape = read_shape(reader, {.n_embd = 4544,
                                           .n_layer = 32,
                                           .n_vocab = 65024,
                                           .n_ctx = 2048,
                                           .n_head = 71,
                                           .n_ff_times = 4});
  const bool is_new = reader.boolean({"new_decoder_architecture"}, false);
  const bool multi_query = reader.boolean({"multi_query"}, true);
  if (!is_new) shape.n_head_kv = multi_query ? 1 : shape.n_head;
  const bool bias = reader.boolean({"bias"}, false);
  LayerSpec layer = classic_layer(shape, all_biases(bias), true);
  layer.feed_forward.bias = bias;
  const bool parallel = is_new || reader.boolean({"parallel_attn"}, true);
  if (is_new) reader.pass_over({"parallel_attn"});
  const int64_t n_norm =
      is_new ? reader.integer({"num_ln_in_parallel_attn"}, {1, 2}, 2) : (parallel ? 1 : 2);
  if (parallel) layer.is_parallel = true;
  if (n_norm == 1) layer.norms.before_ffn = NormKind::kNone;
  TransformerSpec spec = make_decoder(reader, shape, layer, true);
  spec.final_norm = kShifted;
  return spec;
}

TransformerSpec read_starcoder2(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 3072,
                                                 .n_layer = 30,
                                                 .n_vocab = 49152,
                                                 .n_ctx = 4096,
                                                 .n_head = 24,
                                                 .n_head_kv = 2,
                                                 .n_ff = 12288});
  const bool bias = reader.boolean({"use_bias"}, true);
  LayerSpec layer = classic_layer(shape, all_biases(bias), false);
  layer.feed_forward.bias = bias;
  TransformerSpec spec = make_decoder(reader, shape, layer, true);
  spec.final_norm = kShifted;
  const int64_t window = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  set_windows(reader, spec, window, [](int64_t) { return true; });
  return spec;
}

// LayerNorms, but Llama's feed-forward.
TransformerSpec read_stablelm(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 2560,
                                                 .n_layer = 32,
                                                 .n_vocab = 50304,
                                                 .n_ctx = 4096,
                                                 .n_head = 32,
                                                 .n_head_kv = 32,
                                                 .n_ff = 6912});
  note_rotary(reader, shape.head_dim, 0.25);
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = qkv_biases(reader.boolean({"use_qkv_bias"}, false));
  if (reader.boolean({"qk_layernorm"}, false)) attention_in(layer).qk_norm = QkNormKind::kWidth;
  layer.is_parallel = reader.boolean({"use_parallel_residual"}, false);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  set_norms(spec, kShifted);
  return spec;
}

TransformerSpec read_nemotron(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 6144,
                                                 .n_layer = 32,
                                                 .n_vocab = 256000,
                                                 .n_ctx = 4096,
                                                 .n_head = 48,
                                                 .n_ff = 24576});
  note_rotary(reader, shape.head_dim, 0.5);
  const bool bias = reader.boolean({"attention_bias"}, false);
  LayerSpec layer = classic_layer(shape, all_biases(bias), false);
  layer.feed_forward.bias = reader.boolean({"mlp_bias"}, false);
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  spec.final_norm = kShifted;
  return spec;
}

LayerSpec cohere_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  make_parallel(layer);
  return layer;
}

TransformerSpec read_cohere(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 8192,
                                                 .n_layer = 40,
                                                 .n_vocab = 256000,
                                                 .n_ctx = 8192,
                                                 .n_head = 64,
                                                 .n_ff = 22528});
  LayerSpec layer = cohere_layer(reader, shape);
  if (reader.boolean({"use_qk_norm"}, false)) attention_in(layer).qk_norm = QkNormKind::kWidth;
  return make_decoder(reader, shape, layer, true);
}

// Every fourth layer sees all.
TransformerSpec read_cohere2(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 8192,
                                                 .n_layer = 40,
                                                 .n_vocab = 256000,
                                                 .n_ctx = 8192,
                                                 .n_head = 64,
                                                 .n_ff = 22528});
  TransformerSpec spec = make_decoder(reader, shape, cohere_layer(reader, shape), true);
  reader.pass_over({"use_qk_norm"});
  const int64_t window = reader.integer({"sliding_window"}, kTokens, 4096);
  const int64_t pattern = reader.optional_integer({"sliding_window_pattern"}, kLayers).value_or(4);
  set_windows(reader, spec, window, [=](int64_t i) { return (i + 1) % pattern != 0; });
  return spec;
}

}  // namespace

std::span<const HfFamily> classic_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"gpt2", "GPT2Config", "gpt2", read_gpt2},
      HfFamily{"gpt_bigcode", "GPTBigCodeConfig", "starcoder", read_gpt_bigcode},
      HfFamily{"gptj", "GPTJConfig", "gptj", read_gptj},
      HfFamily{"gpt_neox", "GPTNeoXConfig", "gptneox", read_gpt_neox},
      HfFamily{"bloom", "BloomConfig", "bloom", read_bloom},
      HfFamily{"opt", "OPTConfig", "opt", read_opt},
      HfFamily{"falcon", "FalconConfig", "falcon", read_falcon},
      HfFamily{"starcoder2", "Starcoder2Config", "starcoder2", read_starcoder2},
      HfFamily{"stablelm", "StableLmConfig", "stablelm", read_stablelm},
      HfFamily{"nemotron", "NemotronConfig", "nemotron", read_nemotron},
      HfFamily{"cohere", "CohereConfig", "command-r", read_cohere},
      HfFamily{"cohere2", "Cohere2Config", "cohere2", read_cohere2},
  };
  return kFamilies;
}

}  // namespace tidemark
