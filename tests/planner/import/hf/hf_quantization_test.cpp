#include "planner/import/hf/hf_quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parsed_config.h"

namespace tidemark {
namespace {

using ::testing::HasSubstr;

std::string with(const std::string& key, const std::string& object) {
  return R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, ")" +
         key + "\": " + object + "}";
}

struct Row {
  const char* object = "";
  const char* format = "";
};

// The objects are those that each tool writes, cut to what matters.
constexpr Row kKnown[] = {
    {R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": true})", "gptq4_g128"},
    {R"({"quant_method": "gptq", "bits": 8, "group_size": -1})", "gptq8_row"},
    {R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true,
         "version": "gemm"})",
     "awq4_g128"},
    {R"({"quant_method": "bitsandbytes", "load_in_8bit": true, "load_in_4bit": false,
         "bnb_4bit_quant_type": "fp4"})",
     "bnb_int8"},
    {R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4"})",
     "bnb_nf4"},
    {R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
         "bnb_4bit_use_double_quant": true})",
     "bnb_nf4_dq"},
    {R"({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]})", "fp8_e4m3_b128"},
    {R"({"quant_method": "fp8", "activation_scheme": "static"})", "fp8_e4m3"},
    {R"({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})", "MXFP4"},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
         {"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": true}}}})",
     "fp8_e4m3"},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
         {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128,
          "symmetric": true}}}})",
     "int4_g128"},
    {R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights":
         {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": true}}}})",
     "int8"},
};

TEST(HfQuantizationTest, WhatEachToolWrites) {
  for (const Row& row : kKnown) {
    SCOPED_TRACE(row.object);
    const Quantization read =
        testing::parsed(with("quantization_config", row.object)).model.stored_as;
    ASSERT_EQ(read.kind, QuantKind::kFormat);
    EXPECT_EQ(name_of(read.format), row.format);
  }
}

TEST(HfQuantizationTest, MlxNamesNoMethod) {
  const Quantization read =
      testing::parsed(with("quantization", R"({"group_size": 64, "bits": 4})")).model.stored_as;
  EXPECT_EQ(name_of(read.format), "mlx4_g64");
}

TEST(HfQuantizationTest, LayersThatMlxPacksOtherwiseAreAWarning) {
  const ImportedModel model = testing::parsed(
      with("quantization", R"({"group_size": 64, "bits": 4, "lm_head": {"bits": 8}})"));
  EXPECT_EQ(name_of(model.model.stored_as.format), "mlx4_g64");
  EXPECT_EQ(model.warnings.size(), 1U);
  EXPECT_THAT(testing::refusal_of(
                  with("quantization", R"({"group_size": 32, "bits": 4, "mode": "mxfp4"})")),
              HasSubstr("unknown mode \"mxfp4\""));
}

TEST(HfQuantizationTest, NothingSaidIsAsStored) {
  EXPECT_EQ(testing::parsed(with("quantization_config", "null")).model.stored_as, Quantization{});
}

TEST(HfQuantizationTest, WhatIsUnknownIsNamed) {
  const auto refusal = [](const char* object) {
    return testing::refusal_of(with("quantization_config", object));
  };
  EXPECT_THAT(refusal(R"({"quant_method": "quip"})"), HasSubstr("unknown method \"quip\""));
  EXPECT_THAT(refusal(R"({"quant_method": "gptq", "bits": 5, "group_size": 128})"),
              HasSubstr("gptq5_g128"));
  EXPECT_THAT(refusal(R"({"quant_method": "fp8", "weight_block_size": [64, 64]})"),
              HasSubstr("128 x 128"));
  EXPECT_THAT(refusal(R"({"quant_method": "bitsandbytes"})"), HasSubstr("exactly one"));
  EXPECT_THAT(refusal(R"({"quant_method": "compressed-tensors", "config_groups": {"a": {},
                          "b": {}}})"),
              HasSubstr("one group"));
  EXPECT_THAT(refusal(R"({"quant_method": "awq"})"), HasSubstr("bits: is missing"));
}

}  // namespace
}  // namespace tidemark
