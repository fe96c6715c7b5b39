// Models whose tower is one of the shared ones: LLaVA, Pixtral, Mistral 3, PaliGemma, Idefics 3 and
// SmolVLM, MiniCPM-V, Phi-3-Vision; and Qwen2-Audio with Whisper's encoder.
#include "planner/import/hf/families_multimodal.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "planner/base/checked.h"

namespace tidemark {
namespace {

// --- LLaVA: two matrices from the tower's width to the text's.

StackSpec read_llava_tower(ConfigReader& reader) {
  if (!reader.has({"vision_config"})) {
    reader.record("vision_config", "CLIP ViT-L/14, 336 pixels");
    ConfigReader empty = nested_or_empty(reader, "vision_config", "LlavaConfig");
    return read_clip_tower(empty, kClipLarge336);
  }
  ConfigReader vision = nested_or_empty(reader, "vision_config", "CLIPVisionConfig");
  const std::string type =
      vision.text({"model_type"}, "clip_vision_model", "LlavaConfig's default");
  if (type == "pixtral") {
    vision.set_config_class("PixtralVisionConfig");
    return read_pixtral_tower(vision, kPixtralDefaults);
  }
  if (type == "siglip_vision_model") {
    vision.set_config_class("SiglipVisionConfig");
    return read_siglip_tower(vision, kSiglipDefaults, true);
  }
  if (type != "clip_vision_model") {
    vision.refuse("model_type", fmt::format("unknown tower {}", in_quotes(type)));
  }
  return read_clip_tower(vision, kClipDefaults);
}

// The features of one layer, or of several side by side.
int64_t n_feature_layers(ConfigReader& reader) {
  const ConfigValue* value = reader.value().find("vision_feature_layer");
  reader.pass_over({"vision_feature_layer"});
  const bool is_list = value != nullptr && value->kind == ConfigKind::kList;
  return is_list ? std::max<int64_t>(std::ssize(value->items), 1) : 1;
}

TransformerSpec read_llava(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "llama");
  StackSpec tower = read_llava_tower(reader);
  const std::string strategy = reader.text({"vision_feature_select_strategy"}, "default");
  tower.image.extra_tokens = strategy == "full" ? 1 : 0;
  const bool bias = reader.boolean({"multimodal_projector_bias"}, true);
  add_linear(tower.extras, "mm.0", checked_mul(tower.n_embd, n_feature_layers(reader)), spec.n_embd,
             bias);
  add_linear(tower.extras, "mm.2", spec.n_embd, spec.n_embd, bias);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

// One more vector ends each row of patches.
TransformerSpec read_llava_next(ConfigReader& reader) {
  TransformerSpec spec = read_llava(reader);
  spec.stacks.back().extras.push_back({.name = "image_newline", .columns = spec.n_embd});
  return spec;
}

// Merges merge x merge patches into one of the same width, then LLaVA's two matrices.
TransformerSpec read_mistral3(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "mistral");
  VitDefaults defaults = kPixtralDefaults;
  defaults.image_size = 1540;
  defaults.patch_size = 14;
  ConfigReader vision = nested_or_empty(reader, "vision_config", "PixtralVisionConfig");
  StackSpec tower = read_pixtral_tower(vision, defaults);
  tower.image.merge = reader.integer({"spatial_merge_size"}, kHeads, 2);
  const bool bias = reader.boolean({"multimodal_projector_bias"}, false);
  const int64_t merged = checked_mul(tower.n_embd, tower.image.merge * tower.image.merge);
  add_norm(tower.extras, "mm.input_norm", tower.n_embd, NormKind::kScale);
  add_linear(tower.extras, "mm.patch_merger", merged, tower.n_embd, false);
  add_linear(tower.extras, "mm.0", checked_mul(tower.n_embd, n_feature_layers(reader)), spec.n_embd,
             bias);
  add_linear(tower.extras, "mm.2", spec.n_embd, spec.n_embd, bias);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

TransformerSpec read_paligemma(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "gemma");
  ConfigReader vision = nested_or_empty(reader, "vision_config", "SiglipVisionConfig");
  StackSpec tower = read_siglip_tower(vision, kSiglipDefaults, false);
  vision.pass_over({"projection_dim"});
  reader.pass_over({"hidden_size", "projection_dim"});
  add_linear(tower.extras, "mm.input_projection", tower.n_embd, spec.n_embd);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

// Idefics 3, SmolVLM: scale x scale patches side by side, and one matrix.
TransformerSpec read_idefics3(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "llama");
  ConfigReader vision = nested_or_empty(reader, "vision_config", "Idefics3VisionConfig");
  constexpr VitDefaults kDefaults{
      .shape = {.n_embd = 1152, .n_layer = 12, .n_head = 16, .n_ff = 3072},
      .image_size = 224,
      .patch_size = 32};
  StackSpec tower = read_siglip_tower(vision, kDefaults, false);
  tower.image.merge = reader.integer({"scale_factor"}, kHeads, 2);
  add_linear(tower.extras, "mm.fc",
             checked_mul(tower.n_embd, tower.image.merge * tower.image.merge), spec.n_embd, false);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

// --- MiniCPM-V: learned queries attend to the patches of one slice of 448 pixels.

void add_resampler(ConfigReader& reader, StackSpec& tower, int64_t n_embd) {
  const int64_t n_query = reader.integer({"query_num"}, kWidths, 64);
  tower.extras.push_back({.name = "resampler.query", .columns = n_embd, .rows = n_query});
  if (tower.n_embd != n_embd) {
    add_linear(tower.extras, "resampler.kv", tower.n_embd, n_embd, false);
  }
  add_linear(tower.extras, "resampler.attn_qkv", n_embd, 3 * n_embd);
  add_linear(tower.extras, "resampler.attn_output", n_embd, n_embd);
  for (const auto* stem : {"resampler.ln_q", "resampler.ln_kv", "resampler.ln_post"}) {
    add_norm(tower.extras, stem, n_embd);
  }
  tower.extras.push_back({.name = "resampler.proj.weight", .columns = n_embd, .rows = n_embd});
}

TransformerSpec read_minicpmv(ConfigReader& reader) {
  const double version = reader.optional_number({"version"}).value_or(2.6);
  const bool is_25 = version > 2.45 && version < 2.55;
  if (!is_25 && !(version > 2.55 && version < 2.65)) {
    reader.refuse("version", "only 2.5 and 2.6 are known");
  }
  TransformerSpec spec = read_text_part(reader, is_25 ? "llama" : "qwen2");
  ConfigReader vision = nested_or_empty(reader, "vision_config", "SiglipVisionConfig");
  constexpr VitDefaults kSo400m{
      .shape = {.n_embd = 1152, .n_layer = 27, .n_head = 16, .n_ff = 4304},
      .image_size = 980,
      .patch_size = 14};
  StackSpec tower = read_siglip_tower(vision, kSo400m, false);
  if (reader.boolean({"drop_vision_last_layer"}, false) && !tower.layers.empty()) {
    tower.layers.pop_back();
  }
  add_resampler(reader, tower, spec.n_embd);
  constexpr int64_t kSlice = 448;
  tower.image = {.image_size = kSlice, .patch_size = 14, .merge = 4};  // 8 x 8 queries
  spec.stacks.push_back(std::move(tower));
  return spec;
}

// --- Phi-3-Vision: CLIP ViT-L/14-336 whatever the file says; 2 x 2 patches side by side.

TransformerSpec read_phi3_v(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "phi3");
  ConfigReader empty = nested_or_empty(reader, "img_processor", "Phi3VConfig");
  StackSpec tower = read_clip_tower(empty, kClipLarge336);
  ConfigReader layer = nested_or_empty(reader, "embd_layer", "Phi3VConfig");
  const std::string kind = layer.text({"projection_cls"}, "mlp");
  if (kind != "mlp") layer.refuse("projection_cls", "only mlp is known");
  const bool merges = layer.boolean({"use_hd_transform"}, true);
  tower.image.merge = merges ? 2 : 1;
  const int64_t merged = checked_mul(tower.n_embd, tower.image.merge * tower.image.merge);
  if (merges && layer.boolean({"with_learnable_separator"}, true)) {
    tower.extras.push_back({.name = "mm.glb_GN", .columns = merged});
    tower.extras.push_back({.name = "mm.sub_GN", .columns = merged});
  }
  add_linear(tower.extras, "mm.0", merged, spec.n_embd);
  add_linear(tower.extras, "mm.2", spec.n_embd, spec.n_embd);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

TransformerSpec read_qwen2_audio(ConfigReader& reader) {
  TransformerSpec spec = read_text_part(reader, "qwen2");
  ConfigReader audio = nested_or_empty(reader, "audio_config", "Qwen2AudioEncoderConfig");
  constexpr WhisperEncoderDefaults kDefaults{
      .n_mel = 128,
      .n_source = 1500,
      .shape = {.n_embd = 1280, .n_layer = 32, .n_head = 20, .n_ff = 5120}};
  StackSpec tower = read_whisper_encoder(audio, kDefaults, StackRole::kAudio);
  audio.pass_over({"num_hidden_layers", "decoder_layers"});
  add_linear(tower.extras, "mm.linear", tower.n_embd, spec.n_embd);
  spec.stacks.push_back(std::move(tower));
  return spec;
}

}  // namespace

std::span<const HfFamily> multimodal_families() {
  static constexpr std::array kFamilies = {
      HfFamily{"llava", "LlavaConfig", "llava", read_llava},
      HfFamily{"llava_next", "LlavaNextConfig", "llava", read_llava_next},
      HfFamily{"mistral3", "Mistral3Config", "mistral3", read_mistral3},
      HfFamily{"paligemma", "PaliGemmaConfig", "paligemma", read_paligemma},
      HfFamily{"idefics3", "Idefics3Config", "idefics3", read_idefics3},
      HfFamily{"smolvlm", "SmolVLMConfig", "smolvlm", read_idefics3},
      HfFamily{"minicpmv", "MiniCPMVConfig", "minicpmv", read_minicpmv},
      HfFamily{"phi3_v", "Phi3VConfig", "phi3_v", read_phi3_v},
      HfFamily{"qwen2_audio", "Qwen2AudioConfig", "qwen2_audio", read_qwen2_audio},
  };
  return kFamilies;
}

}  // namespace tidemark
