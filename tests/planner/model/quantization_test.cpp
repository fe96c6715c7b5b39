#include "planner/model/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/gguf_tensors.h"

namespace tidemark {
namespace {

using ::testing::Contains;
using testing::gguf_model;
using testing::gguf_tensors;
using testing::GgufTensor;
using ::testing::Not;
using testing::recipe_model;
using testing::recipe_tensors;
using ::testing::SizeIs;

std::map<std::string, DType> types_of(std::string_view model, const Quantization& quantization) {
  const std::vector<GgufTensor> tensors = gguf_tensors(gguf_model(model));
  const std::vector<DType> stored(tensors.size(), DType::kBf16);
  const auto types =
      tensor_types(recipe_model(gguf_model(model)), recipe_tensors(tensors), stored, quantization);
  EXPECT_TRUE(types.ok()) << to_string(types.diagnostics());
  std::map<std::string, DType> named;
  for (size_t i = 0; types && i < tensors.size(); ++i) named[tensors[i].name] = (*types)[i];
  return named;
}

Quantization named(std::string_view name) { return parse_quantization(name).value(); }

TEST(QuantizationTest, NamesByHand) {
  EXPECT_EQ(named("as-stored").kind, QuantKind::kAsStored);
  EXPECT_EQ(named("q4_k_m").file_type, FileType::kQ4KM);
  EXPECT_EQ(named("Q4_K").file_type, FileType::kQ4KM);  // a file type's short name before a format
  for (const std::string_view both : {"Q4_0", "q8_0", "Q6_K", "f16", "fp16", "BF16", "float32"}) {
    EXPECT_EQ(named(both).kind, QuantKind::kFileType) << both;
  }
  EXPECT_EQ(named("fp16").file_type, FileType::kF16);
  EXPECT_EQ(named("GPTQ4_G128").format, DType::kGptq4G128);
  EXPECT_EQ(named("int8").format, DType::kInt8);
  EXPECT_EQ(named("mxfp4").kind, QuantKind::kFormat);
  EXPECT_EQ(name_of(named("q4_K")), "Q4_K_M");
  EXPECT_EQ(name_of(named("INT4")), "int4");
  EXPECT_EQ(name_of(Quantization{}), "as-stored");
  for (const std::string_view none : {"", "int5", "i32", "f64", "Q8_K", "Q8_1", "q4_k_x"}) {
    EXPECT_EQ(parse_quantization(none), std::nullopt) << none;
  }
}

TEST(QuantizationTest, EveryListedNameIsReadBack) {
  for (const QuantizationInfo& info : quantizations()) {
    const std::optional<Quantization> parsed = parse_quantization(info.name);
    ASSERT_TRUE(parsed) << info.name;
    EXPECT_EQ(parsed->kind, info.kind) << info.name;
    EXPECT_EQ(name_of(*parsed), info.name);
    EXPECT_FALSE(info.summary.empty());
    EXPECT_EQ(info.bits_per_weight > 0, info.kind != QuantKind::kAsStored) << info.name;
  }
  EXPECT_THAT(quantization_names(), Contains("Q4_K_M"));
  EXPECT_THAT(quantization_names(), Contains("mlx4_g64"));
  EXPECT_THAT(quantization_names(), Not(Contains("i32")));
}

struct FormatCase {
  std::string_view format{};
  DType embedding = DType::kF16;
  DType head = DType::kF16;
  DType query = DType::kF16;
  DType norm = DType::kF32;
};

// Llama-3.1-8B, whose head is a matrix of its own.
TEST(QuantizationTest, WhatEachToolLeavesAlone) {
  const FormatCase cases[] = {
      {"int4", DType::kInt4, DType::kInt4, DType::kInt4, DType::kF32},
      {"mxfp4", DType::kBf16, DType::kBf16, DType::kMxfp4, DType::kBf16},
      {"fp8_e4m3_b128", DType::kBf16, DType::kBf16, DType::kFp8E4m3B128, DType::kBf16},
      {"int8_g64", DType::kInt8G64, DType::kInt8G64, DType::kInt8G64, DType::kF32},
      {"gptq4_g128", DType::kF16, DType::kF16, DType::kGptq4G128, DType::kF16},
      {"awq4_g128", DType::kF16, DType::kF16, DType::kAwq4G128, DType::kF16},
      {"bnb_nf4_dq", DType::kF16, DType::kF16, DType::kBnbNf4Dq, DType::kF16},
      {"q4f16_1", DType::kMlcQ4f16_1, DType::kMlcQ4f16_1, DType::kMlcQ4f16_1, DType::kF16},
      {"mnn_int4_b64", DType::kBf16, DType::kMnnInt4B64, DType::kMnnInt4B64, DType::kF32},
      {"tflite_int8", DType::kTfliteInt8, DType::kTfliteInt8, DType::kTfliteInt8, DType::kF32},
      {"i2_s", DType::kF16, DType::kF16, DType::kBitnetI2S, DType::kF32},
      {"mlx4_g64", DType::kMlx4G64, DType::kMlx4G64, DType::kMlx4G64, DType::kF16},
  };
  for (const FormatCase& c : cases) {
    const auto types = types_of("llama-3.1-8b", named(c.format));
    EXPECT_EQ(types.at("token_embd.weight"), c.embedding) << c.format;
    EXPECT_EQ(types.at("output.weight"), c.head) << c.format;
    EXPECT_EQ(types.at("blk.0.attn_q.weight"), c.query) << c.format;
    EXPECT_EQ(types.at("blk.0.attn_norm.weight"), c.norm) << c.format;
  }
}

TEST(QuantizationTest, ATiedMatrixFollowsTheHead) {
  EXPECT_EQ(types_of("llama-3.2-1b", named("mnn_int4_b64")).at("token_embd.weight"),
            DType::kMnnInt4B64);
  EXPECT_EQ(types_of("llama-3.2-1b", named("gptq4_g128")).at("token_embd.weight"), DType::kF16);
}

// SmolLM2-135M: 576 columns; MLX's and AWQ's group of 128 does not divide them, 64 does.
TEST(QuantizationTest, ShapesThatDoNotFit) {
  const auto query = [](std::string_view format) {
    return types_of("smollm2-135m", named(format)).at("blk.0.attn_q.weight");
  };
  EXPECT_EQ(query("mlx4_g128"), DType::kF16);
  EXPECT_EQ(query("mlx4_g64"), DType::kMlx4G64);
  EXPECT_EQ(query("awq4_g128"), DType::kF16);
  EXPECT_EQ(query("gptq4_g128"), DType::kGptq4G128);  // a started group
  EXPECT_EQ(query("nvfp4"), DType::kNvfp4);
  EXPECT_EQ(types_of("mamba-130m", named("mxfp4")).at("blk.0.ssm_dt.weight"), DType::kBf16);
}

TEST(QuantizationTest, AsStoredAndOverrides) {
  Quantization stored;
  EXPECT_EQ(types_of("llama-3.1-8b", stored).at("blk.0.attn_norm.weight"), DType::kBf16);
  stored.overrides = parse_overrides("attn_v=Q6_K,ffn_(up|gate)=q4_0").value();
  const auto types = types_of("llama-3.1-8b", stored);
  EXPECT_EQ(types.at("blk.7.attn_v.weight"), DType::kQ6K);
  EXPECT_EQ(types.at("blk.7.ffn_gate.weight"), DType::kQ4_0);
  EXPECT_EQ(types.at("blk.7.attn_q.weight"), DType::kBf16);

  Quantization pure = named("Q4_K_M");
  pure.pure = true;
  EXPECT_EQ(types_of("llama-3.1-8b", pure).at("output.weight"), DType::kQ4K);
  EXPECT_EQ(types_of("llama-3.1-8b", named("Q4_K_M")).at("output.weight"), DType::kQ6K);
}

TEST(QuantizationTest, OverridesThatAreNoneAreRefusedAllAtOnce) {
  const auto refused = parse_overrides("attn_v,=Q4_0,attn_q=int4,a{2}=f16,attn_k=Q8_0");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.diagnostics(), SizeIs(4));
  EXPECT_EQ(refused.diagnostics()[0].message, "is not PATTERN=TYPE");
  EXPECT_EQ(refused.diagnostics()[2].message, "\"int4\" is not a GGML tensor type");
  EXPECT_FALSE(parse_overrides("").ok());
  EXPECT_THAT(parse_overrides("attn_k=Q8_0").value(), SizeIs(1));
}

}  // namespace
}  // namespace tidemark
