// Mamba, Mamba-2, RWKV, and models that mix them with attention.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

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

constexpr const char* kMamba130m = R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"],
  "conv_kernel": 4, "expand": 2, "hidden_size": 768, "intermediate_size": 1536,
  "num_hidden_layers": 24, "state_size": 16, "time_step_rank": 48, "use_bias": false,
  "use_conv_bias": true, "vocab_size": 50280})";

constexpr const char* kJamba = R"({"model_type": "jamba", "architectures": ["JambaForCausalLM"],
  "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1,
  "expert_layer_period": 2, "hidden_size": 4096, "intermediate_size": 14336,
  "mamba_conv_bias": true, "mamba_d_conv": 4, "mamba_d_state": 16, "mamba_dt_rank": 256,
  "mamba_expand": 2, "mamba_proj_bias": false, "max_position_embeddings": 262144,
  "num_attention_heads": 32, "num_experts": 16, "num_experts_per_tok": 2, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 65536})";

constexpr const char* kGraniteSmall = R"({"model_type": "granitemoehybrid", "hidden_size": 4096,
  "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
  "num_local_experts": 72, "num_experts_per_tok": 10, "shared_intermediate_size": 1536,
  "intermediate_size": 768, "mamba_d_state": 128, "mamba_d_conv": 4, "mamba_expand": 2,
  "mamba_n_heads": 128, "mamba_n_groups": 1, "mamba_d_head": 64, "tie_word_embeddings": true,
  "vocab_size": 100352, "layer_types": ["mamba", "mamba", "mamba", "mamba", "mamba", "attention",
  "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention",
  "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention",
  "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention",
  "mamba", "mamba", "mamba", "mamba"]})";

constexpr const char* kHubTable = "Hub totals, as recorded in a public script";

constexpr PublishedConfig kPublished[] = {
    {"mamba-130m", kMamba130m, 129'135'360, "Hub API safetensors.total"},
    {"mamba-370m", R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"],
       "hidden_size": 1024, "num_hidden_layers": 48, "vocab_size": 50280})",
     371'516'416, kHubTable},
    {"mamba-790m", R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"],
       "hidden_size": 1536, "num_hidden_layers": 48, "vocab_size": 50280})",
     793'204'224, kHubTable},
    {"mamba-2.8b", R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"],
       "hidden_size": 2560, "num_hidden_layers": 64, "time_step_rank": "auto"})",
     2'768'345'600, kHubTable},
    {"rwkv-4-169m-pile", R"({"model_type": "rwkv", "architectures": ["RwkvForCausalLM"],
       "hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072,
       "attention_hidden_size": 768, "vocab_size": 50277, "context_length": 1024})",
     169'342'464, kHubTable},
    {"rwkv-4-430m-pile", R"({"model_type": "rwkv", "hidden_size": 1024, "num_hidden_layers": 24})",
     430'397'440, kHubTable},
    {"rwkv-4-1b5-pile", R"({"model_type": "rwkv", "hidden_size": 2048, "num_hidden_layers": 24})",
     1'515'106'304, kHubTable},
    {"rwkv-4-3b-pile", R"({"model_type": "rwkv", "hidden_size": 2560, "num_hidden_layers": 32})",
     2'984'627'200, kHubTable},
    {"rwkv7-g1-1.5b", R"({"model_type": "rwkv7", "architectures": ["RWKV7ForCausalLM"],
       "hidden_size": 2048, "num_hidden_layers": 24, "vocab_size": 65536, "head_dim": 64,
       "intermediate_size": 8192, "decay_low_rank_dim": 96, "a_low_rank_dim": 96,
       "v_low_rank_dim": 64, "gate_low_rank_dim": 256, "attn": null})",
     1'527'404'544, "a public release script of its checkpoints"},
    {"jamba-v0.1", kJamba, 51'570'323'328, "total_size 103,140,646,656 of its files / 2"},
    {"nemotron-nano-9b-v2", R"({"model_type": "nemotron_h", "hidden_size": 4480,
       "num_hidden_layers": 56, "num_attention_heads": 40, "num_key_value_heads": 8,
       "head_dim": 128, "intermediate_size": 15680, "mamba_num_heads": 128, "mamba_head_dim": 80,
       "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4, "use_bias": false,
       "use_conv_bias": true, "vocab_size": 131072, "tie_word_embeddings": false,
       "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-"})",
     8'888'227'328, "stated in a public table of evaluated models"},
    {"nemotron-3-nano-30b-a3b", R"({"model_type": "nemotron_h", "hidden_size": 2688,
       "num_hidden_layers": 52, "num_attention_heads": 32, "num_key_value_heads": 2,
       "head_dim": 128, "intermediate_size": 1856, "mamba_num_heads": 64, "mamba_head_dim": 64,
       "n_groups": 8, "ssm_state_size": 128, "n_routed_experts": 128, "num_experts_per_tok": 6,
       "moe_intermediate_size": 1856, "n_shared_experts": 1, "vocab_size": 131072,
       "moe_shared_expert_intermediate_size": 3712,
       "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"})",
     31'577'937'344, "Hub API safetensors.total"},
    {"granite-4.0-h-small", kGraniteSmall, 32'207'337'984,
     "stated in a public table of evaluated models"},
};

TEST(HfRecurrentTest, PublishedTotals) {
  for (const PublishedConfig& row : kPublished) expect_published(row);
}

TEST(HfRecurrentTest, MambaByHand) {
  // A layer: in 768 x 3,072; convolution 1,536 x 4 + 1,536; x 1,536 x (48 + 32); dt 48 x 1,536 +
  // 1,536; A 16 x 1,536; D 1,536; out 1,536 x 768; norm 768.
  constexpr int64_t kLayer =
      768 * 3072 + 1536 * 5 + 1536 * 80 + 49 * 1536 + 16 * 1536 + 1536 + 1536 * 768 + 768;
  EXPECT_EQ(parameters_of(kMamba130m), 50280 * 768 + 24 * kLayer + 768);
}

TEST(HfRecurrentTest, MambasStateByHand) {
  // 24 layers x (3 x 1,536 of the convolution + 16 x 1,536) x 4 B, whatever the context.
  const ModelSpec mamba = parsed(kMamba130m).model;
  const StateSizes sizes = state_sizes(mamba, {.n_cells = 8192});
  EXPECT_EQ(sizes.recurrent, Bytes::of(24 * (3 * 1536 + 16 * 1536) * 4));
  EXPECT_EQ(sizes.recurrent, Bytes::of(2'801'664));
  EXPECT_EQ(sizes.kv_cache(), Bytes{});
  EXPECT_EQ(state_sizes(mamba, {.n_cells = 1}).recurrent, sizes.recurrent);
}

TEST(HfRecurrentTest, JambasLayersAndState) {
  const ModelSpec jamba = parsed(kJamba).model;
  std::vector<size_t> attending;
  std::vector<size_t> expert;
  const std::vector<LayerSpec>& layers = jamba.transformer()->layers;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].attention() != nullptr) attending.push_back(i);
    if (layers[i].moe.n_expert > 0) expert.push_back(i);
  }
  EXPECT_THAT(attending, ::testing::ElementsAre(4, 12, 20, 28));
  EXPECT_EQ(expert.size(), 16U);
  EXPECT_TRUE(std::ranges::all_of(expert, [](size_t i) { return i % 2 == 1; }));
  // 4 layers x 8 heads x 128 x 2 (K and V) x 2 B = 16,384 B a token: 4 GiB at 262,144 tokens.
  EXPECT_EQ(kv_bytes_per_token(jamba, DType::kF16, DType::kF16), Bytes::of(16'384));
  const StateSizes sizes = state_sizes(jamba, {.n_cells = 262'144});
  EXPECT_EQ(sizes.kv_full, Bytes::of(int64_t{4} * 1024 * 1024 * 1024));
  // 28 layers x (3 + 16) x 8,192 x 4 B.
  EXPECT_EQ(sizes.recurrent, Bytes::of(28 * 19 * 8192 * 4));
}

TEST(HfRecurrentTest, FalconMambaAndMamba2ByHand) {
  constexpr const char* kFalcon = R"({"model_type": "falcon_mamba", "hidden_size": 4096,
    "architectures": ["FalconMambaForCausalLM"], "intermediate_size": 8192,
    "num_hidden_layers": 64, "state_size": 16, "time_step_rank": 256, "vocab_size": 65024,
    "tie_word_embeddings": false})";
  // in 4,096 x 16,384, convolution 5 x 8,192, x 8,192 x 288, dt 257 x 8,192, A 16 x 8,192,
  // D 8,192, out 8,192 x 4,096, norm 4,096.
  constexpr int64_t kLayer =
      int64_t{4096} * 16384 + 5 * 8192 + 8192 * 288 + 257 * 8192 + 17 * 8192 + 8192 * 4096 + 4096;
  EXPECT_EQ(parameters_of(kFalcon), 2 * int64_t{65024} * 4096 + 64 * kLayer + 4096);

  constexpr const char* kCodestral = R"({"model_type": "mamba2", "hidden_size": 4096,
    "architectures": ["Mamba2ForCausalLM"], "num_hidden_layers": 64, "num_heads": 128,
    "head_dim": 64, "n_groups": 8, "state_size": 128, "conv_kernel": 4, "expand": 2,
    "vocab_size": 32768})";
  // Convolved: 8,192 + 2 x 8 x 128 = 10,240. in 4,096 x (8,192 + 10,240 + 128), convolution
  // 5 x 10,240, dt, A and D 3 x 128, norm 8,192, out 8,192 x 4,096, norm 4,096; untied.
  constexpr int64_t kLayer2 =
      int64_t{4096} * 18560 + 5 * 10240 + 3 * 128 + 8192 + 8192 * 4096 + 4096;
  EXPECT_EQ(parameters_of(kCodestral), 2 * 32768 * 4096 + 64 * kLayer2 + 4096);
  // 64 layers x (3 x 10,240 + 128 x 8,192) x 4 B.
  EXPECT_EQ(state_sizes(parsed(kCodestral).model, {}).recurrent,
            Bytes::of(int64_t{64} * (3 * 10240 + 128 * 8192) * 4));
}

// Keys of the two spellings: one layer of each kind.
TEST(HfRecurrentTest, MiniMaxTakesTurns) {
  constexpr const char* kList = R"({"model_type": "minimax_text_01", "hidden_size": 16,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "intermediate_size": 24, "num_local_experts": 3, "num_experts_per_tok": 2, "vocab_size": 10,
    "attn_type_list": [0, 1], "shared_intermediate_size": 0})";
  // Linear: 16 x 96 + 16 x 32 + 32 + 32 x 16 = 2,592; softmax: 2 x 16 x 32 + 2 x 16 x 16 = 1,536;
  // each 3 experts of 3 x 16 x 24, a router of 16 x 3 and two norms: 3,536.
  EXPECT_EQ(parameters_of(kList), 2 * 160 + 2592 + 1536 + 2 * 3536 + 16);
  std::string named = kList;
  const std::string_view list = R"("attn_type_list": [0, 1])";
  named.replace(named.find(list), list.size(),
                R"("layer_types": ["linear_attention", "full_attention"])");
  EXPECT_EQ(parameters_of(named), parameters_of(kList));
  // 4 heads x 8 x 8 x 4 B.
  EXPECT_EQ(state_sizes(parsed(kList).model, {}).recurrent, Bytes::of(1024));
}

// MiniMax-Text-01 and M1 at full size: 456,089,655,296, stated in a public table of models.
TEST(HfRecurrentTest, MiniMaxTextIsExact) {
  std::string kinds;
  for (int i = 0; i < 80; ++i) kinds += fmt::format("{}{}", i == 0 ? "" : ",", i % 8 == 7 ? 1 : 0);
  const std::string json = fmt::format(
      R"({{"model_type": "minimax_m1", "hidden_size": 6144, "num_hidden_layers": 80,
          "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
          "intermediate_size": 9216, "num_local_experts": 32, "num_experts_per_tok": 2,
          "vocab_size": 200064, "shared_intermediate_size": 0, "attn_type_list": [{}]}})",
      kinds);
  EXPECT_EQ(parameters_of(json), 456'089'655'296);
}

TEST(HfRecurrentTest, AFalconH1BlockIsTwoLayers) {
  constexpr const char* kJson = R"({"model_type": "falcon_h1", "hidden_size": 16,
    "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "intermediate_size": 20, "mamba_d_ssm": 24, "mamba_n_heads": 3, "mamba_d_head": 8,
    "mamba_n_groups": 1, "mamba_d_state": 4, "mamba_d_conv": 4, "vocab_size": 10})";
  const ImportedModel imported = parsed(kJson);
  EXPECT_EQ(imported.model.n_layer(), 6);
  ASSERT_EQ(imported.warnings.size(), 1U);
  EXPECT_THAT(imported.warnings[0], HasSubstr("counts as two layers"));
  // Mamba-2: 16 x (24 + 32 + 3) + 5 x 32 + 3 x 3 + 24 x 16 = 1,497; attention 2 x 16 x 16 +
  // 2 x 16 x 8 = 768; feed-forward 3 x 16 x 20 = 960; two norms 32.
  EXPECT_EQ(parameter_count(imported.model), 2 * 160 + 3 * (1497 + 768 + 960 + 32) + 16);
  // 3 blocks x (3 x 32 + 4 x 24) x 4 B, and 3 x 2 x 8 x 2 B a token.
  EXPECT_EQ(state_sizes(imported.model, {}).recurrent, Bytes::of(3 * 192 * 4));
  EXPECT_EQ(kv_bytes_per_token(imported.model, DType::kF16, DType::kF16), Bytes::of(96));
}

// Ranks that the file leaves out are multiples of 32 next to 2.5, 1.7 and 5 roots of the width.
TEST(HfRecurrentTest, RanksOfRwkv7) {
  const auto ranks_of = [](int64_t width) {
    const ModelSpec model =
        parsed(fmt::format(R"({{"model_type": "rwkv7", "hidden_size": {}}})", width)).model;
    const auto& rwkv = std::get<RwkvSpec>(model.transformer()->layers.at(1).mixer);
    return std::vector<int64_t>{rwkv.lora_decay, rwkv.lora_iclr, rwkv.lora_value, rwkv.lora_gate};
  };
  // 768: the root is 27.71: 69.3, 47.1, 138.6. 4,096: 64: 160, 108.8, 320.
  EXPECT_THAT(ranks_of(768), ::testing::ElementsAre(64, 64, 32, 128));
  EXPECT_THAT(ranks_of(4096), ::testing::ElementsAre(160, 160, 96, 320));
}

TEST(HfRecurrentTest, Rwkv6ByHand) {
  constexpr const char* kJson = R"({"model_type": "rwkv6", "hidden_size": 128,
    "num_hidden_layers": 2, "vocab_size": 10})";
  // n_ff = 128 x 3.5 = 448. Mixing: 1 + 5 vectors, 128 x 160 + 160 x 128, decay 128 +
  // 2 x 64 x 128, bonus 128, five matrices, a norm of 2 x 128. Channels: 2 vectors,
  // 2 x 128 x 448 + 128^2. Two LayerNorms.
  constexpr int64_t kLayer = 6 * 128 + 2 * 128 * 160 + 128 + 2 * 64 * 128 + 128 + 5 * 128 * 128 +
                             256 + 2 * 128 + 2 * 128 * 448 + 128 * 128 + 4 * 128;
  EXPECT_EQ(parameters_of(kJson), 2 * 1280 + 2 * kLayer + 2 * 256);
  // 2 layers x (2 x 128 + 128 x 64) x 4 B.
  EXPECT_EQ(state_sizes(parsed(kJson).model, {}).recurrent, Bytes::of(2 * (256 + 8192) * 4));
}

// A naive judge: a Nemotron-H of any pattern is the sum over its letters.
RC_GTEST_PROP(HfRecurrentLaws, ANemotronIsTheSumOfItsLetters, ()) {
  const std::string letters =
      *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(std::string("M*-"))));
  const std::string pattern = letters.substr(0, 40);
  constexpr int64_t kMamba = 16 * (24 + 40 + 3) + 5 * 40 + 9 + 24 + 24 * 16;
  constexpr int64_t kAttention = 2 * 16 * 32 + 2 * 16 * 16;
  int64_t sum = 2 * 160 + 16;
  for (const char letter : pattern) {
    sum += 16 + (letter == 'M' ? kMamba : letter == '*' ? kAttention : 2 * 16 * 20);
  }
  const std::string json = fmt::format(
      R"({{"model_type": "nemotron_h", "hidden_size": 16, "vocab_size": 10,
          "num_hidden_layers": {}, "num_attention_heads": 4, "num_key_value_heads": 2,
          "head_dim": 8, "intermediate_size": 20, "mamba_num_heads": 3, "mamba_head_dim": 8,
          "n_groups": 2, "ssm_state_size": 4, "hybrid_override_pattern": "{}"}})",
      pattern.size(), pattern);
  RC_ASSERT(parameters_of(json) == sum);
}

RC_GTEST_PROP(HfRecurrentLaws, WrongValuesAreReadOrRefused, ()) {
  testing::judge_wrong_values(kPublished[*rc::gen::inRange<size_t>(0, std::size(kPublished))].json);
}

TEST(HfRecurrentTest, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal_of(R"({"model_type": "mamba2", "hidden_size": 100, "num_heads": 3})"),
              HasSubstr("num_heads x head_dim must be expand x hidden_size"));
  EXPECT_THAT(refusal_of(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "MX",
                             "num_hidden_layers": 2})"),
              HasSubstr("knows M, *, - and E"));
  EXPECT_THAT(refusal_of(R"({"model_type": "nemotron_h"})"), HasSubstr("is missing"));
  EXPECT_THAT(refusal_of(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M",
                             "num_hidden_layers": 7})"),
              HasSubstr("is not the 1 layers of the pattern"));
  EXPECT_THAT(refusal_of(R"({"model_type": "nemotron_h", "num_hidden_layers": 1,
                             "layers_block_type": ["conv"]})"),
              HasSubstr("knows M, *, - and E"));
  EXPECT_THAT(refusal_of(R"({"model_type": "minimax_m1", "num_hidden_layers": 2,
                             "attn_type_list": [1]})"),
              HasSubstr("must hold a 0 or 1 for each layer"));
  EXPECT_THAT(refusal_of(R"({"model_type": "rwkv", "attention_hidden_size": 5})"),
              HasSubstr("must be hidden_size"));
  EXPECT_THAT(refusal_of(R"({"model_type": "rwkv7", "attn": {"layers": [1]}})"),
              HasSubstr("layers with attention are not known here"));
  EXPECT_THAT(refusal_of(R"({"model_type": "mamba", "expand": 1e30})"), HasSubstr("expand"));
}

TEST(HfRecurrentTest, WholeFilesOfPublishedModels) {
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  constexpr std::pair<const char*, int64_t> kFiles[] = {{"mamba-130m", 129'135'360},
                                                        {"jamba-v0.1", 51'570'323'328}};
  for (const auto& [name, parameters] : kFiles) {
    const Result<ImportedModel> model = read_hf_config(folder / name, {});
    ASSERT_TRUE(model.ok()) << to_string(model.diagnostics());
    EXPECT_EQ(parameter_count(model->model), parameters) << name;
  }
}

}  // namespace
}  // namespace tidemark
