#include "planner/model/gguf_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>

#include "support/gguf_tensors.h"

namespace tidemark {
namespace {

using testing::gguf_model;
using testing::gguf_tensors;
using testing::GgufModel;
using testing::GgufTensor;
using ::testing::HasSubstr;
using testing::recipe_model;
using testing::recipe_tensors;
using ::testing::SizeIs;

using TypesByName = std::map<std::string, DType>;

TypesByName types_of(const RecipeModel& model, const std::vector<GgufTensor>& tensors,
                     const RecipeChoice& choice) {
  const Result<std::vector<DType>> types = choose_types(model, recipe_tensors(tensors), choice);
  EXPECT_TRUE(types.ok()) << to_string(types.diagnostics());
  TypesByName named;
  for (size_t i = 0; types && i < tensors.size(); ++i) named[tensors[i].name] = (*types)[i];
  return named;
}

TypesByName types_of(std::string_view model, const RecipeChoice& choice) {
  const GgufModel& found = gguf_model(model);
  return types_of(recipe_model(found), gguf_tensors(found), choice);
}

// The layers in which the tensor with this stem has `dtype`.
std::vector<int64_t> layers_with(const TypesByName& types, const std::string& stem, DType dtype) {
  std::vector<int64_t> layers;
  for (int64_t i = 0; types.contains("blk." + std::to_string(i) + "." + stem); ++i) {
    if (types.at("blk." + std::to_string(i) + "." + stem) == dtype) layers.push_back(i);
  }
  return layers;
}

// 32 layers: 32 / 8 = 4 and 7 x 32 / 8 = 28; between them every i with (i - 4) % 3 == 2.
TEST(GgufRecipeTest, MoreBitsByHand) {
  const TypesByName types = types_of("llama-3.1-8b", {.type = FileType::kQ4KM});
  const std::vector<int64_t> more = {0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31};
  EXPECT_EQ(layers_with(types, "ffn_down.weight", DType::kQ6K), more);
  EXPECT_EQ(layers_with(types, "attn_v.weight", DType::kQ6K), more);
  EXPECT_EQ(types.at("output.weight"), DType::kQ6K);
  EXPECT_EQ(types.at("token_embd.weight"), DType::kQ4K);  // untied: the base type
  EXPECT_EQ(types.at("blk.5.attn_q.weight"), DType::kQ4K);
  EXPECT_EQ(types.at("blk.5.ffn_up.weight"), DType::kQ4K);
  EXPECT_EQ(types.at("blk.5.attn_norm.weight"), DType::kF32);
  EXPECT_EQ(types.at("rope_freqs.weight"), DType::kF32);
}

struct TypeCase {
  FileType type = FileType::kF16;
  std::string_view model{};
  std::string tensor{};
  DType dtype = DType::kF16;
};

// Llama-3.1-8B: untied, 4 query heads a KV head, 32 layers. Phi-3: fused qkv, one query head a KV
// head. Each line is one sentence of the quantizer's rules.
TEST(GgufRecipeTest, OneTensorByHand) {
  const std::string_view llama = "llama-3.1-8b";
  const std::string_view phi = "phi-3-mini-4k";
  const TypeCase cases[] = {
      {FileType::kQ4_0, llama, "blk.0.ffn_down.weight", DType::kQ4_0},
      {FileType::kQ4_0, llama, "output.weight", DType::kQ6K},
      {FileType::kQ4_0, "llama-3.2-1b", "token_embd.weight", DType::kQ6K},  // tied
      {FileType::kQ8_0, llama, "output.weight", DType::kQ8_0},
      {FileType::kQ2K, llama, "blk.0.attn_v.weight", DType::kQ4K},  // 4 query heads a KV head
      {FileType::kQ2K, phi, "blk.0.attn_qkv.weight", DType::kQ3K},
      {FileType::kQ2K, llama, "blk.9.ffn_down.weight", DType::kQ3K},
      {FileType::kQ2K, llama, "blk.9.attn_output.weight", DType::kQ3K},
      {FileType::kQ2KS, llama, "blk.3.ffn_down.weight", DType::kQ4K},
      {FileType::kQ2KS, llama, "blk.4.ffn_down.weight", DType::kQ2K},
      {FileType::kQ3KM, llama, "blk.1.attn_v.weight", DType::kQ5K},
      {FileType::kQ3KM, llama, "blk.2.attn_v.weight", DType::kQ4K},
      {FileType::kQ3KM, llama, "blk.1.ffn_down.weight", DType::kQ5K},  // 32 / 16 = 2
      {FileType::kQ3KM, llama, "blk.2.ffn_down.weight", DType::kQ4K},
      {FileType::kQ3KL, llama, "blk.2.attn_output.weight", DType::kQ5K},
      {FileType::kQ4KS, llama, "blk.3.attn_v.weight", DType::kQ5K},
      {FileType::kQ4KS, llama, "blk.4.attn_v.weight", DType::kQ4K},
      {FileType::kIq1S, llama, "token_embd.weight", DType::kQ2K},
      {FileType::kIq1S, llama, "output.weight", DType::kQ5K},
      {FileType::kIq1M, llama, "blk.7.attn_output.weight", DType::kIq2Xxs},
      {FileType::kIq2S, llama, "token_embd.weight", DType::kIq3S},
      {FileType::kIq2S, llama, "blk.7.attn_q.weight", DType::kIq2Xs},
      {FileType::kIq2M, phi, "blk.7.attn_qkv.weight", DType::kIq3S},
      {FileType::kIq3Xxs, llama, "blk.7.attn_k.weight", DType::kIq2S},
      {FileType::kIq3Xxs, llama, "blk.3.ffn_down.weight", DType::kQ4K},
      {FileType::kIq3Xxs, llama, "blk.4.ffn_down.weight", DType::kQ3K},
      {FileType::kIq3Xs, llama, "blk.3.ffn_up.weight", DType::kIq3S},
      {FileType::kIq3Xs, llama, "blk.4.ffn_up.weight", DType::kIq3Xxs},
      {FileType::kIq3Xs, llama, "blk.28.ffn_gate.weight", DType::kIq3S},
      {FileType::kIq3M, llama, "blk.9.attn_output.weight", DType::kQ4K},
      {FileType::kIq4Xs, llama, "blk.9.attn_v.weight", DType::kQ5K},
      {FileType::kIq4Nl, phi, "blk.9.attn_qkv.weight", DType::kIq4Nl},
      {FileType::kTq1_0, llama, "token_embd.weight", DType::kQ4K},
      {FileType::kMxfp4Moe, "qwen3-30b-a3b", "blk.9.ffn_up_exps.weight", DType::kMxfp4},
      {FileType::kMxfp4Moe, "qwen3-30b-a3b", "blk.9.attn_q.weight", DType::kQ8_0},
      {FileType::kMxfp4Moe, "qwen3-30b-a3b", "blk.9.ffn_gate_inp.weight", DType::kF32},
      // Rows of 576, 896 and 48 columns, which 256 does not divide.
      {FileType::kQ4KM, "smollm2-135m", "blk.9.attn_q.weight", DType::kQ5_0},
      {FileType::kQ4KM, "smollm2-135m", "token_embd.weight", DType::kQ8_0},
      {FileType::kQ5KM, "qwen2.5-0.5b", "blk.9.attn_q.weight", DType::kQ5_1},
      {FileType::kIq2Xxs, "smollm2-135m", "blk.9.attn_q.weight", DType::kIq4Nl},
      {FileType::kQ2K, "smollm2-135m", "blk.9.ffn_gate.weight", DType::kQ4_0},
      {FileType::kQ4KM, "mamba-130m", "blk.9.ssm_dt.weight", DType::kF16},
      {FileType::kQ4KM, "mamba-130m", "blk.9.ssm_conv1d.weight", DType::kF32},
      {FileType::kQ4KM, "mamba-130m", "blk.9.ssm_a", DType::kF32},
      {FileType::kBf16, llama, "blk.9.attn_q.weight", DType::kBf16},
      {FileType::kBf16, llama, "blk.9.attn_norm.weight", DType::kF32},
  };
  for (const TypeCase& c : cases) {
    EXPECT_EQ(name_of(types_of(c.model, {.type = c.type}).at(c.tensor)), name_of(c.dtype))
        << file_type_of(c.type).name << " " << c.model << " " << c.tensor;
  }
}

TEST(GgufRecipeTest, AnImportanceMatrixChangesFourMixes) {
  const auto type = [](FileType file, const std::string& tensor, bool matrix) {
    return types_of("llama-3.1-8b", {.type = file, .importance_matrix = matrix}).at(tensor);
  };
  EXPECT_EQ(type(FileType::kQ4_0, "blk.3.ffn_down.weight", true), DType::kQ4_1);
  EXPECT_EQ(type(FileType::kQ4_0, "blk.4.ffn_down.weight", true), DType::kQ4_0);
  EXPECT_EQ(type(FileType::kQ5_0, "blk.0.ffn_down.weight", true), DType::kQ5_1);
  EXPECT_EQ(type(FileType::kIq4Xs, "blk.0.ffn_down.weight", false), DType::kQ5K);
  EXPECT_EQ(type(FileType::kIq4Xs, "blk.0.ffn_down.weight", true), DType::kIq4Xs);
  EXPECT_EQ(type(FileType::kIq3Xxs, "blk.0.ffn_down.weight", true), DType::kIq3Xxs);
  const TypesByName phi =
      types_of("phi-3-mini-4k", {.type = FileType::kIq3Xxs, .importance_matrix = true});
  EXPECT_EQ(phi.at("blk.0.attn_qkv.weight"), DType::kIq3Xxs);
}

// A Mixtral-like model: 8 experts lift attention, and the name's layer counts for ffn_down.
TEST(GgufRecipeTest, EightExpertsByHand) {
  const RecipeModel model{"llama", 32, 32, 8, 8};
  const std::vector<GgufTensor> tensors = {
      {"output.weight", 4096, 32000},
      {"blk.9.attn_k.weight", 4096, 1024},
      {"blk.9.attn_v.weight", 4096, 1024},
      {"blk.9.attn_output.weight", 4096, 4096},
      {"blk.9.ffn_down_exps.weight", 14336, 4096, 8},
      {"blk.10.ffn_down_exps.weight", 14336, 4096, 8},
  };
  const TypesByName types = types_of(model, tensors, {.type = FileType::kQ4KM});
  EXPECT_EQ(types.at("blk.9.attn_k.weight"), DType::kQ8_0);
  EXPECT_EQ(types.at("blk.9.attn_v.weight"), DType::kQ8_0);
  EXPECT_EQ(types.at("blk.9.attn_output.weight"), DType::kQ5K);
  EXPECT_EQ(types.at("blk.9.ffn_down_exps.weight"), DType::kQ6K);  // (9 - 4) % 3 == 2
  EXPECT_EQ(types.at("blk.10.ffn_down_exps.weight"), DType::kQ4K);
  const TypesByName low = types_of(model, tensors, {.type = FileType::kIq2Xxs});
  EXPECT_EQ(low.at("blk.9.attn_k.weight"), DType::kQ4K);
  EXPECT_EQ(low.at("blk.9.attn_output.weight"), DType::kQ5K);
  EXPECT_EQ(low.at("blk.9.ffn_down_exps.weight"), DType::kQ2K);  // the first of 32 / 8 seen
}

TEST(GgufRecipeTest, SeventyBillionAndFalconByHand) {
  const std::vector<GgufTensor> tensors = {{"output.weight", 8192, 1000},
                                           {"blk.20.attn_output.weight", 8192, 8192},
                                           {"blk.20.attn_v.weight", 8192, 1024},
                                           {"blk.20.ffn_down.weight", 28672, 8192}};
  const auto type = [&](const RecipeModel& model, FileType file, const std::string& tensor) {
    return types_of(model, tensors, {.type = file}).at(tensor);
  };
  // One value tensor: n = 1, so i = 0 is at or past 7 x 1 / 8 = 0 and Q4_K_M would give Q6_K.
  EXPECT_EQ(type({"llama", 80, 64, 8, 0}, FileType::kQ3KS, "blk.20.attn_v.weight"), DType::kQ5K);
  EXPECT_EQ(type({"llama", 80, 64, 64, 0}, FileType::kQ3KS, "blk.20.attn_v.weight"), DType::kQ3K);
  EXPECT_EQ(type({"llama", 79, 64, 8, 0}, FileType::kQ3KS, "blk.20.attn_v.weight"), DType::kQ3K);
  EXPECT_EQ(type({"qwen2", 80, 64, 8, 0}, FileType::kQ2K, "blk.20.attn_v.weight"), DType::kQ5K);
  const RecipeModel falcon{"falcon", 32, 64, 8, 0};
  EXPECT_EQ(type(falcon, FileType::kQ4KM, "output.weight"), DType::kQ8_0);
  EXPECT_EQ(type(falcon, FileType::kQ4KM, "blk.20.ffn_down.weight"), DType::kQ6K);  // 0 < 32 / 16
  EXPECT_EQ(type(falcon, FileType::kQ3KL, "blk.20.ffn_down.weight"), DType::kQ4K);
  EXPECT_EQ(type(falcon, FileType::kQ3KL, "blk.20.attn_output.weight"), DType::kQ4K);
  EXPECT_EQ(type(falcon, FileType::kQ3KM, "blk.20.attn_output.weight"), DType::kQ3K);
  EXPECT_EQ(type(falcon, FileType::kQ4KS, "blk.20.ffn_down.weight"), DType::kQ4K);
}

TEST(GgufRecipeTest, PureAndOverridesReplaceTheMix) {
  const TypesByName pure = types_of("llama-3.1-8b", {.type = FileType::kQ4KM, .pure = true});
  EXPECT_EQ(pure.at("output.weight"), DType::kQ4K);
  EXPECT_EQ(pure.at("blk.0.ffn_down.weight"), DType::kQ4K);
  EXPECT_EQ(pure.at("blk.0.ffn_norm.weight"), DType::kF32);

  RecipeChoice choice{.type = FileType::kQ4KM};
  choice.overrides.push_back({*TensorPattern::parse("blk\\.[0-3]\\.attn_v"), DType::kQ8_0});
  choice.overrides.push_back({*TensorPattern::parse("attn_v|norm"), DType::kF16});
  const TypesByName types = types_of("llama-3.1-8b", choice);
  EXPECT_EQ(types.at("blk.3.attn_v.weight"), DType::kQ8_0);  // the first that fits
  EXPECT_EQ(types.at("blk.4.attn_v.weight"), DType::kF16);
  EXPECT_EQ(types.at("blk.4.attn_norm.weight"), DType::kF32);  // never quantized
  EXPECT_EQ(types.at("blk.4.ffn_down.weight"), DType::kQ4K);
}

TEST(GgufRecipeTest, RefusalsNameTheTensorAndTheReason) {
  const GgufModel& mamba = gguf_model("mamba-130m");
  const std::vector<GgufTensor> tensors = gguf_tensors(mamba);
  for (const FileType type :
       {FileType::kQ4_0, FileType::kQ5_0, FileType::kQ8_0, FileType::kIq4Nl}) {
    const auto refused = choose_types(recipe_model(mamba), recipe_tensors(tensors), {.type = type});
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.diagnostics(), SizeIs(9));  // ssm_dt of 24 layers: 48 columns
    EXPECT_EQ(refused.diagnostics().back().message, "and 16 more");
    EXPECT_EQ(refused.diagnostics().front().path, "blk.0.ssm_dt.weight");
    EXPECT_THAT(refused.diagnostics().front().message, HasSubstr("48 columns do not fill"));
  }
  const RecipeTensor nameless[] = {{"ffn_down.weight", 256, 256, 1},
                                   {"blk.9.ffn_up.weight", 256, 256, 1}};
  const auto refused = choose_types({"llama", 4, 8, 8, 2}, nameless, {.type = FileType::kQ4KM});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.diagnostics(), SizeIs(2));
  EXPECT_THAT(refused.diagnostics().front().message, HasSubstr("no layer below 4"));
  EXPECT_TRUE(choose_types({"llama", 4, 8, 8, 0}, nameless, {.type = FileType::kQ4KM}).ok());
}

TEST(GgufRecipeTest, WhatWantsAnImportanceMatrix) {
  const std::string_view name = "blk.0.attn_q.weight";
  EXPECT_TRUE(wants_importance_matrix(name, DType::kIq2Xxs, FileType::kIq2Xxs));
  EXPECT_TRUE(wants_importance_matrix(name, DType::kQ2K, FileType::kQ2KS));
  EXPECT_FALSE(wants_importance_matrix(name, DType::kQ2K, FileType::kQ2K));
  EXPECT_FALSE(wants_importance_matrix(name, DType::kIq3S, FileType::kIq3S));
  EXPECT_FALSE(wants_importance_matrix("output.weight", DType::kIq2S, FileType::kIq2S));
}

TEST(GgufRecipeTest, FileTypesByNameAndId) {
  for (const FileTypeInfo& info : file_types()) {
    EXPECT_EQ(parse_file_type(info.name), info.type);
    EXPECT_EQ(file_type_of_id(info.id), info.type);
    EXPECT_EQ(file_type_of(info.type).name, info.name);
  }
  EXPECT_EQ(file_types().size(), 35u);
  EXPECT_EQ(parse_file_type("q4_k"), FileType::kQ4KM);
  EXPECT_EQ(parse_file_type("Q5_k"), FileType::kQ5KM);
  EXPECT_EQ(parse_file_type("int4"), std::nullopt);
  EXPECT_EQ(file_type_of_id(4), std::nullopt);  // retired
  EXPECT_EQ(file_type_of_id(15), FileType::kQ4KM);
}

// Displayed only, but shown as a fact about a published model.
TEST(GgufRecipeTest, TypicalBitsAreThoseOfLlama) {
  const std::vector<GgufTensor> tensors = gguf_tensors(gguf_model("llama-3.1-8b"));
  for (const FileTypeInfo& info : file_types()) {
    const TypesByName types = types_of("llama-3.1-8b", {.type = info.type});
    int64_t bytes = 0;
    int64_t elements = 0;
    for (const GgufTensor& tensor : tensors) {
      bytes += matrix_bytes(types.at(tensor.name), tensor.columns, tensor.rows).count();
      elements += tensor.columns * tensor.rows;
    }
    EXPECT_EQ(info.centibits, (bytes * 800 + elements / 2) / elements) << info.name;
  }
}

TEST(GgufRecipeTest, TheOrderOfTheListDoesNotMatter) {
  EXPECT_TRUE(rc::check("choose_types follows the tensors, not the list", [] {
    std::vector<GgufTensor> tensors = gguf_tensors(gguf_model("llama-3.2-1b"));
    const FileTypeInfo info =
        *rc::gen::elementOf(std::vector<FileTypeInfo>(file_types().begin(), file_types().end()));
    const RecipeModel model = recipe_model(gguf_model("llama-3.2-1b"));
    const TypesByName sorted = types_of(model, tensors, {.type = info.type});
    for (size_t i = tensors.size() - 1; i > 0; --i) {
      std::swap(tensors[i], tensors[*rc::gen::inRange<size_t>(0, i + 1)]);
    }
    RC_ASSERT(types_of(model, tensors, {.type = info.type}) == sorted);
  }));
}

// A type that does not divide its row would be a file nobody can read.
TEST(GgufRecipeTest, EveryTypeDividesItsRow) {
  EXPECT_TRUE(rc::check("whole blocks", [] {
    const FileTypeInfo info =
        *rc::gen::elementOf(std::vector<FileTypeInfo>(file_types().begin(), file_types().end()));
    const int64_t columns = *rc::gen::inRange<int64_t>(1, 2000);
    const RecipeTensor tensors[] = {{"token_embd.weight", columns, 10, 1},
                                    {"blk.0.attn_v.weight", columns, 8, 1},
                                    {"blk.0.ffn_down.weight", columns, 8, 4},
                                    {"blk.1.ffn_down.weight", columns, 8, 4}};
    const RecipeModel model{"llama", *rc::gen::inRange<int64_t>(2, 100), 8,
                            *rc::gen::inRange<int64_t>(0, 9), *rc::gen::inRange<int64_t>(0, 10)};
    const auto types = choose_types(model, tensors, {.type = info.type});
    if (!types) return;
    for (size_t i = 0; i < types->size(); ++i) RC_ASSERT(divides((*types)[i], columns));
  }));
}

}  // namespace
}  // namespace tidemark
