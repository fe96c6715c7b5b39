// Llama and the classes that differ from it in a bias, a norm or a default.
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

// The arguments' defaults in the __init__ of each configuration class.
constexpr ShapeDefaults kLlama{
    .n_embd = 4096, .n_layer = 32, .n_vocab = 32000, .n_ctx = 2048, .n_head = 32, .n_ff = 11008};
constexpr ShapeDefaults kMistral{.n_embd = 4096,
                                 .n_layer = 32,
                                 .n_vocab = 32000,
                                 .n_ctx = 131072,
                                 .n_head = 32,
                                 .n_head_kv = 8,
                                 .n_ff = 14336};
constexpr ShapeDefaults kSmolLm3{.n_embd = 2048,
                                 .n_layer = 36,
                                 .n_vocab = 128256,
                                 .n_ctx = 32768,
                                 .n_head = 16,
                                 .n_head_kv = 4,
                                 .n_ff = 11008};
constexpr ShapeDefaults kErnie{.n_embd = 1024,
                               .n_layer = 18,
                               .n_vocab = 103424,
                               .n_ctx = 131072,
                               .n_head = 16,
                               .n_head_kv = 2,
                               .head_dim = 128,
                               .n_ff = 3072};

AttentionSpec& attention_in(LayerSpec& layer) { return std::get<AttentionSpec>(layer.mixer); }

// Biases of all four projections and of the feed-forward by two switches.
LayerSpec biased_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  layer.feed_forward.bias = reader.boolean({"mlp_bias"}, false);
  return layer;
}

// The class pays no attention to sliding_window, which merged models carry along.
TransformerSpec read_llama(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kLlama);
  reader.pass_over({"sliding_window"});
  note_rotary(reader, shape.head_dim, 1);
  return make_decoder(reader, shape, biased_layer(reader, shape), false);
}

// The window is null, or the same in every layer. A missing one is MistralConfig's 4096, yet every
// file that the class writes states it.
TransformerSpec read_mistral(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kMistral);
  note_rotary(reader, shape.head_dim, 1);
  TransformerSpec spec = make_decoder(reader, shape, llama_layer(shape), false);
  const int64_t window = reader.mentions("sliding_window")
                             ? reader.optional_integer({"sliding_window"}, kTokens).value_or(0)
                             : reader.integer({"sliding_window"}, kTokens, 4096);
  set_windows(reader, spec, window, [](int64_t) { return true; });
  return spec;
}

// Layers without rotary positions are the ones that see all, when there is a window at all.
TransformerSpec read_smollm3(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kSmolLm3);
  note_rotary(reader, shape.head_dim, 1);
  TransformerSpec spec = make_decoder(reader, shape, biased_layer(reader, shape), true);
  const bool windowed = reader.boolean({"use_sliding_window"}, false);
  const int64_t stated = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  const std::vector<int64_t> rope = reader.integers("no_rope_layers", {0, 1});
  const int64_t interval = reader.optional_integer({"no_rope_layer_interval"}, kLayers).value_or(4);
  set_windows(reader, spec, windowed ? stated : 0, [&](int64_t i) {
    return i < std::ssize(rope) ? rope[static_cast<size_t>(i)] == 1 : (i + 1) % interval != 0;
  });
  return spec;
}

TransformerSpec read_ernie(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kErnie);
  LayerSpec layer = llama_layer(shape);
  const bool bias = reader.boolean({"use_bias"}, false);
  attention_in(layer).bias = all_biases(bias);
  layer.feed_forward.bias = bias;
  return make_decoder(reader, shape, layer, true);
}

// One matrix W_pack for Q, K and V.
TransformerSpec read_baichuan(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_vocab = 125696});
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).fused_qkv = true;
  return make_decoder(reader, shape, layer, false);
}

TransformerSpec read_xverse(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  return make_decoder(reader, shape, llama_layer(shape), false);
}

// `bias` is that of the attention alone.
TransformerSpec read_internlm(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"bias"}, true));
  return make_decoder(reader, shape, layer, false);
}

TransformerSpec read_internlm2(ConfigReader& reader) {
  TransformerSpec spec = read_internlm(reader);
  for (LayerSpec& layer : spec.layers) attention_in(layer).fused_qkv = true;
  return spec;
}

TransformerSpec read_exaone(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_vocab = 102400, .n_ff_times = 4});
  return make_decoder(reader, shape, llama_layer(shape), true);
}

TransformerSpec read_hunyuan(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention_in(layer).qk_norm = QkNormKind::kHead;
  reader.pass_over({"use_qk_norm", "mlp_bias"});
  if (reader.boolean({"use_cla"}, false)) reader.refuse("use_cla", "is not supported here");
  if (reader.optional_integer({"num_experts"}, kExpertsOrNone).value_or(1) > 1) {
    reader.refuse("num_experts", "experts belong to hunyuan_v1_moe");
  }
  reader.pass_over({"num_shared_expert"});
  return make_decoder(reader, shape, layer, false);
}

// Norms without parameters.
TransformerSpec read_olmo(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  set_norms(spec, NormKind::kPlain);
  return spec;
}

// Norms behind mixer and feed-forward, and of Q and K over their whole width.
LayerSpec olmo2_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  attention_in(layer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  attention_in(layer).qk_norm = QkNormKind::kWidth;
  layer.norms = {.before_mixer = NormKind::kNone,
                 .after_mixer = NormKind::kScale,
                 .before_ffn = NormKind::kNone,
                 .after_ffn = NormKind::kScale};
  return layer;
}

TransformerSpec read_olmo2(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  return make_decoder(reader, shape, olmo2_layer(reader, shape), false);
}

TransformerSpec read_olmo3(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader);
  TransformerSpec spec = make_decoder(reader, shape, olmo2_layer(reader, shape), false);
  const int64_t window = reader.integer({"sliding_window"}, kTokens, 4096);
  set_windows(reader, spec, window, [](int64_t i) { return (i + 1) % 4 != 0; });
  return spec;
}

}  // namespace

std::span<const HfFamily> llama_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"llama", "LlamaConfig", "llama", read_llama},
      HfFamily{"mistral", "MistralConfig", "llama", read_mistral},
      HfFamily{"granite", "GraniteConfig", "granite", read_llama},
      HfFamily{"smollm3", "SmolLM3Config", "smollm3", read_smollm3},
      HfFamily{"ernie4_5", "Ernie4_5Config", "ernie4_5", read_ernie},
      HfFamily{"baichuan", "BaichuanConfig", "baichuan", read_baichuan},
      HfFamily{"xverse", "XverseConfig", "xverse", read_xverse},
      HfFamily{"internlm", "InternLMConfig", "internlm", read_internlm},
      HfFamily{"internlm2", "InternLM2Config", "internlm2", read_internlm2},
      HfFamily{"exaone", "ExaoneConfig", "exaone", read_exaone},
      HfFamily{"hunyuan_v1_dense", "HunYuanDenseV1Config", "hunyuan-dense", read_hunyuan},
      HfFamily{"olmo", "OlmoConfig", "olmo", read_olmo},
      HfFamily{"olmo2", "Olmo2Config", "olmo2", read_olmo2},
      HfFamily{"olmo3", "Olmo3Config", "olmo2", read_olmo3},
  };
  return kFamilies;
}

}  // namespace tidemark
