// Decoders with a vision or audio tower.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "../test_data.h"
#include "parsed_config.h"
#include "planner/model/state.h"

namespace tidemark {
namespace {

using testing::expect_published;
using ::testing::HasSubstr;
using testing::parameters_of;
using testing::parsed;
using testing::PublishedConfig;
using testing::refusal_of;

constexpr const char* kLlava15 = R"({"model_type": "llava",
  "architectures": ["LlavaForConditionalGeneration"],
  "text_config": {"model_type": "llama", "max_position_embeddings": 4096, "vocab_size": 32064},
  "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336,
    "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
    "patch_size": 14, "projection_dim": 768, "vocab_size": 32000},
  "vision_feature_layer": -2, "vision_feature_select_strategy": "default"})";

constexpr const char* kQwen3Vl2b = R"({"model_type": "qwen3_vl",
  "architectures": ["Qwen3VLForConditionalGeneration"], "tie_word_embeddings": true,
  "text_config": {"model_type": "qwen3_vl_text", "head_dim": 128, "hidden_size": 2048,
    "intermediate_size": 6144, "num_attention_heads": 16, "num_hidden_layers": 28,
    "num_key_value_heads": 8, "vocab_size": 151936},
  "vision_config": {"deepstack_visual_indexes": [5, 11, 17], "depth": 24, "hidden_size": 1024,
    "in_channels": 3, "intermediate_size": 4096, "num_heads": 16, "num_position_embeddings": 2304,
    "out_hidden_size": 2048, "patch_size": 16, "spatial_merge_size": 2,
    "temporal_patch_size": 2}})";

constexpr const char* kScout = R"({"model_type": "llama4",
  "architectures": ["Llama4ForConditionalGeneration"],
  "text_config": {"model_type": "llama4_text", "attention_bias": false,
    "attention_chunk_size": 8192, "head_dim": 128, "hidden_size": 5120,
    "interleave_moe_layer_step": 1, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
    "num_attention_heads": 40, "num_experts_per_tok": 1, "num_hidden_layers": 48,
    "num_key_value_heads": 8, "num_local_experts": 16, "use_qk_norm": true,
    "vocab_size": 202048}})";

constexpr const char* kSmolVlm = R"({"model_type": "idefics3",
  "architectures": ["Idefics3ForConditionalGeneration"], "tie_word_embeddings": false,
  "scale_factor": 4,
  "text_config": {"model_type": "llama", "hidden_size": 576, "intermediate_size": 1536,
    "num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3,
    "vocab_size": 49280},
  "vision_config": {"hidden_size": 768, "image_size": 512, "intermediate_size": 3072,
    "num_attention_heads": 12, "num_hidden_layers": 12, "patch_size": 16}})";

constexpr const char* kHub = "Hub API safetensors total";

constexpr PublishedConfig kPublished[] = {
    {"llava-1.5-7b", kLlava15, 7'063'427'072, kHub},
    {"smolvlm-256m", kSmolVlm, 256'484'928, "counted by independent public runs"},
    {"mistral-small-3.1-24b", R"({"model_type": "mistral3",
       "text_config": {"model_type": "mistral", "hidden_size": 5120, "intermediate_size": 32768,
         "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 131072},
       "vision_config": {"model_type": "pixtral", "hidden_size": 1024, "image_size": 1540,
         "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
         "head_dim": 64, "patch_size": 14},
       "spatial_merge_size": 2, "multimodal_projector_bias": false})",
     24'011'361'280, "KerasHub preset metadata"},
    {"qwen2-vl-7b", R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944,
       "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
       "tie_word_embeddings": false, "vocab_size": 152064,
       "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16,
         "in_chans": 3, "hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2}})",
     8'291'375'616, kHub},
    {"qwen2-vl-72b", R"({"model_type": "qwen2_vl", "hidden_size": 8192,
       "intermediate_size": 29568, "num_attention_heads": 64, "num_hidden_layers": 80,
       "num_key_value_heads": 8, "vocab_size": 152064, "vision_config": {"hidden_size": 8192}})",
     73'405'560'320, "stated in a public table of evaluated models"},
    {"qwen2.5-vl-3b", R"({"model_type": "qwen2_5_vl", "hidden_size": 2048,
       "intermediate_size": 11008, "num_attention_heads": 16, "num_hidden_layers": 36,
       "num_key_value_heads": 2, "tie_word_embeddings": true, "vocab_size": 151936,
       "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420,
         "num_heads": 16, "in_chans": 3, "out_hidden_size": 2048, "patch_size": 14}})",
     3'754'622'976, kHub},
    {"qwen2.5-vl-7b", R"({"model_type": "qwen2_5_vl", "hidden_size": 3584,
       "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28,
       "num_key_value_heads": 4, "vocab_size": 152064,
       "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420,
         "num_heads": 16, "in_chans": 3, "out_hidden_size": 3584, "patch_size": 14}})",
     8'292'166'656, kHub},
    {"qwen3-vl-2b", kQwen3Vl2b, 2'127'532'032, kHub},
    {"qwen3-vl-8b", R"({"model_type": "qwen3_vl", "tie_word_embeddings": false,
       "text_config": {"model_type": "qwen3_vl_text", "head_dim": 128, "hidden_size": 4096,
         "intermediate_size": 12288, "num_attention_heads": 32, "num_hidden_layers": 36,
         "num_key_value_heads": 8, "vocab_size": 151936},
       "vision_config": {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304,
         "num_heads": 16, "num_position_embeddings": 2304, "out_hidden_size": 4096,
         "patch_size": 16}})",
     8'767'123'696, kHub},
    {"gemma-3-27b", R"({"model_type": "gemma3", "mm_tokens_per_image": 256,
       "architectures": ["Gemma3ForConditionalGeneration"],
       "text_config": {"model_type": "gemma3_text", "head_dim": 128, "hidden_size": 5376,
         "intermediate_size": 21504, "num_attention_heads": 32, "num_hidden_layers": 62,
         "num_key_value_heads": 16, "sliding_window": 1024, "vocab_size": 262208},
       "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
         "image_size": 896, "intermediate_size": 4304, "num_attention_heads": 16,
         "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}})",
     27'432'406'640, "total_size 54,864,813,280 of its files / 2"},
    {"paligemma-3b-224", R"({"model_type": "paligemma", "projection_dim": 2048,
       "text_config": {"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384,
         "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1,
         "vocab_size": 257216},
       "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
         "image_size": 224, "intermediate_size": 4304, "num_attention_heads": 16,
         "num_hidden_layers": 27, "patch_size": 14, "projection_dim": 2048}})",
     2'923'466'480, "a public benchmark table"},
    {"llama-4-scout", kScout, 108'641'793'536, kHub},
    {"minicpm-v-2.6", R"({"model_type": "minicpmv", "version": 2.6, "query_num": 64,
       "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
       "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 151666,
       "drop_vision_last_layer": false, "tie_word_embeddings": false,
       "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
         "image_size": 980, "intermediate_size": 4304, "num_attention_heads": 16,
         "num_hidden_layers": 27, "patch_size": 14}})",
     8'099'175'152, "stated in a public table of evaluated models"},
    {"phi-3.5-vision", R"({"model_type": "phi3_v", "hidden_size": 3072, "vocab_size": 32064,
       "intermediate_size": 8192, "num_attention_heads": 32, "num_hidden_layers": 32,
       "num_key_value_heads": 32, "tie_word_embeddings": false,
       "embd_layer": {"projection_cls": "mlp", "use_hd_transform": true,
         "with_learnable_separator": true},
       "img_processor": {"image_dim_out": 1024, "name": "clip_vision_model"}})",
     4'146'621'440, "stated in a public table of evaluated models"},
    {"qwen2-audio-7b", R"({"model_type": "qwen2_audio",
       "audio_config": {"num_mel_bins": 128, "encoder_layers": 32, "encoder_attention_heads": 20,
         "encoder_ffn_dim": 5120, "d_model": 1280, "max_source_positions": 1500},
       "text_config": {"model_type": "qwen2", "intermediate_size": 11008, "vocab_size": 156032}})",
     8'397'094'912, "total_size 16,794,189,824 of its files / 2"},
    {"qwen3.5-27b", R"({"model_type": "qwen3_5", "tie_word_embeddings": false,
       "text_config": {"model_type": "qwen3_5_text", "full_attention_interval": 4,
         "head_dim": 256, "hidden_size": 5120, "intermediate_size": 17408,
         "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
         "linear_num_value_heads": 48, "linear_value_head_dim": 128, "mtp_num_hidden_layers": 1,
         "num_attention_heads": 24, "num_hidden_layers": 64, "num_key_value_heads": 4,
         "vocab_size": 248320},
       "vision_config": {"deepstack_visual_indexes": [], "depth": 27, "hidden_size": 1152,
         "intermediate_size": 4304, "num_heads": 16, "num_position_embeddings": 2304,
         "out_hidden_size": 5120, "patch_size": 16}})",
     27'781'427'952, kHub},
};

const char* json_of(std::string_view name) {
  for (const PublishedConfig& row : kPublished) {
    if (row.name == name) return row.json;
  }
  return "";
}

TEST(HfMultimodalTest, PublishedTotals) {
  for (const PublishedConfig& row : kPublished) expect_published(row);
}

TEST(HfMultimodalTest, LlavaByHand) {
  // Llama-2-7B with 64 tokens more: 6,738,415,616 + 2 x 64 x 4,096.
  constexpr int64_t kText = 6'738'415'616 + 2 * 64 * 4096;
  // Class token, 3 x 14 x 14 patches, 24 x 24 + 1 positions, two norms, 24 layers of
  // 4 (1,024^2 + 1,024) + 2 x 1,024 x 4,096 + 4,096 + 1,024 + 4 x 1,024.
  constexpr int64_t kLayer = 4 * (1024 * 1024 + 1024) + 2 * 1024 * 4096 + 5120 + 4096;
  constexpr int64_t kTower = 1024 + 588 * 1024 + 577 * 1024 + 4 * 1024 + 24 * kLayer;
  constexpr int64_t kProjector = 1024 * 4096 + 4096 + 4096 * 4096 + 4096;
  EXPECT_EQ(kTower, 303'507'456);
  EXPECT_EQ(parameters_of(kLlava15), kText + kTower + kProjector);
}

TEST(HfMultimodalTest, ALlavaWithoutVisionConfigHasClipLarge) {
  constexpr const char* kBare = R"({"model_type": "llava",
    "text_config": {"model_type": "llama", "vocab_size": 32064}})";
  const ImportedModel imported = parsed(kBare);
  EXPECT_EQ(parameter_count(imported.model), 7'063'427'072);
  EXPECT_THAT(imported.defaults,
              ::testing::Contains(::testing::Field(&AppliedDefault::key, "vision_config")));
}

// 336 / 14 = 24 patches a side; 896 / 14 = 64 in squares of 4; 336 / 14 in squares of 2; 512 / 16
// = 32 in squares of 4.
TEST(HfMultimodalTest, TokensOfAnImage) {
  const auto tokens = [](const char* json) {
    const ImageSpec image = parsed(json).model.transformer()->stacks.at(0).image;
    return tokens_of_image(image, image.image_size);
  };
  EXPECT_EQ(tokens(kLlava15), Tokens(576));
  EXPECT_EQ(tokens(kScout), Tokens(144));
  EXPECT_EQ(tokens(kSmolVlm), Tokens(64));
  EXPECT_EQ(tokens(json_of("gemma-3-27b")), Tokens(256));
  EXPECT_EQ(tokens(json_of("minicpm-v-2.6")), Tokens(64));
  const ImageSpec any = parsed(kQwen3Vl2b).model.transformer()->stacks.at(0).image;
  EXPECT_EQ(any.image_size, 0);
  // 1,024 pixels: 64 patches a side, 32 after merging.
  EXPECT_EQ(tokens_of_image(any, 1024), Tokens(1024));
}

TEST(HfMultimodalTest, TowersHoldNoCache) {
  const ModelSpec model = parsed(kQwen3Vl2b).model;
  EXPECT_EQ(model.transformer()->stacks.at(0).role, StackRole::kVision);
  // The text alone: 28 layers x 8 heads x 128 x 2 x 2 B.
  EXPECT_EQ(kv_bytes_per_token(model, DType::kF16, DType::kF16), Bytes::of(28 * 8 * 128 * 4));
}

// Each of them has a norm of 2 x 4,096, 4,096^2 + 4,096 and 4,096 x 2,048 + 2,048.
TEST(HfMultimodalTest, DeepStackMergersAreCountedByTheirIndices) {
  std::string one = kQwen3Vl2b;
  const std::string_view three = "[5, 11, 17]";
  one.replace(one.find(three), three.size(), "[5]");
  EXPECT_EQ(parameters_of(kQwen3Vl2b) - parameters_of(one),
            2 * (2 * 4096 + 4096 * 4096 + 4096 + 4096 * 2048 + 2048));
}

TEST(HfMultimodalTest, Llama4SaysThatItsTowerIsThePublishedOne) {
  const ImportedModel scout = parsed(kScout);
  EXPECT_THAT(scout.warnings, ::testing::Contains(HasSubstr("leaves out vision_config")));
}

// A naive judge: a LLaVA of any shape is text, tower and projector.
RC_GTEST_PROP(HfMultimodalLaws, ALlavaOfAnyShapeIsTheSumOfItsParts, ()) {
  const auto heads = *rc::gen::inRange<int64_t>(1, 9);
  const int64_t e = heads * *rc::gen::inRange<int64_t>(1, 40);
  const auto layers = *rc::gen::inRange<int64_t>(1, 5);
  const auto ff = *rc::gen::inRange<int64_t>(1, 300);
  const auto patch = *rc::gen::inRange<int64_t>(1, 20);
  const int64_t side = *rc::gen::inRange<int64_t>(1, 12);
  const int64_t image = side * patch + *rc::gen::inRange<int64_t>(0, patch);
  const std::string json = fmt::format(
      R"({{"model_type": "llava", "text_config": {{"model_type": "llama", "hidden_size": 8,
          "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 10,
          "vocab_size": 7}}, "vision_config": {{"hidden_size": {}, "num_attention_heads": {},
          "num_hidden_layers": {}, "intermediate_size": {}, "patch_size": {},
          "image_size": {}}}}})",
      e, heads, layers, ff, patch, image);
  constexpr int64_t kText = 2 * 7 * 8 + 4 * 64 + 3 * 80 + 2 * 8 + 8;
  int64_t tower = e + 3 * patch * patch * e + (side * side + 1) * e + 4 * e;
  for (int64_t i = 0; i < layers; ++i) tower += 4 * (e * e + e) + 2 * e * ff + ff + e + 4 * e;
  RC_ASSERT(parameters_of(json) == kText + tower + (e * 8 + 8) + (8 * 8 + 8));
}

RC_GTEST_PROP(HfMultimodalLaws, WrongValuesAreReadOrRefused, ()) {
  testing::judge_wrong_values(kPublished[*rc::gen::inRange<size_t>(0, std::size(kPublished))].json);
}

TEST(HfMultimodalTest, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal_of(R"({"model_type": "llava", "text_config": {"model_type": "llama"},
                             "vision_config": {"model_type": "eva_vision"}})"),
              HasSubstr("vision_config.model_type: unknown tower"));
  EXPECT_THAT(refusal_of(R"({"model_type": "llava", "text_config": {"model_type": "nobody"}})"),
              HasSubstr("text_config.model_type: unknown model"));
  EXPECT_THAT(refusal_of(R"({"model_type": "llava", "text_config": 7})"),
              HasSubstr("text_config: must be an object"));
  EXPECT_THAT(refusal_of(R"({"model_type": "llava",
                             "vision_config": {"hidden_size": 10, "num_attention_heads": 4}})"),
              HasSubstr("vision_config.num_attention_heads: 4 does not divide the width 10"));
  EXPECT_THAT(refusal_of(R"({"model_type": "llava", "vision_config": {"image_size": 0}})"),
              HasSubstr("vision_config.image_size: must be an integer from 1 to 65536"));
  EXPECT_THAT(refusal_of(R"({"model_type": "qwen2_vl", "hidden_size": 64, "num_attention_heads": 4,
                             "num_key_value_heads": 4,
                             "vision_config": {"hidden_size": 65}})"),
              HasSubstr("ends in 65 features, the text begins with 64"));
  EXPECT_THAT(refusal_of(R"({"model_type": "qwen2_vl", "vision_config": {"mlp_ratio": -1}})"),
              HasSubstr("vision_config.mlp_ratio: makes no width"));
  EXPECT_THAT(refusal_of(R"({"model_type": "llava",
                             "vision_config": {"image_size": 10, "patch_size": 11}})"),
              HasSubstr("vision_config.image_size: is less than one patch"));
  EXPECT_THAT(refusal_of(R"({"model_type": "minicpmv", "version": 9})"),
              HasSubstr("version: only 2.5 and 2.6 are known"));
}

// The total that was recorded for Gemma 4 holds the tied head once more: 262,144 x 2,816.
constexpr int64_t kGemma4Published = 26'544'131'376;
constexpr int64_t kGemma4Head = 262'144 * 2816;

TEST(HfMultimodalTest, WholeFilesOfPublishedModels) {
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  constexpr std::pair<const char*, int64_t> kFiles[] = {
      {"llava-1.5-7b", 7'063'427'072},
      {"qwen2-vl-7b", 8'291'375'616},
      {"qwen2.5-vl-3b", 3'754'622'976},
      {"qwen2.5-vl-7b", 8'292'166'656},
      {"qwen3-vl-2b", 2'127'532'032},
      {"qwen3-vl-8b", 8'767'123'696},
      {"medgemma-27b-it", 27'432'406'640},
      {"llama-4-scout-17b-16e", 108'641'793'536},
      {"qwen2-audio-7b", 8'397'094'912},
      {"qwen3.5-27b", 27'781'427'952},
      {"gemma-4-26b-a4b", kGemma4Published - kGemma4Head}};
  for (const auto& [name, parameters] : kFiles) {
    const Result<ImportedModel> model = read_hf_config(folder / name, {});
    ASSERT_TRUE(model.ok()) << name << "\n" << to_string(model.diagnostics());
    EXPECT_EQ(parameter_count(model->model), parameters) << name;
  }
}

}  // namespace
}  // namespace tidemark
