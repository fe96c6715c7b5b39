// Encoder and decoder, joined by cross-attention: T5, BART, Whisper.
#include <fmt/core.h>

#include <array>
#include <string>

#include "planner/import/hf/decoder_shape.h"
#include "planner/import/hf/families_encoder.h"

namespace tidemark {
namespace {

bool is_encoder_model(const ConfigNotes& notes) {
  return !notes.architectures.empty() && notes.architectures.front().ends_with("EncoderModel");
}

// --- T5: RMS norms without bias, no biases at all, positions as a table of buckets by head.

struct T5Defaults {
  int64_t n_vocab = 0;
  EncoderShape shape{};
  std::string_view feed_forward{};
  bool tied = false;
  bool buckets_in_every_layer = false;
};
constexpr T5Defaults kT5{.n_vocab = 32128,
                         .shape = {.n_embd = 512, .n_layer = 6, .n_head = 8, .n_ff = 2048},
                         .feed_forward = "relu",
                         .tied = true};
constexpr T5Defaults kMt5{.n_vocab = 250112,
                          .shape = {.n_embd = 512, .n_layer = 8, .n_head = 6, .n_ff = 1024},
                          .feed_forward = "gated-gelu"};
constexpr T5Defaults kUmt5{.n_vocab = 250112,
                           .shape = {.n_embd = 512, .n_layer = 8, .n_head = 6, .n_ff = 1024},
                           .feed_forward = "gated-gelu",
                           .buckets_in_every_layer = true};

// n_layer times; where the buckets are not in every layer, the first one's serve all.
std::vector<LayerSpec> t5_layers(const ConfigReader& reader, const LayerSpec& layer,
                                 int64_t n_layer, bool buckets_in_every_layer) {
  std::vector<LayerSpec> layers = repeat(reader, layer, n_layer);
  if (buckets_in_every_layer) return layers;
  for (size_t i = 1; i < layers.size(); ++i) {
    std::get<AttentionSpec>(layers[i].mixer).n_bucket = 0;
  }
  return layers;
}

LayerSpec read_t5_layer(ConfigReader& reader, const T5Defaults& defaults) {
  const int64_t n_head = reader.integer({"num_heads"}, kHeads, defaults.shape.n_head);
  const bool gated =
      reader.text({"feed_forward_proj"}, defaults.feed_forward).starts_with("gated-");
  reader.pass_over({"is_gated_act"});
  return {.mixer = AttentionSpec{.n_head = n_head,
                                 .n_head_kv = n_head,
                                 .head_dim = reader.integer({"d_kv"}, kWidths, 64),
                                 .n_bucket = reader.integer({"relative_attention_num_buckets"},
                                                            kWidths, 32)},
          .feed_forward = {.n_ff = reader.integer({"d_ff"}, kWidths, defaults.shape.n_ff),
                           .gated = gated}};
}

TransformerSpec read_t5_kind(ConfigReader& reader, const T5Defaults& defaults) {
  const int64_t n_embd = reader.integer({"d_model"}, kWidths, defaults.shape.n_embd);
  const int64_t n_layer = reader.integer({"num_layers"}, kLayers, defaults.shape.n_layer);
  const int64_t n_decoder =
      reader.integer({"num_decoder_layers"}, kLayers, n_layer, "as many as num_layers");
  const LayerSpec layer = read_t5_layer(reader, defaults);
  TransformerSpec spec{
      .n_embd = n_embd,
      .n_vocab = reader.integer({"vocab_size"}, kVocab, defaults.n_vocab),
      .n_ctx_train = Tokens(reader.optional_integer({"n_positions"}, kTokens).value_or(0)),
      .tied_embeddings = read_tied(reader, defaults.tied),
      .has_head = has_lm_head(reader.notes())};
  std::vector<LayerSpec> encoder =
      t5_layers(reader, layer, n_layer, defaults.buckets_in_every_layer);
  if (is_encoder_model(reader.notes())) {
    spec.is_causal = false;
    spec.has_head = false;
    spec.layers = std::move(encoder);
    return spec;
  }
  LayerSpec decoder = layer;
  AttentionSpec cross = std::get<AttentionSpec>(layer.mixer);
  cross.n_bucket = 0;
  decoder.cross = {.attention = cross, .norm = NormKind::kScale};
  spec.layers = t5_layers(reader, decoder, n_decoder, defaults.buckets_in_every_layer);
  spec.stacks.push_back({.role = StackRole::kEncoder,
                         .n_embd = n_embd,
                         .layers = std::move(encoder),
                         .final_norm = NormKind::kScale});
  return spec;
}

TransformerSpec read_t5(ConfigReader& reader) { return read_t5_kind(reader, kT5); }
TransformerSpec read_mt5(ConfigReader& reader) { return read_t5_kind(reader, kMt5); }
TransformerSpec read_umt5(ConfigReader& reader) { return read_t5_kind(reader, kUmt5); }

// --- BART: learned positions that begin at the third row, a norm over each embedding.

constexpr int64_t kBartOffset = 2;

struct BartShapes {
  EncoderShape encoder{};
  EncoderShape decoder{};
};

BartShapes read_bart_shapes(ConfigReader& reader) {
  const int64_t n_embd = reader.integer({"d_model"}, kWidths, 1024);
  BartShapes shapes;
  shapes.encoder = {.n_embd = n_embd,
                    .n_layer = reader.integer({"encoder_layers"}, kLayers, 12),
                    .n_head = reader.integer({"encoder_attention_heads"}, kHeads, 16),
                    .n_ff = reader.integer({"encoder_ffn_dim"}, kWidths, 4096)};
  shapes.decoder = {.n_embd = n_embd,
                    .n_layer = reader.integer({"decoder_layers"}, kLayers, 12),
                    .n_head = reader.integer({"decoder_attention_heads"}, kHeads, 16),
                    .n_ff = reader.integer({"decoder_ffn_dim"}, kWidths, 4096)};
  check_heads(reader, shapes.encoder, "encoder_attention_heads");
  check_heads(reader, shapes.decoder, "decoder_attention_heads");
  reader.pass_over({"num_hidden_layers"});  // the encoder's, said twice
  return shapes;
}

TransformerSpec read_bart_kind(ConfigReader& reader, NormPlace place, NormKind final_norm) {
  const BartShapes shapes = read_bart_shapes(reader);
  const int64_t n_embd = shapes.decoder.n_embd;
  const int64_t n_ctx = reader.integer({"max_position_embeddings"}, kWidths, 1024);
  TransformerSpec spec{.n_embd = n_embd,
                       .n_vocab = reader.integer({"vocab_size"}, kVocab, 50265),
                       .n_ctx_train = Tokens(n_ctx),
                       .tied_embeddings = read_tied(reader, true),
                       .has_head = has_lm_head(reader.notes()),
                       .n_position = n_ctx + kBartOffset,
                       .embedding_norm = NormKind::kScaleAndShift,
                       .final_norm = final_norm};
  LayerSpec decoder = encoder_layer(shapes.decoder, place);
  decoder.cross = {.attention = std::get<AttentionSpec>(decoder.mixer),
                   .norm = NormKind::kScaleAndShift};
  spec.layers = repeat(reader, decoder, shapes.decoder.n_layer);
  StackSpec encoder{
      .role = StackRole::kEncoder,
      .n_embd = n_embd,
      .layers = repeat(reader, encoder_layer(shapes.encoder, place), shapes.encoder.n_layer),
      .final_norm = final_norm};
  encoder.extras.push_back(
      {.name = "position_embd.weight", .columns = n_embd, .rows = n_ctx + kBartOffset});
  add_norm(encoder.extras, "token_embd_norm", n_embd);
  spec.stacks.push_back(std::move(encoder));
  if (spec.has_head) {  // zeros that the files hold as a buffer
    spec.extras.push_back(
        {.name = "final_logits_bias", .columns = spec.n_vocab, .is_parameter = false});
  }
  return spec;
}

TransformerSpec read_bart(ConfigReader& reader) {
  return read_bart_kind(reader, NormPlace::kAfter, NormKind::kNone);
}
TransformerSpec read_mbart(ConfigReader& reader) {
  return read_bart_kind(reader, NormPlace::kBefore, NormKind::kScaleAndShift);
}

// --- Whisper: the key projections alone have no bias.

LayerSpec whisper_layer(const EncoderShape& shape) {
  LayerSpec layer = encoder_layer(shape, NormPlace::kBefore);
  std::get<AttentionSpec>(layer.mixer).bias.k = false;
  return layer;
}

TransformerSpec read_whisper(ConfigReader& reader) {
  constexpr EncoderShape kTiny{.n_embd = 384, .n_layer = 4, .n_head = 6, .n_ff = 1536};
  StackSpec encoder = read_whisper_encoder(reader, {.n_mel = 80, .n_source = 1500, .shape = kTiny},
                                           StackRole::kEncoder);
  const EncoderShape shape{
      .n_embd = encoder.n_embd,
      .n_layer = reader.integer({"decoder_layers"}, kLayers, kTiny.n_layer),
      .n_head = reader.integer({"decoder_attention_heads"}, kHeads, kTiny.n_head),
      .n_ff = reader.integer({"decoder_ffn_dim"}, kWidths, kTiny.n_ff)};
  check_heads(reader, shape, "decoder_attention_heads");
  reader.pass_over({"num_hidden_layers"});  // the encoder's, said twice
  const int64_t n_ctx = reader.integer({"max_target_positions"}, kWidths, 448);
  LayerSpec decoder = whisper_layer(shape);
  decoder.cross = {.attention = std::get<AttentionSpec>(decoder.mixer),
                   .norm = NormKind::kScaleAndShift};
  TransformerSpec spec{.n_embd = shape.n_embd,
                       .n_vocab = reader.integer({"vocab_size"}, kVocab, 51865),
                       .n_ctx_train = Tokens(n_ctx),
                       .tied_embeddings = read_tied(reader, true),
                       .has_head = has_lm_head(reader.notes()),
                       .n_position = n_ctx,
                       .final_norm = NormKind::kScaleAndShift,
                       .layers = repeat(reader, decoder, shape.n_layer)};
  spec.stacks.push_back(std::move(encoder));
  return spec;
}

}  // namespace

StackSpec read_whisper_encoder(ConfigReader& reader, const WhisperEncoderDefaults& defaults,
                               StackRole role) {
  constexpr int64_t kFrames = 3;  // that each convolution sees at once
  const EncoderShape shape{
      .n_embd = reader.integer({"d_model"}, kWidths, defaults.shape.n_embd),
      .n_layer = reader.integer({"encoder_layers"}, kLayers, defaults.shape.n_layer),
      .n_head = reader.integer({"encoder_attention_heads"}, kHeads, defaults.shape.n_head),
      .n_ff = reader.integer({"encoder_ffn_dim"}, kWidths, defaults.shape.n_ff)};
  check_heads(reader, shape, "encoder_attention_heads");
  const int64_t n_mel = reader.integer({"num_mel_bins"}, kWidths, defaults.n_mel);
  const int64_t n_source = reader.integer({"max_source_positions"}, kWidths, defaults.n_source);
  StackSpec stack{.role = role,
                  .n_embd = shape.n_embd,
                  .layers = repeat(reader, whisper_layer(shape), shape.n_layer),
                  .final_norm = NormKind::kScaleAndShift,
                  .n_tokens = Tokens(n_source)};
  const auto convolution = [&](std::string_view stem, int64_t n_in) {
    stack.extras.push_back({.name = fmt::format("{}.weight", stem),
                            .columns = kFrames,
                            .rows = n_in,
                            .count = shape.n_embd});
    stack.extras.push_back({.name = fmt::format("{}.bias", stem), .columns = shape.n_embd});
  };
  convolution("conv1", n_mel);
  convolution("conv2", shape.n_embd);
  stack.extras.push_back(
      {.name = "position_embd.weight", .columns = shape.n_embd, .rows = n_source});
  return stack;
}

std::span<const HfFamily> encoder_decoder_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"t5", "T5Config", "t5", read_t5},
      HfFamily{"mt5", "MT5Config", "t5", read_mt5},
      HfFamily{"umt5", "UMT5Config", "t5", read_umt5},
      HfFamily{"bart", "BartConfig", "bart", read_bart},
      HfFamily{"mbart", "MBartConfig", "mbart", read_mbart},
      HfFamily{"whisper", "WhisperConfig", "whisper", read_whisper},
  };
  return kFamilies;
}

}  // namespace tidemark
