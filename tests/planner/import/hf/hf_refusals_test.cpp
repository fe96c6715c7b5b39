// Files that are wrong, or that nobody here knows enough of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "parsed_config.h"
#include "planner/import/hf/families.h"

namespace tidemark {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::parsed;
using testing::refusal_of;
using ::testing::SizeIs;

const std::string kSmall = R"({
  "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
  "torch_dtype": "float16", "tie_word_embeddings": false, "quantization_config": null
})";

// kSmall with the first `from` replaced.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(HfRefusalsTest, TheSmallFileIsGood) { EXPECT_EQ(refusal_of(kSmall), ""); }

TEST(HfRefusalsTest, NumbersAreChecked) {
  EXPECT_THAT(refusal_of(with("64", "0")), HasSubstr("hidden_size: must be an integer from 1"));
  EXPECT_THAT(refusal_of(with("64", "-64")), HasSubstr("hidden_size"));
  EXPECT_THAT(refusal_of(with("64", "16777217")), HasSubstr("to 16777216"));
  EXPECT_THAT(refusal_of(with("64", "64.0")), HasSubstr("must be an integer"));
  EXPECT_THAT(refusal_of(with("64", "\"64\"")), HasSubstr("must be an integer"));
  EXPECT_THAT(refusal_of(with("64", "99999999999999999999")), HasSubstr("must be an integer"));
  EXPECT_THAT(refusal_of(with("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1001")),
              HasSubstr("from 1 to 1000"));
  EXPECT_THAT(refusal_of(with("100", "67108865")), HasSubstr("vocab_size"));
  EXPECT_THAT(refusal_of(with("\"tie_word_embeddings\": false", "\"tie_word_embeddings\": 0")),
              HasSubstr("true or false"));
}

TEST(HfRefusalsTest, SizesMustFitEachOther) {
  EXPECT_THAT(refusal_of(with("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3")),
              HasSubstr("num_key_value_heads: 3 does not divide num_attention_heads 4"));
  EXPECT_THAT(refusal_of(with("64", "66")), HasSubstr("4 does not divide hidden_size 66"));
}

TEST(HfRefusalsTest, AProblemStandsAtItsLine) {
  EXPECT_THAT(refusal_of(with("64", "0")), HasSubstr("config.json:2:"));
}

TEST(HfRefusalsTest, AllProblemsAtOnce) {
  std::string text = with("64", "0");
  text.replace(text.find("100"), 3, "0");
  EXPECT_THAT(refusal_of(text), AllOf(HasSubstr("hidden_size"), HasSubstr("vocab_size")));
}

TEST(HfRefusalsTest, AKeyTwice) {
  EXPECT_THAT(refusal_of(with("\"vocab_size\": 100", "\"hidden_size\": 32")), HasSubstr("twice"));
}

TEST(HfRefusalsTest, AnUnknownModelIsNamed) {
  const std::string text = with("llama", "grue");
  EXPECT_THAT(refusal_of(text),
              AllOf(HasSubstr("model_type: unknown model \"grue\""), HasSubstr("--assume-dense")));
  const Result<ImportedModel> dense = parse_hf_config("config.json", text, {.assume_dense = true});
  ASSERT_TRUE(dense.ok());
  EXPECT_EQ(parameter_count(dense->model), testing::parameters_of(kSmall));
  EXPECT_THAT(dense->warnings, SizeIs(1));
  EXPECT_THAT(refusal_of("{}"), HasSubstr("model_type: is missing, and so is architectures"));
}

TEST(HfRefusalsTest, AKeyThatChangesSizesAndIsUnknownHereIsNamed) {
  const std::string text = with("\"vocab_size\"", "\"n_routed_experts\": 8, \"vocab_size\"");
  EXPECT_THAT(refusal_of(text), HasSubstr("n_routed_experts: changes sizes in some classes"));
  const Result<ImportedModel> dense = parse_hf_config("config.json", text, {.assume_dense = true});
  ASSERT_TRUE(dense.ok());
  ASSERT_THAT(dense->warnings, SizeIs(1));
  EXPECT_THAT(dense->warnings[0], HasSubstr("n_routed_experts"));
  // Off is as good as not there.
  EXPECT_EQ(refusal_of(with("\"vocab_size\"", "\"n_routed_experts\": null, \"vocab_size\"")), "");
}

TEST(HfRefusalsTest, LayerTypesAreChecked) {
  const std::string types = with("\"vocab_size\"", "\"sliding_window\": 4, \"vocab_size\"");
  std::string mistral = types;
  mistral.replace(mistral.find("llama"), 5, "mistral");
  EXPECT_EQ(refusal_of(mistral), "");
  std::string few = mistral;
  few.replace(few.find("\"vocab_size\""), 12, R"("layer_types": ["full_attention"], "vocab_size")");
  EXPECT_THAT(refusal_of(few), HasSubstr("has 1 values for 2 layers"));
  std::string odd = mistral;
  odd.replace(odd.find("\"vocab_size\""), 12,
              R"("layer_types": ["full_attention", "wavy"], "vocab_size")");
  EXPECT_THAT(refusal_of(odd), HasSubstr("\"wavy\" is unknown here"));
}

TEST(HfRefusalsTest, SizesThatLeaveSixtyThreeBits) {
  // 1,000 layers of 4,096 experts of 3 x 2^24 x 2^24 values: 2^60 x 3 a layer.
  EXPECT_THAT(refusal_of(R"({"model_type": "mixtral", "hidden_size": 16777216,
     "intermediate_size": 16777216, "num_hidden_layers": 1000, "num_attention_heads": 4,
     "num_key_value_heads": 4, "num_local_experts": 4096, "vocab_size": 100})"),
              HasSubstr("more than 63 bits"));
}

TEST(HfRefusalsTest, AMissingFile) {
  const Result<ImportedModel> model = read_hf_config("/nonexistent/config.json", {});
  EXPECT_FALSE(model.ok());
}

// Whatever byte is changed, taken out or put in, the answer is a model or diagnostics.
RC_GTEST_PROP(HfRefusalsTest, ABrokenFileIsRefusedOrRead, ()) {
  std::string text = kSmall;
  const int n = *rc::gen::inRange(1, 4);
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(text.size())));
    const char byte = *rc::gen::elementOf(std::string("0123456789{}[]\",:.-eEntf \\x"));
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.erase(at, 1);
        break;
      default:
        text.insert(at, 1, byte);
    }
  }
  const Result<ImportedModel> model = parse_hf_config("config.json", text, {});
  if (model.ok()) RC_ASSERT(parameter_count(model->model) > 0);
  if (!model.ok()) RC_ASSERT(has_errors(model.diagnostics()));
}

constexpr const char* kKeys[] = {"hidden_size",
                                 "intermediate_size",
                                 "num_hidden_layers",
                                 "num_layers",
                                 "d_model",
                                 "num_attention_heads",
                                 "num_key_value_heads",
                                 "head_dim",
                                 "vocab_size",
                                 "padded_vocab_size",
                                 "num_experts",
                                 "n_routed_experts",
                                 "n_shared_experts",
                                 "moe_intermediate_size",
                                 "kv_lora_rank",
                                 "qk_rope_head_dim",
                                 "v_head_dim",
                                 "first_k_dense_replace",
                                 "num_nextn_predict_layers",
                                 "mtp_num_hidden_layers",
                                 "sliding_window",
                                 "num_kv_shared_layers",
                                 "altup_num_inputs",
                                 "laurel_rank",
                                 "hidden_size_per_layer_input",
                                 "mamba_n_heads",
                                 "mamba_expand",
                                 "mamba_n_groups",
                                 "block_ff_dim",
                                 "block_multiple_of",
                                 "kv_channels",
                                 "multi_query_group_num",
                                 "max_position_embeddings",
                                 "moe_layer_interval",
                                 "interleave_moe_layer_step"};

// Every family, whatever the numbers under whatever keys, answers with a model or diagnostics.
RC_GTEST_PROP(HfRefusalsTest, AnySizesAreRefusedOrCounted, ()) {
  const std::vector<std::string_view> types = hf_model_types();
  const auto index = *rc::gen::inRange<size_t>(0, types.size());
  std::string text = R"({"model_type": ")" + std::string(types[index]) + '"';
  for (const char* key : kKeys) {
    // Mostly what fits, so that layers are made, and now and then the extremes.
    const bool is_extreme = *rc::gen::inRange(0, 40) == 0;
    const auto value = is_extreme ? *rc::gen::element<int64_t>(0, 3, 1000, 16777216, 67108864)
                                  : *rc::gen::element<int64_t>(1, 2, 4, 8);
    if (*rc::gen::inRange(0, 4) > 0) {
      text += std::string(", \"") + key + "\": " + std::to_string(value);
    }
  }
  const Result<ImportedModel> model =
      parse_hf_config("config.json", text + "}", {.assume_dense = true});
  if (model.ok()) RC_ASSERT(parameter_count(model->model) > 0);
}

// What a model file may not state, since no attention can be made of it, no config.json may either.
TEST(HfRefusalsTest, UnevenHeads) {
  EXPECT_THAT(refusal_of(with("\"vocab_size\"", "\"head_dim\": 15, \"vocab_size\"")),
              HasSubstr("head_dim: 15 is odd\n  hint: rotary position embedding turns pairs"));
  EXPECT_THAT(refusal_of(R"({"model_type": "deepseek_v2", "hidden_size": 64, "kv_lora_rank": 16,
      "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
      "q_lora_rank": null, "qk_nope_head_dim": 16, "qk_rope_head_dim": 7, "v_head_dim": 16,
      "n_routed_experts": null, "torch_dtype": "bfloat16"})"),
              HasSubstr("qk_rope_head_dim: 7 is odd"));
}

TEST(HfRefusalsTest, EveryFamilyHasOneNameAndIsFoundByIt) {
  const std::vector<std::string_view> types = hf_model_types();
  EXPECT_GE(types.size(), 70U);
  EXPECT_EQ(std::ranges::adjacent_find(types), types.end());
  for (const std::string_view type : types) {
    ASSERT_NE(find_hf_family(type), nullptr) << type;
    EXPECT_FALSE(find_hf_family(type)->config_class.empty()) << type;
  }
}

}  // namespace
}  // namespace tidemark
