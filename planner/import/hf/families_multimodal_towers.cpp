// The vision towers that several models share: CLIP, SigLIP, Pixtral.
#include <fmt/core.h>

#include "planner/base/checked.h"
#include "planner/import/hf/families_multimodal.h"

namespace tidemark {
namespace {

constexpr int64_t kColours = 3;

struct Vit {
  EncoderShape shape{};
  int64_t image_size = 0;
  int64_t patch_size = 0;
  int64_t channels = kColours;
  // Whole patches of one image.
  int64_t n_patch() const {
    const int64_t side = image_size / patch_size;
    return checked_mul(side, side);
  }
};

Vit read_vit(ConfigReader& reader, const VitDefaults& defaults) {
  Vit vit{
      .shape = {.n_embd = reader.integer({"hidden_size"}, kWidths, defaults.shape.n_embd),
                .n_layer = reader.integer({"num_hidden_layers"}, kLayers, defaults.shape.n_layer),
                .n_head = reader.integer({"num_attention_heads"}, kHeads, defaults.shape.n_head),
                .n_ff = reader.integer({"intermediate_size"}, kWidths, defaults.shape.n_ff)},
      .image_size = reader.integer({"image_size"}, kPixels, defaults.image_size),
      .patch_size = reader.integer({"patch_size"}, kPixels, defaults.patch_size),
      .channels = reader.integer({"num_channels"}, kHeads, kColours)};
  check_heads(reader, vit.shape, "num_attention_heads");
  if (vit.image_size < vit.patch_size) reader.refuse("image_size", "is less than one patch");
  return vit;
}

StackSpec make_tower(const ConfigReader& reader, const Vit& vit, const LayerSpec& layer) {
  return {.role = StackRole::kVision,
          .n_embd = vit.shape.n_embd,
          .layers = repeat(reader, layer, vit.shape.n_layer),
          .image = {.image_size = vit.image_size, .patch_size = vit.patch_size}};
}

// SigLIP's pooling: a learned query that attends to all patches, and a feed-forward.
void add_pooling_head(std::vector<ExtraWeight>& extras, const EncoderShape& shape) {
  extras.push_back({.name = "head.probe", .columns = shape.n_embd});
  add_linear(extras, "head.attn_qkv", shape.n_embd, 3 * shape.n_embd);
  add_linear(extras, "head.attn_output", shape.n_embd, shape.n_embd);
  add_norm(extras, "head.norm", shape.n_embd);
  add_linear(extras, "head.ffn_up", shape.n_embd, shape.n_ff);
  add_linear(extras, "head.ffn_down", shape.n_ff, shape.n_embd);
}

}  // namespace

ExtraWeight patch_embedding(int64_t patch_size, int64_t depth, int64_t n_embd) {
  return {.name = "patch_embd.weight",
          .columns = patch_size,
          .rows = patch_size,
          .count = checked_mul(depth, n_embd)};
}

StackSpec read_clip_tower(ConfigReader& reader, const VitDefaults& defaults) {
  const Vit vit = read_vit(reader, defaults);
  const int64_t n_embd = vit.shape.n_embd;
  reader.pass_over({"projection_dim", "vocab_size"});  // of the text half and the joint space
  StackSpec tower = make_tower(reader, vit, encoder_layer(vit.shape, NormPlace::kBefore));
  tower.extras.push_back({.name = "class_embd", .columns = n_embd});
  tower.extras.push_back(patch_embedding(vit.patch_size, vit.channels, n_embd));
  tower.extras.push_back(
      {.name = "position_embd.weight", .columns = n_embd, .rows = vit.n_patch() + 1});
  add_norm(tower.extras, "pre_ln", n_embd);
  tower.final_norm = NormKind::kScaleAndShift;
  return tower;
}

StackSpec read_siglip_tower(ConfigReader& reader, const VitDefaults& defaults,
                            bool has_head_by_default) {
  const Vit vit = read_vit(reader, defaults);
  const int64_t n_embd = vit.shape.n_embd;
  StackSpec tower = make_tower(reader, vit, encoder_layer(vit.shape, NormPlace::kBefore));
  tower.extras.push_back(patch_embedding(vit.patch_size, vit.channels, n_embd));
  tower.extras.push_back({.name = "patch_embd.bias", .columns = n_embd});
  tower.extras.push_back(
      {.name = "position_embd.weight", .columns = n_embd, .rows = vit.n_patch()});
  if (reader.boolean({"vision_use_head"}, has_head_by_default)) {
    add_pooling_head(tower.extras, vit.shape);
  }
  tower.final_norm = NormKind::kScaleAndShift;
  return tower;
}

StackSpec read_pixtral_tower(ConfigReader& reader, const VitDefaults& defaults) {
  const Vit vit = read_vit(reader, defaults);
  const EncoderShape& shape = vit.shape;
  const int64_t head_dim =
      reader.integer({"head_dim"}, kWidths, shape.n_embd / std::max<int64_t>(shape.n_head, 1),
                     "hidden_size / num_attention_heads");
  const LayerSpec layer{
      .mixer =
          AttentionSpec{.n_head = shape.n_head, .n_head_kv = shape.n_head, .head_dim = head_dim},
      .feed_forward = {.n_ff = shape.n_ff}};
  StackSpec tower = make_tower(reader, vit, layer);
  tower.extras.push_back(patch_embedding(vit.patch_size, vit.channels, shape.n_embd));
  add_norm(tower.extras, "pre_ln", shape.n_embd, NormKind::kScale);
  return tower;
}

TransformerSpec read_text_part(ConfigReader& reader, std::string_view otherwise) {
  std::optional<ConfigReader> nested = reader.object("text_config");
  if (nested) return read_hf_text(*nested, otherwise);
  const HfFamily* family = find_hf_family(otherwise);
  if (family == nullptr) {
    reader.refuse("text_config", fmt::format("unknown model {}", in_quotes(otherwise)));
    return {};
  }
  const std::string outer = reader.config_class();
  reader.set_config_class(family->config_class);
  TransformerSpec spec = family->read(reader);
  reader.set_config_class(outer);
  return spec;
}

ConfigReader nested_or_empty(ConfigReader& reader, std::string_view key,
                             std::string_view config_class) {
  static const ConfigValue kEmpty{.kind = ConfigKind::kObject};
  std::optional<ConfigReader> nested = reader.object(key);
  ConfigReader found = nested ? *nested : ConfigReader(reader.notes(), kEmpty, std::string(key));
  found.set_config_class(config_class);
  return found;
}

}  // namespace tidemark
