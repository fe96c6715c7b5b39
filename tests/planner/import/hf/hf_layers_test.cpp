// What a token sees and what a layer is made of, beyond the totals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "parsed_config.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using testing::parameters_of;
using testing::parsed;

// The widths of a small decoder; `more` ends in a comma or is empty.
std::string small(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type + R"(", )" + more +
         R"("hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 6,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100})";
}

std::vector<int64_t> windows_of(const std::string& json) {
  std::vector<int64_t> windows;
  const ImportedModel model = parsed(json);
  for (const LayerSpec& layer : model.model.transformer()->layers) {
    windows.push_back(layer.attention()->window);
  }
  return windows;
}

TEST(HfLayersTest, WindowsOfEachClass) {
  EXPECT_THAT(windows_of(small("mistral", R"("sliding_window": 8, )")),
              ElementsAre(8, 8, 8, 8, 8, 8));
  EXPECT_THAT(windows_of(small("mistral", R"("sliding_window": null, )")),
              ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(windows_of(small("gemma2", R"("sliding_window": 8, )")),
              ElementsAre(8, 0, 8, 0, 8, 0));
  EXPECT_THAT(windows_of(small("gemma3_text", R"("sliding_window": 8, )")),
              ElementsAre(8, 8, 8, 8, 8, 0));
  EXPECT_THAT(windows_of(small("cohere2", R"("sliding_window": 8, )")),
              ElementsAre(8, 8, 8, 0, 8, 8));
  EXPECT_THAT(windows_of(small("olmo3", R"("sliding_window": 8, )")),
              ElementsAre(8, 8, 8, 0, 8, 8));
}

TEST(HfLayersTest, ASwitchOfQwenTurnsWindowsOn) {
  EXPECT_THAT(windows_of(small("qwen2", R"("sliding_window": 8, "max_window_layers": 4, )")),
              ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(windows_of(small("qwen2", R"("sliding_window": 8, "max_window_layers": 4,
                "use_sliding_window": true, )")),
              ElementsAre(0, 0, 0, 0, 8, 8));
}

TEST(HfLayersTest, LayerTypesWinOverThePattern) {
  EXPECT_THAT(windows_of(small("gemma3_text", R"("sliding_window": 8, "layer_types":
                ["full_attention", "sliding_attention", "full_attention", "full_attention",
                 "full_attention", "full_attention"], )")),
              ElementsAre(0, 8, 0, 0, 0, 0));
}

TEST(HfLayersTest, LlamaFourSeesChunksInThreeLayersOfFour) {
  const ImportedModel model =
      parsed(small("llama4_text", R"("head_dim": 16, "attention_chunk_size": 8, )"));
  std::vector<int64_t> chunks;
  for (const LayerSpec& layer : model.model.transformer()->layers) {
    chunks.push_back(layer.attention()->chunk);
  }
  EXPECT_THAT(chunks, ElementsAre(8, 8, 8, 0, 8, 8));
}

TEST(HfLayersTest, LatentAttentionCachesTheLatentButInMiniCpm3) {
  const std::string ranks = R"("q_lora_rank": 32, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
     "qk_rope_head_dim": 4, "v_head_dim": 16, )";
  const ImportedModel deepseek = parsed(small("deepseek_v2", ranks));
  const ImportedModel minicpm = parsed(small("minicpm3", ranks));
  const auto& latent = std::get<MlaSpec>(deepseek.model.transformer()->layers[0].mixer);
  const auto& expanded = std::get<MlaSpec>(minicpm.model.transformer()->layers[0].mixer);
  EXPECT_TRUE(latent.latent_cache);
  EXPECT_TRUE(latent.split_kv_b);
  EXPECT_FALSE(expanded.latent_cache);
  EXPECT_FALSE(expanded.split_kv_b);
}

// DeepSeek-V3's draft layer: an expert layer with its embedding and head, 13,463,426,304 values, of
// which no total speaks (DeepSeek-R1's files hold it).
TEST(HfLayersTest, DraftLayersOfDeepSeekAreKeptOutOfTheTotal) {
  const ImportedModel model = parsed(R"({"model_type": "deepseek_v3", "first_k_dense_replace": 3,
       "hidden_size": 7168, "intermediate_size": 18432, "kv_lora_rank": 512,
       "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
       "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
       "num_nextn_predict_layers": 1, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
       "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280})");
  ModelSpec counted = model.model;
  auto& spec = std::get<TransformerSpec>(counted.dims);
  ASSERT_EQ(spec.stacks.size(), 1U);
  EXPECT_FALSE(spec.stacks[0].is_counted);
  spec.stacks[0].is_counted = true;
  EXPECT_EQ(parameter_count(counted) - parameter_count(model.model), 13'463'426'304);
}

// gemma-3n-E2B, text. Outside the layers: 262,400 x 2,048 embedding; 262,144 x 30 x 256 for the
// layers; 2,048 x 7,680 + 256 into them; 6 x 2,048^2 stream matrices; the last norm: 2,591,557,888.
// A layer: Q and O 2 x 2,048^2, K and V 2 x 2,048 x 512, norms of Q and K 512: 10,486,272;
// feed-forward 3 x 2,048 x 8,192 = 50,331,648; streams 2,048 + 16 + 64 + 8,192 + 2,048 = 12,368;
// Laurel 2 x 131,072 + 2,048 = 264,192; from the layers' embedding 2 x 524,288 + 2,048 = 1,050,624;
// four norms 8,192: together 62,153,296. Times 30, in all 4,456,156,768 (llama.cpp shows 4.46 B).
TEST(HfLayersTest, GemmaThreeN) {
  const char* json = R"({"model_type": "gemma3n_text", "hidden_size": 2048,
       "hidden_size_per_layer_input": 256, "intermediate_size": [8192, 8192, 8192, 8192, 8192,
         8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192,
         8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192, 8192],
       "num_attention_heads": 8, "num_hidden_layers": 30, "num_key_value_heads": 2,
       "head_dim": 256, "num_kv_shared_layers": 10, "altup_num_inputs": 4, "laurel_rank": 64,
       "vocab_size": 262400, "vocab_size_per_layer_input": 262144, "sliding_window": 512})";
  EXPECT_EQ(parameters_of(json), 4'456'156'768);
  const ImportedModel model = parsed(json);
  const auto& layers = model.model.transformer()->layers;
  // Of the layers that keep a cache, 18 is the last with a window and 19 the last without.
  EXPECT_EQ(layers[19].attention()->shares_kv_with, -1);
  EXPECT_EQ(layers[20].attention()->shares_kv_with, 18);
  EXPECT_EQ(layers[24].attention()->shares_kv_with, 19);
}

// Gemma 4 26B: the parts of layer 5, which sees all: Q and O 2 x 2,816 x 8,192, K 2,816 x 1,024 and
// no V, norms of Q and K 2 x 512.
TEST(HfLayersTest, GemmaFourHasTwoSizesOfHeads) {
  const ImportedModel model = parsed(R"({"model_type": "gemma4_text", "hidden_size": 2816,
       "intermediate_size": 2112, "moe_intermediate_size": 704, "num_experts": 128,
       "top_k_experts": 8, "enable_moe_block": true, "attention_k_eq_v": true, "head_dim": 256,
       "global_head_dim": 512, "num_global_key_value_heads": 2, "num_attention_heads": 16,
       "num_key_value_heads": 8, "num_hidden_layers": 30, "num_kv_shared_layers": 0,
       "hidden_size_per_layer_input": 0, "sliding_window": 1024, "vocab_size": 262144})");
  int64_t attention = 0;
  for (const WeightTensor& tensor : weight_tensors(model.model)) {
    if (tensor.layer == 5 && tensor.name.find("attn_") != std::string::npos &&
        tensor.name.find("attn_norm") == std::string::npos) {
      attention += tensor.elements();
    }
  }
  EXPECT_EQ(attention, 2 * 2816 * 8192 + 2816 * 1024 + 2 * 512);
  // 25 x 814,094,976 + 5 x 828,513,408 + 262,144 x 2,816 + 2,816; the model card says 25.2B.
  EXPECT_EQ(parameter_count(model.model), 25'233'141'760);
}

TEST(HfLayersTest, ANullHeadCountIsNotAMissingOne) {
  // MistralConfig: missing means 8, null means as many as heads.
  const char* missing = R"({"model_type": "mistral", "hidden_size": 64, "intermediate_size": 8,
     "num_attention_heads": 16, "num_hidden_layers": 1, "sliding_window": null,
     "vocab_size": 10})";
  const char* null = R"({"model_type": "mistral", "hidden_size": 64, "intermediate_size": 8,
     "num_attention_heads": 16, "num_hidden_layers": 1, "num_key_value_heads": null,
     "sliding_window": null, "vocab_size": 10})";
  const auto n_head_kv = [](const char* json) {
    const ImportedModel model = parsed(json);
    return model.model.transformer()->layers.at(0).attention()->n_head_kv;
  };
  EXPECT_EQ(n_head_kv(missing), 8);
  EXPECT_EQ(n_head_kv(null), 16);
}

TEST(HfLayersTest, WhatTheFileLeavesOutIsRecorded) {
  const ImportedModel model = parsed(small("gemma", ""));
  EXPECT_EQ(model.model.dtype, DType::kF32);
  EXPECT_TRUE(model.model.transformer()->tied_embeddings);
  EXPECT_THAT(model.defaults,
              Contains(AppliedDefault{
                  .key = "tie_word_embeddings", .value = "true", .why = "GemmaConfig's default"}));
  EXPECT_THAT(
      model.defaults,
      Contains(AppliedDefault{.key = "head_dim", .value = "256", .why = "GemmaConfig's default"}));
  EXPECT_THAT(model.defaults,
              Contains(AppliedDefault{
                  .key = "torch_dtype", .value = "float32", .why = "PretrainedConfig's default"}));
  EXPECT_THAT(model.warnings, IsEmpty());
}

TEST(HfLayersTest, AClassWithoutAHeadOrWithAnotherOne) {
  const auto has_head = [](const std::string& architecture) {
    const std::string key = R"("architectures": [")" + architecture + R"("], )";
    return parsed(small("llama", key)).model.transformer()->has_head;
  };
  EXPECT_TRUE(has_head("LlamaForCausalLM"));
  EXPECT_TRUE(has_head("GPT2LMHeadModel"));
  EXPECT_FALSE(has_head("LlamaModel"));
  EXPECT_FALSE(has_head("LlamaForSequenceClassification"));
}

TEST(HfLayersTest, TheArchitectureStandsInForAMissingModelType) {
  const ImportedModel model = parsed(R"({"architectures": ["Qwen2ForCausalLM"],
     "hidden_size": 64, "intermediate_size": 8, "num_attention_heads": 4, "num_hidden_layers": 1,
     "num_key_value_heads": 4, "vocab_size": 10})");
  EXPECT_EQ(model.model.architecture, "qwen2");
  EXPECT_THAT(model.defaults, Contains(Field(&AppliedDefault::key, "model_type")));
}

// The keys of Meta's, DeepSeek's and Mistral's own code name no model.
TEST(HfLayersTest, OtherSpellingsAreToldByTheirKeys) {
  EXPECT_EQ(parsed(R"({"dim": 64, "n_layers": 1, "head_dim": 16, "hidden_dim": 128, "n_heads": 4,
     "n_kv_heads": 2, "norm_eps": 1e-5, "vocab_size": 10})")
                .format,
            "Mistral params.json");
  const ImportedModel executorch = parsed(R"({"dim": 64, "n_layers": 1, "hidden_dim": 128,
     "n_heads": 4, "n_kv_heads": 2, "use_hf_rope": true, "vocab_size": 10})");
  EXPECT_EQ(executorch.format, "ExecuTorch params");
  EXPECT_EQ(executorch.warnings.size(), 1U);  // it does not say whether the head is tied
  const ImportedModel deepseek = parsed(R"({"dim": 64, "n_layers": 2, "inter_dim": 128,
     "n_heads": 4, "moe_inter_dim": 32, "n_routed_experts": 4, "n_activated_experts": 2,
     "kv_lora_rank": 16, "dtype": "fp8", "vocab_size": 10})");
  EXPECT_EQ(deepseek.format, "DeepSeek inference config");
  EXPECT_EQ(deepseek.model.stored_as.format, DType::kFp8E4m3B128);
}

}  // namespace
}  // namespace tidemark
