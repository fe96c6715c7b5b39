// Qwen's models with a vision tower: 2-VL, 2.5-VL, 3-VL and 3.5.
//
// Images may have any size; merge x merge patches make one token.
#include <fmt/core.h>

#include <array>
#include <string>

#include "planner/base/checked.h"
#include "planner/import/hf/families_multimodal.h"

namespace tidemark {
namespace {

struct QwenVision {
  EncoderShape shape{};
  int64_t patch_size = 0;
  int64_t merge = 0;
  int64_t planes = 0;  // colours x frames that one patch holds
  int64_t n_out = 0;   // width of the text
  int64_t merged() const { return checked_mul(shape.n_embd, merge * merge); }
};

struct QwenVisionDefaults {
  EncoderShape shape{};
  int64_t patch_size = 0;
  int64_t n_out = 0;
};

// The keys that all of them spell alike; `out_key` is that of the text's width.
QwenVision read_vision(ConfigReader& reader, const QwenVisionDefaults& defaults,
                       std::string_view width_key, std::string_view out_key) {
  QwenVision vision;
  vision.shape.n_embd = reader.integer({width_key}, kWidths, defaults.shape.n_embd);
  vision.shape.n_layer = reader.integer({"depth"}, kLayers, defaults.shape.n_layer);
  vision.shape.n_head = reader.integer({"num_heads"}, kHeads, defaults.shape.n_head);
  vision.patch_size =
      reader.integer({"patch_size", "spatial_patch_size"}, kPixels, defaults.patch_size);
  vision.merge = reader.integer({"spatial_merge_size"}, kHeads, 2);
  vision.planes = checked_mul(reader.integer({"in_channels", "in_chans"}, kHeads, 3),
                              reader.integer({"temporal_patch_size"}, kHeads, 2));
  vision.n_out = reader.integer({out_key}, kWidths, defaults.n_out);
  check_heads(reader, vision.shape, "num_heads");
  return vision;
}

StackSpec make_tower(const ConfigReader& reader, const QwenVision& vision, const LayerSpec& layer) {
  StackSpec tower{.role = StackRole::kVision,
                  .n_embd = vision.shape.n_embd,
                  .layers = repeat(reader, layer, vision.shape.n_layer),
                  .image = {.patch_size = vision.patch_size, .merge = vision.merge}};
  tower.extras.push_back(patch_embedding(vision.patch_size, vision.planes, vision.shape.n_embd));
  return tower;
}

LayerSpec fused_layer(const EncoderShape& shape) {
  LayerSpec layer = encoder_layer(shape, NormPlace::kBefore);
  std::get<AttentionSpec>(layer.mixer).fused_qkv = true;
  return layer;
}

// A norm over each patch, then two matrices over the merged ones.
void add_merger(StackSpec& tower, std::string_view stem, const QwenVision& vision, NormKind norm,
                int64_t norm_width) {
  add_norm(tower.extras, fmt::format("{}.norm", stem), norm_width, norm);
  add_linear(tower.extras, fmt::format("{}.0", stem), vision.merged(), vision.merged());
  add_linear(tower.extras, fmt::format("{}.2", stem), vision.merged(), vision.n_out);
}

StackSpec read_qwen2_tower(ConfigReader& reader) {
  QwenVision vision = read_vision(
      reader,
      {.shape = {.n_embd = 1280, .n_layer = 32, .n_head = 16}, .patch_size = 14, .n_out = 3584},
      "embed_dim", "hidden_size");
  const double ratio = reader.optional_number({"mlp_ratio"}).value_or(4);
  const double n_ff = ratio * static_cast<double>(vision.shape.n_embd);
  if (!(n_ff >= 1 && n_ff <= static_cast<double>(kWidths.most))) {
    reader.refuse("mlp_ratio", "makes no width");
  } else {
    vision.shape.n_ff = static_cast<int64_t>(n_ff);
  }
  StackSpec tower = make_tower(reader, vision, fused_layer(vision.shape));
  add_merger(tower, "mm", vision, NormKind::kScaleAndShift, vision.shape.n_embd);
  return tower;
}

// RMS norms, and a gated feed-forward with biases.
StackSpec read_qwen25_tower(ConfigReader& reader) {
  QwenVision vision = read_vision(
      reader,
      {.shape = {.n_embd = 3584, .n_layer = 32, .n_head = 16}, .patch_size = 14, .n_out = 3584},
      "hidden_size", "out_hidden_size");
  vision.shape.n_ff = reader.integer({"intermediate_size"}, kWidths, 3420);
  LayerSpec layer = fused_layer(vision.shape);
  layer.feed_forward.gated = true;
  layer.norms = {};
  StackSpec tower = make_tower(reader, vision, layer);
  add_merger(tower, "mm", vision, NormKind::kScale, vision.shape.n_embd);
  return tower;
}

// A bias of the patches, a position table, and a second merger for each layer whose features go
// into the text's first layers as well (DeepStack).
StackSpec read_qwen3_tower(ConfigReader& reader) {
  QwenVision vision = read_vision(
      reader,
      {.shape = {.n_embd = 1152, .n_layer = 27, .n_head = 16}, .patch_size = 16, .n_out = 3584},
      "hidden_size", "out_hidden_size");
  vision.shape.n_ff = reader.integer({"intermediate_size"}, kWidths, 4304);
  const int64_t n_position = reader.integer({"num_position_embeddings"}, kWidths, 2304);
  StackSpec tower = make_tower(reader, vision, fused_layer(vision.shape));
  tower.extras.push_back({.name = "patch_embd.bias", .columns = vision.shape.n_embd});
  tower.extras.push_back(
      {.name = "position_embd.weight", .columns = vision.shape.n_embd, .rows = n_position});
  add_merger(tower, "mm", vision, NormKind::kScaleAndShift, vision.shape.n_embd);
  return tower;
}

void add_deepstack(ConfigReader& reader, StackSpec& tower, int64_t n_out) {
  constexpr int64_t kMergersByDefault = 3;  // after layers 8, 16 and 24
  const bool stated = reader.has({"deepstack_visual_indexes"});
  const int64_t n_merger = std::ssize(reader.integers("deepstack_visual_indexes", kLayersOrNone));
  if (!stated) reader.record("deepstack_visual_indexes", "[8, 16, 24]");
  const QwenVision vision{
      .shape = {.n_embd = tower.n_embd}, .merge = tower.image.merge, .n_out = n_out};
  for (int64_t i = 0; i < (stated ? n_merger : kMergersByDefault); ++i) {
    add_merger(tower, fmt::format("deepstack.{}", i), vision, NormKind::kScaleAndShift,
               vision.merged());
  }
}

// The tower's last matrix must end in the text's width.
TransformerSpec with_tower(ConfigReader& reader, TransformerSpec spec, StackSpec tower) {
  if (reader.ok() && tower.extras.back().columns != spec.n_embd) {
    reader.refuse("vision_config", fmt::format("ends in {} features, the text begins with {}",
                                               tower.extras.back().columns, spec.n_embd));
  }
  spec.stacks.push_back(std::move(tower));
  return spec;
}

TransformerSpec read_qwen2_vl(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "qwen2");
  ConfigReader vision = nested_or_empty(reader, "vision_config", "Qwen2VLVisionConfig");
  return with_tower(reader, std::move(spec), read_qwen2_tower(vision));
}

TransformerSpec read_qwen25_vl(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "qwen2");
  ConfigReader vision = nested_or_empty(reader, "vision_config", "Qwen2_5_VLVisionConfig");
  return with_tower(reader, std::move(spec), read_qwen25_tower(vision));
}

TransformerSpec read_qwen3_vl_kind(ConfigReader& reader, std::string_view text) {
  TransformerSpec spec = read_text_part(reader, text);
  ConfigReader vision = nested_or_empty(reader, "vision_config", "Qwen3VLVisionConfig");
  StackSpec tower = read_qwen3_tower(vision);
  const int64_t n_out = tower.extras.back().columns;
  add_deepstack(vision, tower, n_out);
  return with_tower(reader, std::move(spec), std::move(tower));
}

TransformerSpec read_qwen3_vl(ConfigReader& reader) {
  return read_qwen3_vl_kind(reader, "qwen3_vl_text");
}
TransformerSpec read_qwen3_vl_moe(ConfigReader& reader) {
  return read_qwen3_vl_kind(reader, "qwen3_vl_moe_text");
}

// --- Qwen3.5: no DeepStack. Its draft layers belong to the text.

TransformerSpec read_qwen35_kind(ConfigReader& reader, std::string_view text) {
  TransformerSpec spec = read_text_part(reader, text);
  ConfigReader vision = nested_or_empty(reader, "vision_config", "Qwen3_5VisionConfig");
  vision.pass_over({"deepstack_visual_indexes"});
  return with_tower(reader, std::move(spec), read_qwen3_tower(vision));
}

TransformerSpec read_qwen35(ConfigReader& reader) {
  return read_qwen35_kind(reader, "qwen3_5_text");
}
TransformerSpec read_qwen35_moe(ConfigReader& reader) {
  return read_qwen35_kind(reader, "qwen3_5_moe_text");
}

// The text halves by their own names.
template <const char* kName>
TransformerSpec read_as(ConfigReader& reader) {
  const HfFamily* family = find_hf_family(kName);
  if (family != nullptr) return family->read(reader);
  reader.refuse("model_type", "the text part of this model is not known");
  return {};
}
constexpr char kQwen2[] = "qwen2";
constexpr char kQwen3[] = "qwen3";
constexpr char kQwen3Moe[] = "qwen3_moe";

}  // namespace

std::span<const HfFamily> multimodal_qwen_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"qwen2_vl", "Qwen2VLConfig", "qwen2vl", read_qwen2_vl},
      HfFamily{"qwen2_5_vl", "Qwen2_5_VLConfig", "qwen2vl", read_qwen25_vl},
      HfFamily{"qwen3_vl", "Qwen3VLConfig", "qwen3vl", read_qwen3_vl},
      HfFamily{"qwen3_vl_moe", "Qwen3VLMoeConfig", "qwen3vlmoe", read_qwen3_vl_moe},
      HfFamily{"qwen3_5", "Qwen3_5Config", "qwen35", read_qwen35},
      HfFamily{"qwen3_5_moe", "Qwen3_5MoeConfig", "qwen35moe", read_qwen35_moe},
      HfFamily{"qwen2_vl_text", "Qwen2VLTextConfig", "qwen2", read_as<kQwen2>},
      HfFamily{"qwen2_5_vl_text", "Qwen2_5_VLTextConfig", "qwen2", read_as<kQwen2>},
      HfFamily{"qwen3_vl_text", "Qwen3VLTextConfig", "qwen3", read_as<kQwen3>},
      HfFamily{"qwen3_vl_moe_text", "Qwen3VLMoeTextConfig", "qwen3moe", read_as<kQwen3Moe>},
  };
  return kFamilies;
}

}  // namespace tidemark
