// Models without attention: Mamba, Mamba-2, RWKV.
#include "planner/import/hf/families_recurrent.h"

#include <algorithm>
#include <array>

#include "planner/base/checked.h"
#include "planner/import/hf/decoder_shape.h"

namespace tidemark {
namespace {

// A mixer alone: no feed-forward, no second norm.
LayerSpec mixer_layer(const Mixer& mixer, NormKind norm = NormKind::kScale) {
  return {.mixer = mixer, .norms = {.before_mixer = norm, .before_ffn = NormKind::kNone}};
}

// Positions are none, so that no context is known but by what the file says.
DecoderShape read_sizes(ConfigReader& reader, int64_t n_vocab, int64_t n_embd, int64_t n_layer) {
  return {.n_embd = reader.integer({"hidden_size", "d_model"}, kWidths, n_embd),
          .n_layer = reader.integer({"num_hidden_layers", "n_layer"}, kLayers, n_layer),
          .n_vocab = reader.integer({"vocab_size"}, kVocab, n_vocab),
          .n_ctx = reader.optional_integer({"max_position_embeddings", "context_length"}, kTokens)
                       .value_or(0)};
}

int64_t read_expanded(ConfigReader& reader, int64_t n_embd) {
  const double factor = reader.optional_number({"expand"}).value_or(2);
  return scaled_width(reader, "expand", n_embd, factor);
}

// "auto" and absence both mean a sixteenth of the width.
int64_t read_dt_rank(ConfigReader& reader, std::string_view key, int64_t n_embd) {
  const ConfigValue* value = reader.value().find(key);
  if (value != nullptr && value->kind == ConfigKind::kText && value->text == "auto") {
    reader.pass_over({key});
    return ceil_div(n_embd, 16);
  }
  return reader.integer({key}, kWidths, ceil_div(n_embd, 16), "hidden_size / 16");
}

MambaSpec read_mamba_mixer(ConfigReader& reader, int64_t n_embd) {
  MambaSpec mamba{.d_conv = reader.integer({"conv_kernel"}, kWidths, 4),
                  .d_state = reader.integer({"state_size"}, kWidths, 16),
                  .dt_rank = read_dt_rank(reader, "time_step_rank", n_embd),
                  .conv_bias = reader.boolean({"use_conv_bias"}, true),
                  .proj_bias = reader.boolean({"use_bias"}, false)};
  const std::optional<int64_t> d_inner = reader.optional_integer({"intermediate_size"}, kWidths);
  const int64_t expanded = read_expanded(reader, n_embd);
  mamba.d_inner = d_inner.value_or(expanded);
  return mamba;
}

// FalconMamba normalizes dt, B and C besides, but without parameters.
TransformerSpec read_mamba(ConfigReader& reader) {
  const DecoderShape sizes = read_sizes(reader, 50280, 768, 32);
  const MambaSpec mamba = read_mamba_mixer(reader, sizes.n_embd);
  return make_decoder(reader, sizes, mixer_layer(mamba), true);
}

TransformerSpec read_mamba2(ConfigReader& reader) {
  const DecoderShape sizes = read_sizes(reader, 32768, 4096, 64);
  const int64_t n_head = reader.integer({"num_heads"}, kHeads, 128);
  const int64_t head_dim = reader.integer({"head_dim"}, kWidths, 64);
  const Mamba2Spec mamba{.d_conv = reader.integer({"conv_kernel"}, kWidths, 4),
                         .d_inner = read_expanded(reader, sizes.n_embd),
                         .d_state = reader.integer({"state_size"}, kWidths, 128),
                         .n_head = n_head,
                         .n_group = reader.integer({"n_groups"}, kHeads, 8),
                         .conv_bias = reader.boolean({"use_conv_bias"}, true),
                         .proj_bias = reader.boolean({"use_bias"}, false)};
  if (checked_mul(n_head, head_dim) != mamba.d_inner) {
    reader.refuse("num_heads", "num_heads x head_dim must be expand x hidden_size");
  }
  if (mamba.d_inner % mamba.n_group != 0) {
    reader.refuse("n_groups", "must divide the inner width");
  }
  return make_decoder(reader, sizes, mixer_layer(mamba), false);
}

// --- RWKV. Layer 0 normalizes the embedding as well.

LayerSpec rwkv_layer(const RwkvSpec& rwkv) {
  return {
      .mixer = rwkv,
      .norms = {.before_mixer = NormKind::kScaleAndShift, .before_ffn = NormKind::kScaleAndShift}};
}

TransformerSpec make_rwkv(ConfigReader& reader, const DecoderShape& sizes, const RwkvSpec& rwkv) {
  TransformerSpec spec = make_decoder(reader, sizes, rwkv_layer(rwkv), false);
  spec.embedding_norm = NormKind::kScaleAndShift;
  spec.final_norm = NormKind::kScaleAndShift;
  return spec;
}

void need_full_width(ConfigReader& reader, std::string_view key, int64_t n_embd) {
  if (reader.integer({key}, kWidths, n_embd, "hidden_size") != n_embd) {
    reader.refuse(key, "must be hidden_size");
  }
}

TransformerSpec read_rwkv4(ConfigReader& reader) {
  const DecoderShape sizes = read_sizes(reader, 50277, 4096, 32);
  need_full_width(reader, "attention_hidden_size", sizes.n_embd);
  const int64_t n_ff =
      reader.integer({"intermediate_size"}, kWidths, 4 * sizes.n_embd, "4 x hidden_size");
  return make_rwkv(reader, sizes, {.version = 4, .n_ff = n_ff});
}

// Ranks of the token shift and the decay: 32 and 64, in models of width 4,096 twice that.
TransformerSpec read_rwkv6(ConfigReader& reader) {
  const DecoderShape sizes = read_sizes(reader, 65536, 4096, 32);
  need_full_width(reader, "attention_hidden_size", sizes.n_embd);
  const int64_t head_size = reader.integer({"head_size"}, kWidths, 64);
  if (sizes.n_embd % head_size != 0) reader.refuse("head_size", "must divide hidden_size");
  reader.pass_over({"num_attention_heads"});
  const int64_t n_ff = reader.integer({"intermediate_size"}, kWidths,
                                      std::max<int64_t>(sizes.n_embd * 7 / 2 / 32 * 32, 1),
                                      "3.5 x hidden_size, in steps of 32");
  const int64_t wide = sizes.n_embd == 4096 ? 2 : 1;
  return make_rwkv(reader, sizes,
                   {.version = 6,
                    .head_size = head_size,
                    .n_ff = n_ff,
                    .lora_mix = 32 * wide,
                    .lora_decay = 64 * wide});
}

// The nearest multiple of 32 to tenths / 10 x sqrt(n_embd), ties to the even one, at least 32: in
// integers, 32 k with (2 k - 1)^2 x 25,600 < tenths^2 x n_embd.
int64_t default_rank(int64_t n_embd, int64_t tenths) {
  const int64_t square = checked_mul(tenths * tenths, n_embd);
  int64_t k = 1;
  while ((2 * k + 1) * (2 * k + 1) * 25'600 < square) ++k;
  return 32 * k;
}

RwkvSpec read_rwkv7_mixer(ConfigReader& reader, int64_t n_embd) {
  const auto rank = [&](std::string_view key, int64_t tenths) {
    return reader.integer({key}, kWidths, default_rank(n_embd, tenths),
                          "a multiple of the root of hidden_size");
  };
  return {.version = 7,
          .head_size = reader.integer({"head_dim", "head_size"}, kWidths, 64),
          .n_ff = reader.integer({"intermediate_size"}, kWidths, ceil_div(4 * n_embd, 32) * 32,
                                 "4 x hidden_size"),
          .lora_decay = rank("decay_low_rank_dim", 25),
          .lora_iclr = rank("a_low_rank_dim", 25),
          .lora_value = rank("v_low_rank_dim", 17),
          .lora_gate = rank("gate_low_rank_dim", 50)};
}

TransformerSpec read_rwkv7(ConfigReader& reader) {
  const DecoderShape sizes = read_sizes(reader, 32000, 2048, 24);
  const RwkvSpec rwkv = read_rwkv7_mixer(reader, sizes.n_embd);
  if (sizes.n_embd % rwkv.head_size != 0) reader.refuse("head_dim", "must divide hidden_size");
  reader.pass_over({"num_heads", "num_attention_heads", "hidden_ratio", "value_dim"});
  if (reader.has({"attn"})) reader.refuse("attn", "layers with attention are not known here");
  TransformerSpec spec = make_rwkv(reader, sizes, rwkv);
  if (!reader.boolean({"norm_first"}, true)) spec.embedding_norm = NormKind::kNone;
  if (!spec.layers.empty()) std::get<RwkvSpec>(spec.layers.front().mixer).lora_value = 0;
  return spec;
}

}  // namespace

std::span<const HfFamily> recurrent_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"mamba", "MambaConfig", "mamba", read_mamba},
      HfFamily{"falcon_mamba", "FalconMambaConfig", "mamba", read_mamba},
      HfFamily{"mamba2", "Mamba2Config", "mamba2", read_mamba2},
      HfFamily{"rwkv", "RwkvConfig", "rwkv", read_rwkv4},
      HfFamily{"rwkv6", "Rwkv6Config", "rwkv6", read_rwkv6},
      HfFamily{"rwkv7", "RWKV7Config", "rwkv7", read_rwkv7},
  };
  return kFamilies;
}

}  // namespace tidemark
