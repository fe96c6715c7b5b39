// Llama and the classes that differ from it in a bias, a norm or a default.
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

// LlamaConfig of transformers: what its __init__ takes.
constexpr ShapeDefaults kLlama{
    .n_embd = 4096, .n_layer = 32, .n_vocab = 32000, .n_ctx = 2048, .n_head = 32, .n_ff = 11008};
// MistralConfig.
constexpr ShapeDefaults kMistral{.n_embd = 4096,
                                 .n_layer = 32,
                                 .n_vocab = 32000,
                                 .n_ctx = 131072,
                                 .n_head = 32,
                                 .n_head_kv = 8,
                                 .n_ff = 14336};

AttentionBias all_biases(bool is_on) { return {.q = is_on, .k = is_on, .v = is_on, .out = is_on}; }

// Biases of all four projections and of the feed-forward by two switches.
LayerSpec biased_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  layer.mixer = attention;
  layer.feed_forward.bias = reader.boolean({"mlp_bias"}, false);
  return layer;
}

TransformerSpec read_llama(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kLlama);
  note_rotary(reader, shape.head_dim, 1);
  return make_decoder(reader, shape, biased_layer(reader, shape), false);
}

// The window is null, or the same in every layer.
TransformerSpec read_mistral(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kMistral);
  note_rotary(reader, shape.head_dim, 1);
  TransformerSpec spec = make_decoder(reader, shape, llama_layer(shape), false);
  const int64_t window = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  set_windows(reader, spec, window, [](int64_t) { return true; });
  return spec;
}

}  // namespace

std::span<const HfFamily> llama_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"llama", "LlamaConfig", "llama", read_llama},
      HfFamily{"mistral", "MistralConfig", "llama", read_mistral},
  };
  return kFamilies;
}

}  // namespace tidemark
