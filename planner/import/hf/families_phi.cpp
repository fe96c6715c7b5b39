// Microsoft's Phi models.
#include <array>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

constexpr NormKind kShifted = NormKind::kScaleAndShift;

// One norm for attention and feed-forward side by side, biases everywhere, also in the head.
TransformerSpec read_phi(ConfigReader& reader) {
  const DecoderShape shape = read_shape(
      reader,
      {.n_embd = 2048, .n_layer = 24, .n_vocab = 51200, .n_ctx = 2048, .n_head = 32, .n_ff = 8192});
  note_rotary(reader, shape.head_dim, 0.5);
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(true);
  if (reader.boolean({"qk_layernorm"}, false)) {
    attention.qk_norm = QkNormKind::kHead;
    attention.qk_norm_bias = true;
  }
  const LayerSpec layer{.mixer = attention,
                        .feed_forward = {.n_ff = shape.n_ff, .gated = false, .bias = true},
                        .norms = {.before_mixer = kShifted, .before_ffn = NormKind::kNone},
                        .is_parallel = true};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  spec.final_norm = kShifted;
  spec.head_bias = true;
  reader.pass_over({"type_vocab_size"});
  return spec;
}

// Q, K and V in one matrix, gate and up in another.
TransformerSpec read_phi3(ConfigReader& reader) {
  const DecoderShape shape = read_shape(
      reader,
      {.n_embd = 3072, .n_layer = 32, .n_vocab = 32064, .n_ctx = 4096, .n_head = 32, .n_ff = 8192});
  AttentionSpec attention = attention_of(shape);
  attention.fused_qkv = true;
  LayerSpec layer = llama_layer(shape);
  layer.mixer = attention;
  layer.feed_forward.fused_gate_up = true;
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  const int64_t window = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  set_windows(reader, spec, window, [](int64_t) { return true; });
  return spec;
}

TransformerSpec read_phimoe(ConfigReader& reader) {
  const DecoderShape shape = read_shape(reader, {.n_embd = 4096,
                                                 .n_layer = 32,
                                                 .n_vocab = 32064,
                                                 .n_ctx = 131072,
                                                 .n_head = 32,
                                                 .n_head_kv = 8,
                                                 .n_ff = 6400});
  AttentionSpec attention = attention_of(shape);
  attention.bias = all_biases(reader.boolean({"attention_bias"}, false));
  const LayerSpec layer{
      .mixer = attention,
      .moe = {.n_expert = reader.integer({"num_local_experts"}, kExperts, 16),
              .n_expert_used = reader.integer({"num_experts_per_tok"}, kExperts, 2),
              .n_ff_exp = shape.n_ff}};
  TransformerSpec spec = make_decoder(reader, shape, layer, false);
  set_norms(spec, kShifted);
  spec.head_bias = reader.boolean({"lm_head_bias"}, false);
  const int64_t window = reader.optional_integer({"sliding_window"}, kTokens).value_or(0);
  set_windows(reader, spec, window, [](int64_t) { return true; });
  return spec;
}

}  // namespace

std::span<const HfFamily> phi_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"phi", "PhiConfig", "phi2", read_phi},
      HfFamily{"phi3", "Phi3Config", "phi3", read_phi3},
      HfFamily{"phimoe", "PhimoeConfig", "phimoe", read_phimoe},
  };
  return kFamilies;
}

}  // namespace tidemark
