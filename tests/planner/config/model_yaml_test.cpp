#include "planner/config/model_yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "planner/config/layer_kinds.h"
#include "planner/config/load.h"
#include "planner/model/state.h"
#include "planner/model/weights.h"
#include "random_models.h"
#include "support/golden.h"
#include "support/sample_models.h"

namespace tidemark {
namespace {

using testing::matches_golden;

std::string read_back(const ModelSpec& model) {
  const std::string text = model_to_yaml(model);
  const Result<ModelSpec> read = parse_model("x.yaml", text);
  if (!read) return text + to_string(read.diagnostics());
  return *read == model ? "" : text + "reads as\n" + model_to_yaml(*read);
}

TEST(ModelYamlTest, EveryModelReadsBack) {
  EXPECT_TRUE(rc::check([] {
    const ModelSpec model = testing::random_model();
    RC_ASSERT(read_back(model) == "");
  }));
}

// Which model it is can be told from the part that sizes depend on.
TEST(ModelYamlTest, ModelsThatDifferHaveDifferentDims) {
  EXPECT_TRUE(rc::check([] {
    ModelSpec one = testing::random_model();
    ModelSpec two = testing::random_model();
    if (*rc::gen::arbitrary<bool>()) two = one;
    for (ModelSpec* model : {&one, &two}) model->name = model->source = "x";
    RC_ASSERT((model_dims_to_yaml(one) == model_dims_to_yaml(two)) == (one == two));
  }));
}

// One number or one line of a good file changed.
std::string damaged(std::string text) {
  const std::string digits = "0123456789";
  const size_t at = *rc::gen::inRange<size_t>(0, text.size());
  const size_t begin = text.find_first_of(digits, at);
  if (begin == std::string::npos || *rc::gen::inRange(0, 4) == 0) {
    const size_t line = text.rfind('\n', at) + 1;  // npos + 1 = 0: the first line
    return text.erase(line, text.find('\n', line) - line + 1);
  }
  const size_t end = std::min(text.find_first_not_of(digits, begin), text.size());
  const auto number = *rc::gen::element<std::string>("0", "1", "2", "3", "7", "1000", "4096",
                                                     "16777216", "16777217", "-1", "x");
  return text.replace(begin, end - begin, number);
}

// No damage crashes the reader, and what it accepts can be weighed and written again.
TEST(ModelYamlTest, WhatIsAcceptedCanBeWeighed) {
  int accepted = 0;
  EXPECT_TRUE(rc::check([&] {
    const std::string text = damaged(damaged(model_to_yaml(testing::random_model())));
    const Result<ModelSpec> model = parse_model("x.yaml", text);
    if (!model) return;
    ++accepted;
    RC_ASSERT(weights_inventory(*model, DType::kF32).bytes >= Bytes{});
    RC_ASSERT(state_sizes(*model, {.n_cells = 64}).kv_cache() >= Bytes{});
    RC_ASSERT(read_back(*model) == "");
  }));
  EXPECT_GT(accepted, 0);
}

ModelSpec minicpm() {
  ModelSpec model = testing::transformer(testing::kMiniCpm2b, "minicpm-2b");
  model.architecture = "minicpm";
  model.source = "openbmb/MiniCPM-2B-sft-bf16, config.json";
  model.dtype = DType::kBf16;
  return model;
}

// 26 layers, every sixth without a window.
ModelSpec gemma_3_1b() {
  LayerSpec full{
      .mixer =
          AttentionSpec{.n_head = 4, .n_head_kv = 1, .head_dim = 256, .qk_norm = QkNormKind::kHead},
      .feed_forward = {.n_ff = 6912},
      .norms = {.after_mixer = NormKind::kScale, .after_ffn = NormKind::kScale}};
  LayerSpec sliding = full;
  std::get<AttentionSpec>(sliding.mixer).window = 512;
  TransformerSpec spec{
      .n_embd = 1152, .n_vocab = 262144, .n_ctx_train = Tokens(32768), .tied_embeddings = true};
  for (int i = 0; i < 26; ++i) spec.layers.push_back(i % 6 == 5 ? full : sliding);
  return {.name = "gemma-3-1b",
          .architecture = "gemma3",
          .source = "google/gemma-3-1b-pt, config.json",
          .dtype = DType::kBf16,
          .dims = spec};
}

// The first layer is dense, the other 26 are mixtures.
ModelSpec deepseek_v2_lite() {
  LayerSpec dense{
      .mixer = MlaSpec{.n_head = 16, .kv_lora = 512, .qk_nope = 128, .qk_rope = 64, .v_head = 128},
      .feed_forward = {.n_ff = 10944}};
  LayerSpec moe{
      .mixer = dense.mixer,
      .moe = {.n_expert = 64, .n_expert_used = 6, .n_ff_exp = 1408, .n_ff_shared = 2 * 1408}};
  TransformerSpec spec{.n_embd = 2048, .n_vocab = 102400, .n_ctx_train = Tokens(163840)};
  spec.layers.assign(27, moe);
  spec.layers.front() = dense;
  return {.name = "deepseek-v2-lite",
          .architecture = "deepseek2",
          .source = "deepseek-ai/DeepSeek-V2-Lite, config.json",
          .dtype = DType::kBf16,
          .dims = spec};
}

// Attention in layers 4, 12, ...; experts in every odd layer.
ModelSpec jamba() {
  const MambaSpec mamba{
      .d_conv = 4, .d_inner = 8192, .d_state = 16, .dt_rank = 256, .inner_norms = true};
  const AttentionSpec attention{.n_head = 32, .n_head_kv = 8, .head_dim = 128};
  TransformerSpec spec{.n_embd = 4096, .n_vocab = 65536, .n_ctx_train = Tokens(262144)};
  for (int i = 0; i < 32; ++i) {
    LayerSpec& layer = spec.layers.emplace_back();
    if (i % 8 == 4) {
      layer.mixer = attention;
    } else {
      layer.mixer = mamba;
    }
    if (i % 2 == 1) {
      layer.moe = {.n_expert = 16, .n_expert_used = 2, .n_ff_exp = 14336};
    } else {
      layer.feed_forward = {.n_ff = 14336};
    }
  }
  return {.name = "jamba-v0.1",
          .architecture = "jamba",
          .source = "ai21labs/Jamba-v0.1, config.json",
          .dtype = DType::kBf16,
          .stored_as = parse_quantization("Q4_K_M").value(),
          .dims = spec};
}

// An encoder of its own with a convolution before it, and cross-attention.
ModelSpec whisper_tiny() {
  const AttentionSpec heads{
      .n_head = 6, .n_head_kv = 6, .head_dim = 64, .bias = {.q = true, .v = true, .out = true}};
  const LayerSpec encoder{
      .mixer = heads,
      .feed_forward = {.n_ff = 1536, .gated = false, .bias = true},
      .norms = {.before_mixer = NormKind::kScaleAndShift, .before_ffn = NormKind::kScaleAndShift}};
  LayerSpec decoder = encoder;
  decoder.cross = {.attention = heads, .norm = NormKind::kScaleAndShift};
  const StackSpec stack{.role = StackRole::kEncoder,
                        .n_embd = 384,
                        .layers = std::vector<LayerSpec>(4, encoder),
                        .final_norm = NormKind::kScaleAndShift,
                        .extras = {{.name = "conv1.weight", .columns = 3 * 80, .rows = 384},
                                   {.name = "conv1.bias", .columns = 384},
                                   {.name = "conv2.weight", .columns = 3 * 384, .rows = 384},
                                   {.name = "conv2.bias", .columns = 384},
                                   {.name = "position_embd", .columns = 384, .rows = 1500}},
                        .n_tokens = Tokens(1500)};
  return {.name = "whisper-tiny",
          .architecture = "whisper",
          .source = "openai/whisper-tiny, config.json",
          .dtype = DType::kF32,
          .dims = TransformerSpec{.n_embd = 384,
                                  .n_vocab = 51865,
                                  .n_ctx_train = Tokens(448),
                                  .tied_embeddings = true,
                                  .n_position = 448,
                                  .final_norm = NormKind::kScaleAndShift,
                                  .layers = std::vector<LayerSpec>(4, decoder),
                                  .stacks = {stack}}};
}

// Parameters as published with the checkpoints: the comment is computed, the widths are theirs.
TEST(ModelYamlTest, AUniformModelNeedsNoKinds) {
  EXPECT_TRUE(matches_golden("model_minicpm_2b.yaml", model_to_yaml(minicpm())));
  EXPECT_NE(model_to_yaml(minicpm()).find("# 2,724,880,896 parameters\n"), std::string::npos);
}

TEST(ModelYamlTest, LayersThatAlternate) {
  EXPECT_TRUE(matches_golden("model_gemma_3_1b.yaml", model_to_yaml(gemma_3_1b())));
  EXPECT_NE(model_to_yaml(gemma_3_1b()).find("# 999,885,952 parameters\n"), std::string::npos);
}

TEST(ModelYamlTest, AFirstLayerOfItsOwn) {
  EXPECT_TRUE(matches_golden("model_deepseek_v2_lite.yaml", model_to_yaml(deepseek_v2_lite())));
  EXPECT_NE(model_to_yaml(deepseek_v2_lite()).find("# 15,706,484,224 parameters,"),
            std::string::npos);
}

TEST(ModelYamlTest, TwoMixersAndTwoFeedForwards) {
  EXPECT_TRUE(matches_golden("model_jamba.yaml", model_to_yaml(jamba())));
  EXPECT_NE(model_to_yaml(jamba()).find("# 51,570,323,328 parameters,"), std::string::npos);
}

TEST(ModelYamlTest, AnEncoderAndItsExtras) {
  EXPECT_TRUE(matches_golden("model_whisper_tiny.yaml", model_to_yaml(whisper_tiny())));
  EXPECT_NE(model_to_yaml(whisper_tiny()).find("# 37,760,640 parameters\n"), std::string::npos);
}

TEST(ModelYamlTest, TheGoldenFilesReadBack) {
  for (const ModelSpec& model :
       {minicpm(), gemma_3_1b(), deepseek_v2_lite(), jamba(), whisper_tiny()}) {
    EXPECT_EQ(read_back(model), "");
  }
}

TEST(ModelYamlTest, SizesHaveTheUnitThatLeavesTheFewestDigits) {
  using namespace literals;
  const ModelSpec model{
      .name = "n",
      .architecture = "layer-list",
      .source = "s",
      .dims =
          LayerListSpec{.layers = {{"a", 3_MiB, 1500_B}, {"b", 2_GB, 0_B}, {"c", 1_KiB, 3000_MB}}}};
  EXPECT_EQ(model_to_yaml(model),
            "schema: model/1\nname: n\nsource: s\nlayers:\n"
            "  - {name: a, weights: 3 MiB, activation: 1500 B}\n"
            "  - {name: b, weights: 2 GB, activation: 0 B}\n"
            "  - {name: c, weights: 1 KiB, activation: 3 GB}\n");
}

// Layers of feed-forward width a = 1, b = 2.
LayerKinds kinds_of(std::string_view widths) {
  std::vector<LayerSpec> layers;
  for (const char width : widths) {
    layers.push_back({.mixer = AttentionSpec{.n_head = 1, .n_head_kv = 1, .head_dim = 2},
                      .feed_forward = {.n_ff = width - 'a' + 1}});
  }
  return group_layers(layers);
}

// A file may be called anything, and a model file may not say everything.
TEST(ModelYamlTest, ControlCharactersOfANameBecomeBlanks) {
  ModelSpec model = minicpm();
  model.name = "a\x1b[31m \"b\"\n";
  const Result<ModelSpec> read = parse_model("x.yaml", model_to_yaml(model));
  ASSERT_TRUE(read.ok()) << to_string(read.diagnostics());
  EXPECT_EQ(read->name, "a [31m \"b\" ");
}

TEST(ModelYamlTest, TheShortestPatternIsRepeated) {
  EXPECT_EQ(order_text(kinds_of("aaaa")), "[layer]");
  EXPECT_EQ(order_text(kinds_of("abab")), "[layer, layer-2]");
  EXPECT_EQ(order_text(kinds_of("aabaaba")), "[2 layer, layer-2]");
  EXPECT_EQ(order_text(kinds_of("abbbbb")), "[layer, 5 layer-2]");
  EXPECT_EQ(order_text(kinds_of("abac")), "[layer, layer-2, layer, layer-3]");
}

TEST(ModelYamlTest, KindsAreNamedByWhatSetsThemApart) {
  using Names = std::vector<std::string>;
  LayerSpec a{.mixer = AttentionSpec{.n_head = 1, .n_head_kv = 1, .head_dim = 2},
              .feed_forward = {.n_ff = 4}};
  LayerSpec sliding = a;
  std::get<AttentionSpec>(sliding.mixer).window = 8;
  LayerSpec shared = sliding;
  std::get<AttentionSpec>(shared.mixer).shares_kv_with = 1;
  LayerSpec moe = a;
  moe.feed_forward = {};
  moe.moe = {.n_expert = 2, .n_expert_used = 1, .n_ff_exp = 4};
  const LayerSpec feed_forward{.mixer = NoMixer{}, .feed_forward = {.n_ff = 4}};
  const LayerSpec mamba{.mixer = MambaSpec{}};
  EXPECT_EQ(group_layers({a, sliding, shared}).names, (Names{"full", "sliding", "sliding-shared"}));
  EXPECT_EQ(group_layers({a, moe}).names, (Names{"dense", "moe"}));
  EXPECT_EQ(group_layers({mamba, feed_forward, moe}).names,
            (Names{"mamba", "dense", "attention-moe"}));
}

}  // namespace
}  // namespace tidemark
