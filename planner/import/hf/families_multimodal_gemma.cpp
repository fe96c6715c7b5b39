// Towers that belong to one family: Gemma 3 and 4, Llama 4.
#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string>

#include "planner/base/checked.h"
#include "planner/import/hf/families_multimodal.h"

namespace tidemark {
namespace {

// How many patches a side become one token, so that the image ends in `n_token` of them.
int64_t merge_of(const StackSpec& tower, int64_t n_token) {
  const int64_t side = tower.image.image_size / tower.image.patch_size;
  int64_t merge = 1;
  while (merge < side && side / (merge + 1) * (side / (merge + 1)) >= n_token) ++merge;
  return merge;
}

// SigLIP, patches averaged to mm_tokens_per_image, a norm and one matrix.
TransformerSpec read_gemma3(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "gemma3_text");
  if (!reader.has({"vision_config"})) return spec;
  ConfigReader vision = nested_or_empty(reader, "vision_config", "SiglipVisionConfig");
  StackSpec tower = read_siglip_tower(vision, kSiglipDefaults, true);
  tower.image.merge = merge_of(tower, reader.integer({"mm_tokens_per_image"}, kWidths, 256));
  add_norm(tower.extras, "mm.soft_emb_norm", tower.n_embd, NormKind::kScale);
  add_linear(tower.extras, "mm.input_projection", tower.n_embd, spec.n_embd, false);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

// --- Gemma 4: four norms a layer and norms of Q and K, as in the text; a position table for each
// axis.

LayerSpec read_gemma4_layer(ConfigReader& reader) {
  const int64_t n_head = reader.integer({"num_attention_heads"}, kHeads, 12);
  const bool bias = reader.boolean({"attention_bias"}, false);
  reader.pass_over({"global_head_dim"});  // the tower has no other kind of layer
  return {.mixer = AttentionSpec{.n_head = n_head,
                                 .n_head_kv = reader.integer({"num_key_value_heads"}, kHeads, 12),
                                 .head_dim = reader.integer({"head_dim"}, kWidths, 64),
                                 .bias = {.q = bias, .k = bias, .v = bias, .out = bias},
                                 .qk_norm = QkNormKind::kHead},
          .feed_forward = {.n_ff = reader.integer({"intermediate_size"}, kWidths, 3072)},
          .norms = {.after_mixer = NormKind::kScale, .after_ffn = NormKind::kScale}};
}

StackSpec read_gemma4_tower(ConfigReader& reader) {
  constexpr int64_t kAxes = 2;
  const int64_t n_embd = reader.integer({"hidden_size"}, kWidths, 768);
  const int64_t n_layer = reader.integer({"num_hidden_layers"}, kLayers, 16);
  const int64_t patch_size = reader.integer({"patch_size"}, kPixels, 16);
  const int64_t n_position = reader.integer({"position_embedding_size"}, kWidths, 10240);
  StackSpec tower{.role = StackRole::kVision,
                  .n_embd = n_embd,
                  .layers = repeat(reader, read_gemma4_layer(reader), n_layer),
                  .image = {.patch_size = patch_size,
                            .merge = reader.integer({"pooling_kernel_size"}, kHeads, 3)}};
  add_linear(tower.extras, "patch_embd", 3 * patch_size * patch_size, n_embd, false);
  tower.extras.push_back(
      {.name = "position_embd.weight", .columns = n_embd, .rows = n_position, .count = kAxes});
  if (reader.boolean({"standardize"}, false)) {
    tower.extras.push_back({.name = "std_bias", .columns = n_embd, .is_parameter = false});
    tower.extras.push_back({.name = "std_scale", .columns = n_embd, .is_parameter = false});
  }
  return tower;
}

TransformerSpec read_gemma4(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "gemma4_text");
  if (reader.has({"vision_config"})) {
    ConfigReader vision = nested_or_empty(reader, "vision_config", "Gemma4VisionConfig");
    StackSpec tower = read_gemma4_tower(vision);
    add_linear(tower.extras, "mm.input_projection", tower.n_embd, spec.n_embd, false);
    spec.stacks.push_back(std::move(tower));
  }
  if (reader.has({"audio_config"})) {
    reader.warn("The audio tower of Gemma 4 is not counted.");
  }
  reader.pass_over({"audio_config"});
  return spec;
}

// --- Llama 4: patches as a matrix, a class token at the end, a pixel shuffle between two halves.

// The class's own defaults (768 wide) do not fit each other; files without vision_config are those
// of the published models, whose tower this is.
struct Llama4Defaults {
  EncoderShape shape{.n_embd = 768, .n_layer = 34, .n_head = 16, .n_ff = 5632};
  int64_t image_size = 448;
  int64_t n_out = 7680;
};
constexpr Llama4Defaults kPublishedLlama4{
    .shape = {.n_embd = 1408, .n_layer = 34, .n_head = 16, .n_ff = 5632},
    .image_size = 336,
    .n_out = 4096};

int64_t read_shuffle(ConfigReader& reader) {
  const double ratio = reader.optional_number({"pixel_shuffle_ratio"}).value_or(0.5);
  if (ratio > 0.01 && ratio <= 1) return std::lround(1 / ratio);
  reader.refuse("pixel_shuffle_ratio", "must be more than 0.01 and at most 1");
  return 1;
}

StackSpec read_llama4_tower(ConfigReader& reader, const Llama4Defaults& defaults) {
  const EncoderShape shape{
      .n_embd = reader.integer({"hidden_size"}, kWidths, defaults.shape.n_embd),
      .n_layer = reader.integer({"num_hidden_layers"}, kLayers, defaults.shape.n_layer),
      .n_head = reader.integer({"num_attention_heads"}, kHeads, defaults.shape.n_head),
      .n_ff = reader.integer({"intermediate_size"}, kWidths, defaults.shape.n_ff)};
  check_heads(reader, shape, "num_attention_heads");
  const int64_t image_size = reader.integer({"image_size"}, kPixels, defaults.image_size);
  const int64_t patch_size = reader.integer({"patch_size"}, kPixels, 14);
  const int64_t channels = reader.integer({"num_channels"}, kHeads, 3);
  if (image_size < patch_size) reader.refuse("image_size", "is less than one patch");
  const int64_t side = image_size / patch_size;
  StackSpec tower{
      .role = StackRole::kVision,
      .n_embd = shape.n_embd,
      .layers = repeat(reader, encoder_layer(shape, NormPlace::kBefore), shape.n_layer),
      .final_norm = NormKind::kScaleAndShift,
      .image = {.image_size = image_size, .patch_size = patch_size, .merge = read_shuffle(reader)}};
  tower.extras.push_back({.name = "class_embd", .columns = shape.n_embd});
  add_linear(tower.extras, "patch_embd", checked_mul(channels, patch_size * patch_size),
             shape.n_embd, false);
  tower.extras.push_back(
      {.name = "position_embd.weight", .columns = shape.n_embd, .rows = side * side + 1});
  add_norm(tower.extras, "pre_ln", shape.n_embd);
  const int64_t n_in = reader.integer({"projector_input_dim"}, kWidths, 4096);
  const int64_t n_projected = reader.integer({"projector_output_dim"}, kWidths, 4096);
  add_linear(tower.extras, "adapter.fc1", shape.n_ff, n_in, false);
  add_linear(tower.extras, "adapter.fc2", n_projected, n_projected, false);
  return tower;
}

TransformerSpec read_llama4(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "llama4_text");
  const bool stated = reader.has({"vision_config"});
  ConfigReader vision = nested_or_empty(reader, "vision_config", "Llama4VisionConfig");
  if (!stated) {
    vision.set_config_class("the published models' tower");
    reader.warn(
        "The file leaves out vision_config; the tower of Llama 4 Scout and Maverick is counted.");
  }
  const Llama4Defaults defaults = stated ? Llama4Defaults{} : kPublishedLlama4;
  StackSpec tower = read_llama4_tower(vision, defaults);
  const int64_t n_out = vision.integer({"vision_output_dim"}, kWidths, defaults.n_out);
  add_linear(tower.extras, "mm.linear", n_out, spec.n_embd, false);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

}  // namespace

std::span<const HfFamily> multimodal_gemma_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"gemma3", "Gemma3Config", "gemma3", read_gemma3},
      HfFamily{"gemma4", "Gemma4Config", "gemma4", read_gemma4},
      HfFamily{"llama4", "Llama4Config", "llama4", read_llama4},
  };
  return kFamilies;
}

}  // namespace tidemark
