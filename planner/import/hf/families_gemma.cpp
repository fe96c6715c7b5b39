// Gemma of every generation. Head and embedding are always one.
#include <algorithm>
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

constexpr ShapeDefaults kGemma{.n_embd = 3072,
                               .n_layer = 28,
                               .n_vocab = 256000,
                               .n_ctx = 8192,
                               .n_head = 16,
                               .n_head_kv = 16,
                               .head_dim = 256,
                               .n_ff = 24576};
constexpr ShapeDefaults kGemma2{.n_embd = 2304,
                                .n_layer = 26,
                                .n_vocab = 256000,
                                .n_ctx = 8192,
                                .n_head = 8,
                                .n_head_kv = 4,
                                .head_dim = 256,
                                .n_ff = 9216};
constexpr ShapeDefaults kGemma3{.n_embd = 2304,
                                .n_layer = 26,
                                .n_vocab = 262208,
                                .n_ctx = 131072,
                                .n_head = 8,
                                .n_head_kv = 4,
                                .head_dim = 256,
                                .n_ff = 9216};

LayerSpec gemma_layer(ConfigReader& reader, const DecoderShape& shape) {
  LayerSpec layer = llama_layer(shape);
  std::get<AttentionSpec>(layer.mixer).bias = all_biases(reader.boolean({"attention_bias"}, false));
  return layer;
}

TransformerSpec read_gemma(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kGemma);
  return make_decoder(reader, shape, gemma_layer(reader, shape), true);
}

// Norms before and behind both halves.
LayerSpec sandwich_layer(ConfigReader& reader, const DecoderShape& shape, QkNormKind qk_norm) {
  LayerSpec layer = gemma_layer(reader, shape);
  std::get<AttentionSpec>(layer.mixer).qk_norm = qk_norm;
  layer.norms.after_mixer = NormKind::kScale;
  layer.norms.after_ffn = NormKind::kScale;
  return layer;
}

// Every other layer, from the first on, sees a window.
TransformerSpec read_gemma2(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kGemma2);
  TransformerSpec spec =
      make_decoder(reader, shape, sandwich_layer(reader, shape, QkNormKind::kNone), true);
  const int64_t window = reader.integer({"sliding_window"}, kTokens, 4096);
  set_windows(reader, spec, window, [](int64_t i) { return i % 2 == 0; });
  return spec;
}

// Five layers with a window, then one without.
TransformerSpec read_gemma3(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, kGemma3);
  TransformerSpec spec =
      make_decoder(reader, shape, sandwich_layer(reader, shape, QkNormKind::kHead), true);
  const int64_t window = reader.integer({"sliding_window"}, kTokens, 4096);
  const int64_t pattern =
      reader.optional_integer({"sliding_window_pattern", "_sliding_window_pattern"}, kLayers)
          .value_or(6);
  set_windows(reader, spec, window, [=](int64_t i) { return (i + 1) % pattern != 0; });
  return spec;
}

}  // namespace

std::span<const HfFamily> gemma_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"gemma", "GemmaConfig", "gemma", read_gemma},
      HfFamily{"gemma2", "Gemma2Config", "gemma2", read_gemma2},
      HfFamily{"gemma3_text", "Gemma3TextConfig", "gemma3", read_gemma3},
  };
  return kFamilies;
}

}  // namespace tidemark
