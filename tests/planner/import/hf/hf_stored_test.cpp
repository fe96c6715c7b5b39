#include "planner/import/hf/hf_stored.h"

#include <unistd.h>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "planner/import/hf/hf_config.h"
#include "planner/model/weights.h"

namespace tidemark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ImportedModel compared(const std::string& json, std::vector<std::string> tensors,
                       std::optional<int64_t> stated) {
  Result<HfImport> import = import_hf_config("config.json", json, {});
  EXPECT_TRUE(import.ok()) << to_string(import.diagnostics());
  if (!import) return {};
  HfImport done = std::move(import).value();
  CheckpointNames names{.tensors = std::move(tensors)};
  if (stated) names.stated = Bytes::of(*stated);
  const Diagnostics problems = compare_with_checkpoint(done, names);
  EXPECT_THAT(problems, IsEmpty()) << to_string(problems);
  return done.imported;
}

StoredDifference difference(std::string what, int64_t elements, int64_t bytes) {
  return {.what = std::move(what), .elements = elements, .bytes = Bytes::of(bytes)};
}

class EmbeddingModelTest : public ::testing::Test {
 protected:
  // 10 x 8 embedding, one layer of 4 x 8 x 8 + 3 x 8 x 16 + 16, final norm 8; the head is 80 more.
  static constexpr int64_t kBackbone = 80 + 256 + 384 + 16 + 8;

  ImportedModel read(const std::string& folder, bool with_modules) {
    const std::filesystem::path path = root_ / folder;
    std::filesystem::create_directories(path);
    std::ofstream(path / "config.json") << R"({"model_type": "llama", "hidden_size": 8,
      "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 10})";
    if (with_modules) std::ofstream(path / "modules.json") << "[]";
    const Result<ImportedModel> model = read_hf_config(path, {});
    EXPECT_TRUE(model.ok()) << to_string(model.diagnostics());
    return model ? *model : ImportedModel{};
  }

  void TearDown() override { std::filesystem::remove_all(root_); }

  std::filesystem::path root_ =
      std::filesystem::path(::testing::TempDir()) / ("embedding" + std::to_string(::getpid()));
};

TEST_F(EmbeddingModelTest, HasNoHeadAndSaysWhy) {
  EXPECT_EQ(parameter_count(read("some-llama", false).model), kBackbone + 80);
  const ImportedModel named = read("Some-Embedding-8B", false);
  EXPECT_EQ(parameter_count(named.model), kBackbone);
  EXPECT_THAT(named.warnings, ElementsAre(HasSubstr("named after an embedding model")));
  EXPECT_EQ(named.model.name, "Some-Embedding-8B");
  EXPECT_EQ(parameter_count(read("some-e5", true).model), kBackbone);
}

constexpr const char* kFalcon = R"({"model_type": "falcon", "torch_dtype": "bfloat16",
   "hidden_size": 14848, "new_decoder_architecture": true, "num_attention_heads": 232,
   "num_kv_heads": 8, "num_hidden_layers": 80, "vocab_size": 65024})";

// The first example of the header.
TEST(HfStoredTest, ATiedHeadStoredAgain) {
  const ImportedModel model =
      compared(kFalcon, {"lm_head.weight", "transformer.word_embeddings.weight"}, 359'045'130'240);
  EXPECT_EQ(model.stored->elements, 179'522'565'120);
  EXPECT_EQ(model.stored->bytes, Bytes::of(359'045'130'240));
  EXPECT_THAT(model.stored->differences, ElementsAre(difference("the head, tied and stored again",
                                                                965'476'352, 2 * 965'476'352)));
  EXPECT_THAT(model.warnings, IsEmpty());
}

// The second one.
TEST(HfStoredTest, RotaryBuffers) {
  std::vector<std::string> names = {"lm_head.weight"};
  for (int i = 0; i < 32; ++i) {
    names.push_back(fmt::format("model.layers.{}.self_attn.rotary_emb.inv_freq", i));
  }
  const ImportedModel model = compared(R"({"model_type": "llama", "torch_dtype": "float32",
     "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
     "num_hidden_layers": 32, "vocab_size": 32000})",
                                       names, 26'953'670'656);
  EXPECT_EQ(model.stored->elements, 6'738'417'664);
  EXPECT_EQ(model.stored->stated_bytes, model.stored->bytes);
}

// Frequencies that stayed in f32 beside 16-bit weights: 2 x 6,738,415,616 + 4 x 2,048.
TEST(HfStoredTest, BuffersInATypeOfTheirOwn) {
  std::vector<std::string> names = {"lm_head.weight"};
  for (int i = 0; i < 32; ++i) names.push_back(fmt::format("layers.{}.rotary_emb.inv_freq", i));
  const ImportedModel model = compared(R"({"model_type": "llama", "torch_dtype": "float16",
     "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
     "num_hidden_layers": 32, "vocab_size": 32000})",
                                       names, 13'476'839'424);
  EXPECT_EQ(model.stored->bytes, Bytes::of(13'476'839'424));
  EXPECT_THAT(model.stored->differences, ElementsAre(difference("rotary frequencies", 2048, 8192)));
}

// gpt2: 12 masks of 1,024 x 1,024 beside 124,439,808 parameters, all f32: 137,022,720 elements.
TEST(HfStoredTest, CausalMasksOfGpt2) {
  std::vector<std::string> names = {"wte.weight"};
  for (int i = 0; i < 12; ++i) names.push_back(fmt::format("h.{}.attn.bias", i));
  for (int i = 0; i < 12; ++i) names.push_back(fmt::format("h.{}.attn.c_attn.bias", i));
  const ImportedModel model = compared(R"({"model_type": "gpt2", "torch_dtype": "float32",
     "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "vocab_size": 50257})",
                                       names, std::nullopt);
  EXPECT_EQ(model.stored->elements, 137'022'720);
}

// pythia-1b: 16 masks of 2,048 x 2,048 and 32 frequencies each: 1,078,891,008 elements, the masks a
// byte each.
TEST(HfStoredTest, MasksAndFrequenciesOfPythia) {
  std::vector<std::string> names = {"embed_out.weight"};
  for (int i = 0; i < 16; ++i) {
    names.push_back(fmt::format("gpt_neox.layers.{}.attention.bias", i));
    names.push_back(fmt::format("gpt_neox.layers.{}.attention.rotary_emb.inv_freq", i));
  }
  const ImportedModel model = compared(R"({"model_type": "gpt_neox", "torch_dtype": "float16",
     "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 8,
     "num_hidden_layers": 16, "max_position_embeddings": 2048, "rotary_pct": 0.25,
     "vocab_size": 50304})",
                                       names, 2 * (1'011'781'632 + 512) + 67'108'864);
  EXPECT_EQ(model.stored->elements, 1'078'891'008);
  EXPECT_EQ(model.stored->stated_bytes, model.stored->bytes);
}

// Qwen3-Embedding-8B: its class has a head, its files do not. 7,567,295,488 elements.
TEST(HfStoredTest, AHeadThatTheFilesLack) {
  const ImportedModel model = compared(R"({"model_type": "qwen3", "torch_dtype": "bfloat16",
     "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288, "num_attention_heads": 32,
     "num_hidden_layers": 36, "num_key_value_heads": 8, "tie_word_embeddings": false,
     "vocab_size": 151665})",
                                       {"embed_tokens.weight"}, std::nullopt);
  EXPECT_EQ(model.stored->elements, 7'567'295'488);
  EXPECT_EQ(model.stored->bytes, Bytes::of(2 * 7'567'295'488));
}

// DeepSeek-R1: 671,026,419,200 + a draft layer of 13,463,426,304 + 41,540,496 block scales.
TEST(HfStoredTest, DraftLayerAndBlockScalesOfDeepSeek) {
  const ImportedModel model =
      compared(R"({"model_type": "deepseek_v3",
     "torch_dtype": "bfloat16", "first_k_dense_replace": 3, "hidden_size": 7168,
     "intermediate_size": 18432, "kv_lora_rank": 512, "moe_intermediate_size": 2048,
     "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
     "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_nextn_predict_layers": 1,
     "q_lora_rank": 1536, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
     "quantization_config": {"quant_method": "fp8", "fmt": "e4m3",
       "weight_block_size": [128, 128]}, "vocab_size": 129280})",
               {"lm_head.weight", "model.layers.61.enorm.weight"}, std::nullopt);
  EXPECT_EQ(model.stored->elements, 684'531'386'000);
}

// A file that does not say its type, and weights that do: Bloom's index is 2 bytes a value.
TEST(HfStoredTest, TheWeightsTellATypeThatTheConfigLeavesOut) {
  const ImportedModel model = compared(R"({"model_type": "bloom", "n_embed": 14336,
     "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880})",
                                       {"word_embeddings.weight"}, 352'494'542'848);
  EXPECT_EQ(model.model.dtype, DType::kF16);
  EXPECT_EQ(model.stored->stated_bytes, model.stored->bytes);
  EXPECT_THAT(model.warnings, IsEmpty());
}

TEST(HfStoredTest, ADisagreementIsAWarningWithBothNumbers) {
  const ImportedModel model = compared(kFalcon, {"transformer.word_embeddings.weight"}, 1'000);
  ASSERT_EQ(model.warnings.size(), 1U);
  EXPECT_THAT(model.warnings[0], HasSubstr("state 1000 bytes; its sizes make 357114177536"));
  EXPECT_EQ(model.stored->stated_bytes, Bytes::of(1'000));
}

}  // namespace
}  // namespace tidemark
