// BERT and its kin, T5, BART, Whisper.
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
using ::testing::IsEmpty;
using testing::parameters_of;
using testing::parsed;
using testing::PublishedConfig;
using testing::refusal_of;

constexpr const char* kBertBase = R"({"model_type": "bert", "architectures": ["BertForMaskedLM"],
  "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 512,
  "num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 2, "vocab_size": 30522})";

constexpr const char* kT5Small = R"({"model_type": "t5",
  "architectures": ["T5ForConditionalGeneration"], "d_ff": 2048, "d_kv": 64, "d_model": 512,
  "num_layers": 6, "num_decoder_layers": 6, "num_heads": 8, "relative_attention_num_buckets": 32,
  "feed_forward_proj": "relu", "vocab_size": 32128, "n_positions": 512})";

constexpr const char* kWhisperBase = R"({"model_type": "whisper",
  "architectures": ["WhisperForConditionalGeneration"], "d_model": 512, "encoder_layers": 6,
  "encoder_attention_heads": 8, "encoder_ffn_dim": 2048, "decoder_layers": 6,
  "decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "num_mel_bins": 80, "vocab_size": 51865,
  "num_hidden_layers": 6, "max_source_positions": 1500, "max_target_positions": 448})";

constexpr PublishedConfig kPublished[] = {
    {"bert-base-uncased", kBertBase, 110'106'428,
     "huggingface.js, parse-safetensors-metadata.spec.ts"},
    {"bge-large-en", R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 1024,
       "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
       "vocab_size": 30522})",
     335'141'888, "Hub API, 335,142,400 with 512 position ids"},
    {"roberta-base", R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
       "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 514,
       "num_attention_heads": 12, "num_hidden_layers": 12, "type_vocab_size": 1,
       "vocab_size": 50265})",
     124'697'433, "huggingface.js, parse-safetensors-metadata.spec.ts"},
    {"distilbert-base-uncased", R"({"model_type": "distilbert",
       "architectures": ["DistilBertForMaskedLM"], "dim": 768, "hidden_dim": 3072, "n_heads": 12,
       "n_layers": 6, "max_position_embeddings": 512, "vocab_size": 30522})",
     66'985'530, "stated in public course material beside BERT's 109,514,298"},
    {"nomic-embed-text-v1.5", R"({"model_type": "nomic_bert", "architectures": ["NomicBertModel"],
       "n_embd": 768, "n_head": 12, "n_inner": 3072, "n_layer": 12, "n_positions": 8192,
       "activation_function": "swiglu", "qkv_proj_bias": false, "mlp_fc1_bias": false,
       "mlp_fc2_bias": false, "rotary_emb_fraction": 1.0, "type_vocab_size": 2,
       "vocab_size": 30528})",
     136'731'648, "Hub API safetensors.parameters"},
    {"nomic-embed-text-v2-moe", R"({"model_type": "nomic_bert",
       "architectures": ["NomicBertModel"], "n_embd": 768, "n_head": 12, "n_inner": 3072,
       "n_layer": 12, "n_positions": 2048, "activation_function": "gelu", "qkv_proj_bias": true,
       "mlp_fc1_bias": true, "mlp_fc2_bias": true, "rotary_emb_fraction": 1.0, "num_experts": 8,
       "moe_every_n_layers": 2, "moe_top_k": 2, "type_vocab_size": 1, "vocab_size": 250048})",
     475'292'928, "Hub API total, as recorded in a public licence table"},
    {"t5-small", kT5Small, 60'506'624, "KerasHub preset metadata"},
    {"bart-base", R"({"model_type": "bart", "architectures": ["BartModel"], "d_model": 768,
       "encoder_layers": 6, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072,
       "decoder_layers": 6, "decoder_attention_heads": 12, "decoder_ffn_dim": 3072,
       "max_position_embeddings": 1024, "vocab_size": 50265})",
     139'420'416, "stated in independent public repositories"},
    {"bart-large", R"({"model_type": "bart", "architectures": ["BartModel"]})", 406'291'456,
     "stated in independent public repositories"},
    {"whisper-base", kWhisperBase, 72'593'920, "stated in independent public repositories"},
    {"whisper-large-v3", R"({"model_type": "whisper",
       "architectures": ["WhisperForConditionalGeneration"], "d_model": 1280,
       "encoder_layers": 32, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120,
       "decoder_layers": 32, "decoder_attention_heads": 20, "decoder_ffn_dim": 5120,
       "num_mel_bins": 128, "vocab_size": 51866})",
     1'543'490'560, "Hub API safetensors.total"},
};

TEST(HfEncoderTest, PublishedTotals) {
  for (const PublishedConfig& row : kPublished) expect_published(row);
}

TEST(HfEncoderTest, BertByHand) {
  // Embeddings (30,522 + 512 + 2) x 768 + 2 x 768 = 23,837,184.
  // A layer: 4 (768^2 + 768) + 768 x 3,072 x 2 + 3,072 + 768 + 2 x 2 x 768 = 7,087,872.
  constexpr int64_t kEncoder = 23'837'184 + 12 * int64_t{7'087'872};
  constexpr int64_t kPooler = 768 * 768 + 768;
  const std::string bert = kBertBase;
  const auto as = [&](const char* task) {
    std::string text = bert;
    text.replace(text.find("BertForMaskedLM"), std::string_view("BertForMaskedLM").size(), task);
    return parameters_of(text);
  };
  EXPECT_EQ(as("BertModel"), kEncoder + kPooler);
  EXPECT_EQ(as("BertModel"), 109'482'240);
  // Transform 768^2 + 768, its norm 2 x 768, a bias of 30,522; two next-sentence classes.
  EXPECT_EQ(as("BertForPreTraining"),
            kEncoder + kPooler + 768 * 768 + 768 + 1536 + 30522 + 2 * 769);
  // A classifier of two labels; without the pooler where every token is classified.
  EXPECT_EQ(as("BertForSequenceClassification"), kEncoder + kPooler + 2 * 769);
  EXPECT_EQ(as("BertForTokenClassification"), kEncoder + 2 * 769);
  EXPECT_EQ(as("BertForQuestionAnswering"), kEncoder + 2 * 769);
}

// What the class BertForMaskedLM alone has is public too: 109,514,298.
TEST(HfEncoderTest, BertForMaskedLmSaysWhatItsClassWouldNotMake) {
  const ImportedModel bert = parsed(kBertBase);
  ASSERT_EQ(bert.warnings.size(), 1U);
  EXPECT_THAT(bert.warnings[0], HasSubstr("no pooler and no next-sentence head"));
  EXPECT_EQ(parameter_count(bert.model) - (768 * 768 + 768) - 2 * 769, 109'514'298);
}

TEST(HfEncoderTest, LabelsAreThoseTheFileNames) {
  constexpr const char* kThree = R"({"model_type": "roberta", "vocab_size": 10,
    "architectures": ["RobertaForTokenClassification"],
    "id2label": {"0": "A", "1": "B", "2": "C"}})";
  constexpr const char* kTwo = R"({"model_type": "roberta", "vocab_size": 10,
    "architectures": ["RobertaForTokenClassification"]})";
  EXPECT_EQ(parameters_of(kThree) - parameters_of(kTwo), 769);
}

TEST(HfEncoderTest, EncodersKeepNoState) {
  const ModelSpec bert = parsed(kBertBase).model;
  EXPECT_FALSE(bert.transformer()->is_causal);
  EXPECT_EQ(state_sizes(bert, {.n_cells = 512}).kv_cache(), Bytes{});
}

// A naive judge: the sum over a BERT's parts, term by term.
RC_GTEST_PROP(HfEncoderLaws, ABertOfAnyShapeIsTheSumOfItsParts, ()) {
  const auto heads = *rc::gen::inRange<int64_t>(1, 9);
  const int64_t e = heads * *rc::gen::inRange<int64_t>(1, 70);
  const auto layers = *rc::gen::inRange<int64_t>(1, 6);
  const auto ff = *rc::gen::inRange<int64_t>(1, 500);
  const auto vocab = *rc::gen::inRange<int64_t>(1, 999);
  const auto positions = *rc::gen::inRange<int64_t>(1, 99);
  const auto types = *rc::gen::inRange<int64_t>(0, 4);
  const std::string json = fmt::format(
      R"({{"model_type": "bert", "architectures": ["BertModel"], "hidden_size": {}, "num_attention_heads": {},
        "num_hidden_layers": {}, "intermediate_size": {}, "vocab_size": {},
        "max_position_embeddings": {}, "type_vocab_size": {}}})",
      e, heads, layers, ff, vocab, positions, types);
  int64_t sum = (vocab + positions + types) * e + 2 * e;
  for (int64_t i = 0; i < layers; ++i) {
    for (int projection = 0; projection < 4; ++projection) sum += e * e + e;
    sum += e * ff + ff + ff * e + e + 2 * e + 2 * e;
  }
  RC_ASSERT(parameters_of(json) == sum + e * e + e);
}

TEST(HfEncoderTest, T5SharesTheFirstLayersBuckets) {
  const TransformerSpec spec = *parsed(kT5Small).model.transformer();
  ASSERT_EQ(spec.stacks.size(), 1U);
  EXPECT_EQ(spec.stacks[0].role, StackRole::kEncoder);
  EXPECT_EQ(spec.layers[0].attention()->n_bucket, 32);
  EXPECT_EQ(spec.layers[1].attention()->n_bucket, 0);
  EXPECT_EQ(spec.stacks[0].layers[0].attention()->n_bucket, 32);
  EXPECT_EQ(spec.stacks[0].layers[5].attention()->n_bucket, 0);
  EXPECT_EQ(spec.layers[0].cross.attention.n_bucket, 0);
  EXPECT_TRUE(spec.tied_embeddings);
}

TEST(HfEncoderTest, AnEncoderModelOfT5IsItsMainLayers) {
  std::string text = kT5Small;
  text.replace(text.find("T5ForConditionalGeneration"), 26, "T5EncoderModel");
  const ModelSpec model = parsed(text).model;
  EXPECT_FALSE(model.transformer()->is_causal);
  EXPECT_TRUE(model.transformer()->stacks.empty());
  // 32,128 x 512 + 6 (4 x 512^2 + 2 x 512 x 2,048 + 2 x 512) + 32 x 8 + 512 = 35,330,816.
  EXPECT_EQ(parameter_count(model), 35'330'816);
}

TEST(HfEncoderTest, UmT5HasBucketsInEveryLayer) {
  constexpr const char* kJson = R"({"model_type": "umt5", "d_model": 8, "num_layers": 2,
    "num_heads": 2, "d_kv": 4, "d_ff": 16, "vocab_size": 10})";
  // Untied: 2 x 10 x 8. Encoder layer: 4 x 64 + 3 x 128 + 2 x 8 + 32 x 2 = 720; decoder layer:
  // 8 x 64 + 3 x 128 + 3 x 8 + 32 x 2 = 984; two norms of 8.
  EXPECT_EQ(parameters_of(kJson), 160 + 2 * 720 + 2 * 984 + 16);
}

TEST(HfEncoderTest, BartStoresItsLogitBiasAsABuffer) {
  const ModelSpec bart =
      parsed(R"({"model_type": "bart", "architectures": ["BartForConditionalGeneration"]})").model;
  const WeightsInventory weights = weights_inventory(bart, DType::kF16);
  EXPECT_EQ(weights.parameters, 406'291'456);
  EXPECT_EQ(weights.elements - weights.parameters, 50265);
}

// 6 layers x 1,500 frames x (K and V of 512) x 2 B; 6 layers x 448 tokens x the same row.
TEST(HfEncoderTest, WhispersCachesByHand) {
  const ModelSpec whisper = parsed(kWhisperBase).model;
  const StackSpec& encoder = whisper.transformer()->stacks.at(0);
  EXPECT_EQ(encoder.n_tokens, Tokens(1500));
  const StateSizes sizes =
      state_sizes(whisper, {.n_cells = 448, .n_source = encoder.n_tokens.count()});
  EXPECT_EQ(sizes.cross, Bytes::of(6 * 1500 * 2 * 512 * 2));
  EXPECT_EQ(sizes.cross, Bytes::of(18'432'000));
  EXPECT_EQ(sizes.kv_full, Bytes::of(6 * 448 * 2 * 512 * 2));
  EXPECT_EQ(sizes.recurrent, Bytes{});
}

RC_GTEST_PROP(HfEncoderLaws, WrongValuesAreReadOrRefused, ()) {
  testing::judge_wrong_values(kPublished[*rc::gen::inRange<size_t>(0, std::size(kPublished))].json);
}

TEST(HfEncoderTest, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal_of(R"({"model_type": "bert", "hidden_size": 10, "num_attention_heads": 3})"),
              HasSubstr("num_attention_heads: 3 does not divide the width 10"));
  EXPECT_THAT(refusal_of(R"({"model_type": "bert", "position_embedding_type": "relative_key"})"),
              HasSubstr("only absolute positions are known"));
  EXPECT_THAT(refusal_of(R"({"model_type": "bert", "hidden_size": -1, "vocab_size": "x"})"),
              AllOf(HasSubstr("hidden_size"), HasSubstr("vocab_size")));
  EXPECT_THAT(refusal_of(R"({"model_type": "nomic_bert", "n_embd": 8, "n_head": 2, "n_inner": 8,
                             "n_layer": 1, "vocab_size": 9, "prenorm": true})"),
              HasSubstr("prenorm: must be false"));
}

// Whole files, where they are at hand.
TEST(HfEncoderTest, WholeFilesOfPublishedModels) {
  TIDEMARK_NEED_TEST_DATA(folder, "hf_configs");
  constexpr std::pair<const char*, int64_t> kFiles[] = {{"bert-base-uncased", 110'106'428},
                                                        {"bge-large-en", 335'141'888},
                                                        {"t5-small", 60'506'624},
                                                        {"whisper-base", 72'593'920},
                                                        {"whisper-large-v3", 1'543'490'560}};
  for (const auto& [name, parameters] : kFiles) {
    const Result<ImportedModel> model = read_hf_config(folder / name, {});
    ASSERT_TRUE(model.ok()) << to_string(model.diagnostics());
    EXPECT_EQ(parameter_count(model->model), parameters) << name;
  }
}

}  // namespace
}  // namespace tidemark
