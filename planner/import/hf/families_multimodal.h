// Decoders with a tower for images or sound before them.
//
//   LLaVA-1.5-7B   Llama-2-7B with 32,064 tokens 6,738,939,904, CLIP ViT-L/14-336 303,507,456,
//                  projector 1,024 -> 4,096 -> 4,096 with biases 20,979,712: 7,063,427,072.
//   Checked by HfMultimodalTest.LlavaByHand.
//
// The text part is read by its own family; the tower is a stack, and what joins the two (projector,
// merger, resampler) stands among the tower's extras.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "planner/import/hf/families_encoder.h"

namespace tidemark {

std::span<const HfFamily> multimodal_families();        // families_multimodal.cpp
std::span<const HfFamily> multimodal_qwen_families();   // families_multimodal_qwen.cpp
std::span<const HfFamily> multimodal_gemma_families();  // families_multimodal_gemma.cpp

inline constexpr IntegerRange kPixels{1, 1 << 16};

// The nested text_config; where a file has none, the file itself as an `otherwise`.
TransformerSpec read_text_part(ConfigReader& reader, std::string_view otherwise);

// The nested object `key` of class `config_class`; one without keys where the file has none.
ConfigReader nested_or_empty(ConfigReader& reader, std::string_view key,
                             std::string_view config_class);

// What a vision class takes for a key that is not there.
struct VitDefaults {
  EncoderShape shape{};
  int64_t image_size = 0;
  int64_t patch_size = 0;
};

// Square convolution over `depth` planes: patch_size x patch_size x depth x n_embd values.
ExtraWeight patch_embedding(int64_t patch_size, int64_t depth, int64_t n_embd);

// A tower without its projector. CLIP: class token, a norm before and after. SigLIP: a bias of the
// patches, a pooling head where `vision_use_head` says so. Pixtral: Llama's layers, no position
// table.
StackSpec read_clip_tower(ConfigReader& reader, const VitDefaults& defaults);
StackSpec read_siglip_tower(ConfigReader& reader, const VitDefaults& defaults,
                            bool has_head_by_default);
StackSpec read_pixtral_tower(ConfigReader& reader, const VitDefaults& defaults);

// Class defaults of transformers, and the tower that a LLaVA without vision_config has.
inline constexpr VitDefaults kClipDefaults{
    .shape = {.n_embd = 768, .n_layer = 12, .n_head = 12, .n_ff = 3072},
    .image_size = 224,
    .patch_size = 32};
inline constexpr VitDefaults kClipLarge336{
    .shape = {.n_embd = 1024, .n_layer = 24, .n_head = 16, .n_ff = 4096},
    .image_size = 336,
    .patch_size = 14};
inline constexpr VitDefaults kSiglipDefaults{
    .shape = {.n_embd = 768, .n_layer = 12, .n_head = 12, .n_ff = 3072},
    .image_size = 224,
    .patch_size = 16};
inline constexpr VitDefaults kPixtralDefaults{
    .shape = {.n_embd = 1024, .n_layer = 24, .n_head = 16, .n_ff = 4096},
    .image_size = 1024,
    .patch_size = 16};

}  // namespace tidemark
